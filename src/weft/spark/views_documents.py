"""A table of documents as a source of views: its nodes, what is worth storing of them, and a job that stores it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from pyspark.sql import DataFrame
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
from pyspark.sql.types import StringType, StructField, StructType

from weft.delivery.output import REJECTED, as_mode
from weft.documents.document import Limits
from weft.durable import in_turn
from weft.errors import ConfigurationError
from weft.spark.paths import local_path
from weft.spark.transform import Transform, check_documents, is_place, quoted_column, rejected_field
from weft.spark.views_folder import SparkManifest, finish_version, next_version
from weft.spark.views_sums import in_order, join_sums, sums_from_json
from weft.spark.views_worker import NodeReader, PartsWorker, SelectWorker, nullable, parts_schema
from weft.spark.worker_documents import Layout
from weft.views.nodes import SCHEMA
from weft.views.planning import Recommendation, SelectionMethod, recommend_parts
from weft.views.selection.candidates import Estimates
from weft.views.selection.costs import LOCAL_BYTE_SECONDS, costs_of
from weft.views.sizes import by_ratio
from weft.views.sources.rates import Rate, Rates
from weft.views.workload import Workload, make_query, read_workload, workload_of

#: A workload, the file of one, or texts of queries.
WantedQueries = Workload | Path | Sequence[str]
OF_A_FILE = 5_000  # bytes that a file of Spark's takes whatever is in it: the schema once more, and statistics
_SOURCE = "documents"  # the name of a table that nobody named
_SOON = 1e-3  # seconds: no pass takes less


def select_nodes(
    queries: str | WantedQueries,
    column: str = "value",
    *,
    id: str = "document",
    source: str = _SOURCE,
    namespaces: Mapping[str, str] | None = None,
    mode: str = "PERMISSIVE",
    columnNameOfCorruptRecord: str = REJECTED,
    limits: Limits | None = None,
) -> Transform:
    """Give the nodes that queries select: `frame.transform(select_nodes("//order[total > 1000]"))`.

    `column` has the documents as string or binary, `id` their names, which must differ; null is no document. Each node
    of each query's answer is a row: its reference (`source`, which is the name given here, `document`, `version`,
    `offset`), `length`, `path`, `value`, `number`, `fragment`, and as `query` the text of the query, or its name in a
    workload. What cannot be read is told, left out or the end, by `mode`, as for `deliver`.
    """
    workload, names = _queries([queries] if isinstance(queries, str) else queries, namespaces)
    name = columnNameOfCorruptRecord if as_mode(mode) == "PERMISSIVE" else None

    def transform(frame: DataFrame) -> DataFrame:
        fields = [*from_arrow_schema(nullable(SCHEMA)).fields, StructField("query", StringType())]
        if name is not None:
            fields.append(rejected_field(name, frame.schema[column].dataType))
        schema = StructType(fields)
        documents = _documents(frame, column, id)
        reader = _reader(documents, workload, source, mode, limits)
        return documents.mapInArrow(SelectWorker(reader, names, to_arrow_schema(schema), name), schema)

    return transform


def recommend_views(
    documents: DataFrame,
    workload: WantedQueries,
    budget: float,
    *,
    rates: Rates | None = None,
    method: SelectionMethod = SelectionMethod.OURS,
    column: str = "value",
    id: str = "document",
    source: str = _SOURCE,
    namespaces: Mapping[str, str] | None = None,
    mode: str = "PERMISSIVE",
    limits: Limits | None = None,
    clock: Callable[[], float] = time.perf_counter,
) -> Recommendation:
    """Tell which parts of a workload's answers are worth storing in so many bytes, in one pass over the documents.

    Workers count and measure, and only sums come to the driver. `rates` tell what it costs to ask the documents;
    without them a query that views do not answer takes as long as this pass has taken, however little it selects.
    """
    known, _ = _queries(workload, namespaces)
    frame = _documents(documents, column, id)
    names = tuple(query.name for query in known.queries)
    worker = PartsWorker(_reader(frame, known, source, mode, limits), names, frozenset(), is_measured=True)
    start = clock()
    told = frame.mapInArrow(worker, from_arrow_schema(parts_schema())).select("value").collect()
    taken = Rates(latency=Rate(max(clock() - start, _SOON), 0.0, 1))
    sums = in_order(join_sums(sums_from_json(row.value) for row in told))
    asked = rates or taken
    costs = costs_of(asked.processing, asked.transmission, asked.latency)
    estimates = Estimates({source: costs}, LOCAL_BYTE_SECONDS)
    sizes = by_ratio(sums.parts.sizes, sums.ratio, OF_A_FILE)
    return recommend_parts(known, sums.parts, sizes, estimates, budget, method)


def materialize_views(
    documents: DataFrame,
    what: Recommendation | WantedQueries,
    folder: str | Path,
    *,
    column: str = "value",
    id: str = "document",
    source: str = _SOURCE,
    namespaces: Mapping[str, str] | None = None,
    mode: str = "PERMISSIVE",
    limits: Limits | None = None,
) -> SparkManifest:
    """Store what was recommended of a workload's answers, or all of the answers of queries, as Parquet in a folder.

    One job reads the documents once, and writes a folder for each part. Only when all of it is there it counts, in
    place of the version before: see `views`. The driver and the workers must see the folder under the same path.
    """
    known = what.workload if isinstance(what, Recommendation) else _queries(what, namespaces)[0]
    wanted = frozenset(what.choice.keys) if isinstance(what, Recommendation) else None
    if isinstance(what, Recommendation) and what.parts.pieces:
        source = what.parts.pieces[0].source
    frame = _documents(documents, column, id)
    names = tuple(query.name for query in known.queries)
    worker = PartsWorker(_reader(frame, known, source, mode, limits), names, wanted)
    place = local_path(str(folder))
    with in_turn(place):
        number, version = next_version(place)
        rows = frame.mapInArrow(worker, from_arrow_schema(parts_schema()))
        gathered = rows.hint("rebalance", quoted_column("part"))  # a small part is one file, a large one several
        gathered.write.partitionBy("part").option("compression", "zstd").parquet(f"file:{version}")
        return finish_version(place, number, source, known, what if isinstance(what, Recommendation) else None)


def _queries(queries: WantedQueries, namespaces: Mapping[str, str] | None) -> tuple[Workload, tuple[str, ...]]:
    """The workload, and what each query is called in answers: its name there, or else its text."""
    if isinstance(queries, str):
        queries = [queries]
    if isinstance(queries, Path):
        queries = read_workload(queries, namespaces)
    if isinstance(queries, Workload):
        return queries, tuple(query.name for query in queries.queries)
    workload = workload_of(make_query(text, namespaces=namespaces) for text in queries)
    return workload, tuple(query.text for query in workload.queries)


def _documents(frame: DataFrame, column: str, id: str) -> DataFrame:
    """What workers get of a frame: ids and documents, and why a document is not there, if the frame tells."""
    check_documents(frame, column)
    if id not in frame.columns:
        raise ConfigurationError(f"id: expected one of {', '.join(frame.columns)}, found {id!r}")
    columns = [quoted_column(id).cast("string").alias("document"), quoted_column(column).alias("value")]
    return frame.select(*columns, *(["error"] if is_place(frame, "error") else []))


def _reader(documents: DataFrame, workload: Workload, source: str, mode: str, limits: Limits | None) -> NodeReader:
    layout = Layout("value", (), "document", None, "error" if "error" in documents.columns else None)
    selections = tuple(query.selection for query in workload.queries)
    return NodeReader(source, selections, layout, limits or Limits(), as_mode(mode) == "FAILFAST")
