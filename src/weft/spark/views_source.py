"""A table of documents on Spark as a source of the query server: selections run as jobs, and only answers come here."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from time import perf_counter
from typing import TypeVar

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import col, md5

from weft.documents.document import Document, Limits
from weft.errors import DocumentError
from weft.spark.failures import SPARK_ERRORS, first_line
from weft.spark.session import start_session
from weft.spark.transform import check_documents, messages, quoted_column, rejected
from weft.spark.views_documents import select_nodes
from weft.views.nodes import SCHEMA
from weft.views.sources.opening import register_opener
from weft.views.sources.rates import Cost, Rates
from weft.views.sources.source import Answer, Measure, Question, Source, SourceError, size_of
from weft.views.workload import Workload, WorkloadQuery

SCHEME = "spark"
_LOOKED_AT = 1_000  # documents whose root is looked at to name a table
_AT_ONCE = 1_000  # documents that are asked for by id
_Collected = TypeVar("_Collected")


class TableSource:
    """The documents of a DataFrame: `server.add_source(TableSource(frame, "orders"))`.

    `column` has the documents as string or binary, `id` their names, which must differ; null is no document. Only
    their ids and hashes are on the driver, and what is selected. At `location` another process finds the table: a
    Parquet folder, or a name in the catalog; without one it is known to this process alone.
    """

    def __init__(
        self,
        frame: DataFrame,
        name: str | None = None,
        *,
        column: str = "value",
        id: str = "document",
        location: str | None = None,
        limits: Limits | None = None,
    ) -> None:
        check_documents(frame, column)
        there = quoted_column(column).isNotNull()
        wanted = [quoted_column(id).cast("string").alias("document"), quoted_column(column).alias("value")]
        self._frame = frame.where(there).select(*wanted)
        self._name, self._is_named, self._limits = name, name is not None, limits or Limits()
        self.location = f"{SCHEME}:{location}" if location is not None else f"{SCHEME}:{frame.semanticHash()}"

    @property
    def name(self) -> str:
        """The root element, which names the source."""
        if self._name is None:
            self._name = self._find_name()
        return self._name

    @property
    def root(self) -> str | None:
        """The root element, unless another name was given."""
        return None if self._is_named else self.name

    def tokens(self) -> Mapping[str, str]:
        """The documents by id, in this order, with hashes of their content."""
        hashed = self._frame.select("document", md5(col("value").cast("binary")).alias("token"))
        rows = self._ran(hashed.toArrow).sort_by("document")
        ids: list[str] = rows["document"].to_pylist()
        found = dict(zip(ids, rows["token"].to_pylist(), strict=True))
        if len(found) < len(ids) or None in found:
            raise self._error("expected an id for each document, found null, or one for several")
        return found

    def fetch(self, documents: Sequence[str] | None = None) -> list[Document]:
        """The documents, all or some, by id."""
        if documents is None:
            return self._fetched(self._frame)
        found: list[Document] = []
        for first in range(0, len(documents), _AT_ONCE):
            found += self._fetched(self._frame.where(col("document").isin(*documents[first : first + _AT_ONCE])))
        return found

    def answer(self, questions: Sequence[Question]) -> Answer:
        """The nodes that questions ask for: one job for all of them."""
        tokens = self.tokens()
        start = perf_counter()
        names = [str(at) for at in range(len(questions))]
        queries = (
            WorkloadQuery(each.text, each.selection, 1.0, name) for each, name in zip(questions, names, strict=True)
        )
        selected = self._frame.transform(
            select_nodes(Workload(tuple(queries)), source=self.name, limits=self._limits)
        ).persist()
        try:
            nodes = self._ran(messages(selected).toArrow)
            bad = self._ran(rejected(selected).select("document", "error", "line", "column").collect)
        finally:
            selected.unpersist()
        nodes = nodes.sort_by([("document", "ascending"), ("offset", "ascending")])
        rows = tuple(_rows(nodes.filter(pc.equal(nodes["query"], name))) for name in names)
        errors = tuple(DocumentError(each.document, each.line or 1, each.column or 1, 0, each.error) for each in bad)
        return Answer(rows, errors, Cost(sum(map(size_of, rows)), perf_counter() - start, 0.0), tokens)

    def measure(self, questions: Sequence[Question]) -> tuple[Measure, ...]:
        """How large the answers are."""
        return self.answer(questions).measures()

    def hints(self) -> Rates | None:
        """Nothing: what a job takes is measured."""
        return None

    def _fetched(self, frame: DataFrame) -> list[Document]:
        rows = self._ran(frame.toArrow).sort_by("document")
        pairs = zip(rows["document"].to_pylist(), rows["value"].to_pylist(), strict=True)
        return [Document(data.encode() if isinstance(data, str) else data, id=id) for id, data in pairs]

    def _find_name(self) -> str:
        asked = select_nodes("/*", source="table", mode="DROPMALFORMED", limits=self._limits)
        paths = self._frame.limit(_LOOKED_AT).transform(asked).select(col("path")[0].alias("root")).distinct()
        roots = sorted(row.root for row in self._ran(paths.limit(5).collect))
        if len(roots) != 1:
            found = ", ".join(roots) if roots else "no documents"
            raise self._error(f"expected documents with one root element, which names the source, found {found}")
        return str(roots[0])

    def _ran(self, job: Callable[[], _Collected]) -> _Collected:
        try:
            return job()
        except SPARK_ERRORS as error:
            raise self._error(first_line(error)) from None

    def _error(self, reason: str) -> SourceError:
        return SourceError(self._name or self.location, reason)


def _rows(nodes: pa.Table) -> pa.Table:
    return nodes.select(SCHEMA.names).cast(SCHEMA)


def open_table(location: str, name: str | None) -> Source:
    """The source at `spark:PLACE`: a Parquet folder with columns `document` and `value`, or a table of the catalog."""
    place = location.removeprefix(f"{SCHEME}:")
    try:
        spark = SparkSession.getActiveSession() or start_session()
        frame = spark.read.parquet(place) if Path(place).exists() else spark.table(place)
        return TableSource(frame, name, location=place)
    except SPARK_ERRORS as error:
        raise SourceError(location, first_line(error)) from None


register_opener(SCHEME, open_table)
