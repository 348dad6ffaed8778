"""Views of a table of documents on Spark: nodes, recommendations and answers are those of the embedded product."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import col, encode

from weft import ConfigurationError, QueryServer
from weft.documents.document import Document
from weft.spark import (
    SparkViews,
    UnansweredError,
    materialize_views,
    messages,
    recommend_views,
    rejected,
    select_nodes,
    views,
)
from weft.spark.views_documents import OF_A_FILE
from weft.views.nodes import select
from weft.views.notation import parse_query
from weft.views.planning import SelectionMethod, recommend_parts
from weft.views.selection.candidates import Estimates
from weft.views.selection.costs import LOCAL_BYTE_SECONDS, costs_of
from weft.views.selection.minimal import find_parts
from weft.views.sizes import by_ratio
from weft.views.sources.rates import Rate, Rates
from weft.views.workload import Workload, read_lines

_BROKEN = "broken"
WORKLOAD = read_lines(
    [
        "items: 5 //item",
        "cheap: 4 //item[price < 20]",
        "names: 3 //item/name",
        "notes: 2 /shop/note | //name/@lang",
        "deep: 1 //n:part//n:part",
        "none: 1 /shop/nothing",
    ],
    namespaces={"n": "urn:n"},
)
RATES = Rates(Rate(1e5), Rate(1e6), Rate(0.5))


def text_of(number: int) -> str:
    items = "".join(
        f"<item id='{at}'><name lang='d{at % 2}'>é{number}</name><price>{(number * 7 + at * 5) % 40}</price>"
        f"<n:part><n:part>{at}<n:part/></n:part></n:part></item>"
        for at in range(number % 4)
    )
    return f"<shop xmlns:n='urn:n'>{items}<note>{number}</note></shop>"


TEXTS = {f"d{number:02}": text_of(number) for number in range(25)}


def frame_of(spark: SparkSession, texts: dict[str, str | None], column: str = "value") -> DataFrame:
    return spark.createDataFrame(list(texts.items()), f"document string, {column} string").repartition(3)


def embedded(
    query: str, namespaces: dict[str, str] | None = None, source: str = "documents"
) -> list[dict[str, object]]:
    documents = [Document(text, id=id) for id, text in TEXTS.items()]
    return as_set(select(source, documents, [parse_query(query, namespaces)]).rows[0])


def as_set(rows: pa.Table) -> list[dict[str, object]]:
    found: list[dict[str, object]] = rows.sort_by([("document", "ascending"), ("offset", "ascending")]).to_pylist()
    return found


@pytest.fixture(scope="module")
def frame(spark: SparkSession) -> DataFrame:
    return frame_of(spark, {**TEXTS}).cache()


@pytest.fixture(scope="module")
def folder(frame: DataFrame, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("views") / "of {one} shop"  # what Spark could take for a pattern
    materialize_views(frame, WORKLOAD, place)
    return place


@pytest.fixture(scope="module")
def stored(spark: SparkSession, folder: Path) -> SparkViews:
    return views(spark, folder)


def test_nodes_are_those_of_the_embedded_product(spark: SparkSession) -> None:
    frame = frame_of(spark, {**TEXTS, "gone": None, _BROKEN: "<shop><item>"}, "xml").withColumnRenamed(
        "document", "key"
    )
    frame = frame.withColumn("xml", encode("xml", "UTF-8"))
    queries = ["//item[price < 20]", "/shop/note/text()"]

    out = frame.transform(select_nodes(queries, "xml", id="key", source="shops"))

    nodes = messages(out).toArrow()
    for query in queries:
        found = nodes.filter(pa.compute.equal(nodes["query"], query)).drop_columns(["query"])
        assert as_set(found) == embedded(query, source="shops")
    (bad,) = rejected(out).collect()
    assert bad.document == _BROKEN
    assert "no element found" in bad.error


def test_a_document_that_cannot_be_read_may_end_the_job(spark: SparkSession) -> None:
    frame = frame_of(spark, {_BROKEN: "<shop>"})

    with pytest.raises(Exception, match=_BROKEN):
        frame.transform(select_nodes("//item", mode="FAILFAST")).collect()


def embedded_recommendation(workload: Workload, ratio: float, budget: float) -> tuple[object, ...]:
    documents = [Document(text, id=id) for id, text in TEXTS.items()]
    answers = select("documents", documents, [query.selection for query in workload.queries]).rows
    parts = find_parts(workload, {"documents": answers})
    estimates = Estimates(
        {"documents": costs_of(RATES.processing, RATES.transmission, RATES.latency)}, LOCAL_BYTE_SECONDS
    )
    found = recommend_parts(
        workload, parts, by_ratio(parts.sizes, ratio, OF_A_FILE), estimates, budget, SelectionMethod.OURS
    )
    return frozenset(parts.pieces), parts.sizes, frozenset(found.choice.keys), found.choice.size, found.time_before


def test_a_recommendation_is_the_embedded_one(frame: DataFrame) -> None:
    found = recommend_views(frame, WORKLOAD, 1e9, rates=RATES)
    sizes = {each.key: each.size for each in found.problem.candidates}
    largest = max(found.parts.sizes, key=found.parts.sizes.__getitem__)
    ratio = (sizes[largest] - OF_A_FILE) / found.parts.sizes[largest]

    for budget in (sum(sizes.values()), 12_000):
        _, *choice = told = embedded_recommendation(WORKLOAD, ratio, budget)
        within = found.within(budget)
        assert (frozenset(within.parts.pieces), within.parts.sizes) == told[:2]
        assert frozenset(within.choice.keys) == choice[1]
        assert within.time_before == pytest.approx(choice[3])


def test_a_recommendation_has_the_parts_and_the_times_of_a_query_server(frame: DataFrame, tmp_path: Path) -> None:
    for id, text in TEXTS.items():
        (tmp_path / f"{id}.xml").write_text(text)
    server = QueryServer(tmp_path / "store")
    server.add_source(tmp_path, rates=RATES)
    expected = server.recommend(WORKLOAD, 1e9)

    found = recommend_views(frame, expected.workload, 1e9, rates=RATES, source="shop")

    assert frozenset(found.parts.pieces) == frozenset(expected.parts.pieces)
    assert found.parts.sizes == expected.parts.sizes
    assert sorted(found.choice.keys) == sorted(expected.choice.keys)
    assert found.definitions() == expected.definitions()
    assert found.time_before == pytest.approx(expected.time_before)
    assert found.choice.time == pytest.approx(expected.choice.time)


def test_a_query_of_which_parts_are_missing_counts_as_asked_for(frame: DataFrame) -> None:
    """Since nothing on Spark puts stored parts together with the rest."""
    found = recommend_views(frame, WORKLOAD, 1e9, rates=RATES)
    of_items = [at for at, part in enumerate(found.problem.candidates) if part.key in found.parts.required("items")]

    alone = replace(found.problem, queries=tuple(each for each in found.problem.queries if each.name == "items"))

    assert len(of_items) > 1
    assert alone.time(of_items[:1]) >= alone.time(())
    assert alone.time(of_items) < 0.1 * alone.time(())


def test_spark_reads_what_a_query_server_has_stored(spark: SparkSession, tmp_path: Path) -> None:
    """As it is: rows that count are those whose regions are there, before and after a refresh."""
    items = "".join(f"<item><name>n{at}</name><note>{'long ' * 30}</note></item>" for at in range(300))
    (tmp_path / "shop.xml").write_text(f"<shop>{items}</shop>")
    server = QueryServer(tmp_path / "store")
    server.add_source(tmp_path / "shop.xml")
    server.materialize("/shop/item/name")

    for text in (
        f"<shop>{items}</shop>",
        f"<shop><item><name>new</name></item>{items[items.index('</item>') + 7 :]}</shop>",
    ):
        (tmp_path / "shop.xml").write_text(text)
        server.refresh()
        manifest, place = server.store.manifest(), tmp_path / "store" / "files"
        [view], [source] = manifest.views, manifest.sources
        [part] = manifest.required(view.name, "shop")
        rows = spark.read.parquet(*(f"{place / file.name}" for file in part.files or ()))
        places = spark.read.parquet(f"{place / source.regions.name}").alias("p")
        current = rows.where(col("part") == part.id).alias("r").join(places, col("r.region") == col("p.region"))
        moved = (col("p.offset") + col("r.offset") - col("p.written")).alias("offset")
        found = current.select("p.document", "p.version", moved, "r.path", "r.value", "r.fragment").toArrow()

        expected = server.query("/shop/item/name").rows.select(found.column_names)
        assert expected.num_rows == 300
        assert as_set(found) == as_set(expected)


def test_without_rates_a_query_takes_as_long_as_the_pass(frame: DataFrame) -> None:
    ticks = iter([10.0, 14.0])

    found = recommend_views(frame, ["//item"], 1e9, clock=lambda: next(ticks))

    assert found.time_before == pytest.approx(4.0)


@pytest.mark.parametrize(
    "query",
    [
        "//item",  # a view as it is
        "//item/name",  # nested, extracted from what it lies in
        "//n:part//n:part",  # nested, with namespaces
        "/shop/note | //name/@lang",
        "/shop/nothing",
        "/shop/item[name/@lang = 'd1']",  # compensations
        "//item/price/text()",
        "//item/n:part//n:part",
        "//item[price >= 20] | //item/name",
        "//item except //item[price < 20]",
        "//item intersect //item[price < 20]",
    ],
)
def test_an_answer_from_views_is_that_of_the_documents(stored: SparkViews, query: str) -> None:
    namespaces = {"n": "urn:n"}

    answer = stored.answer(query, namespaces)

    assert as_set(answer.toArrow()) == embedded(query, namespaces)


def test_a_query_that_views_do_not_answer_is_told(stored: SparkViews) -> None:
    assert stored.rewriting("//shop") is None
    with pytest.raises(UnansweredError, match="//shop: expected the stored views items, cheap"):
        stored.answer("//shop")


def test_duckdb_reads_what_is_stored(stored: SparkViews) -> None:
    sql = "SELECT count(*), sum(number) FROM read_parquet(?) WHERE list_contains(views, 'notes')"

    count, total = duckdb.execute(sql, [stored.files("notes")]).fetchone() or (None, None)

    rows = embedded("/shop/note | //name/@lang")
    numbers = [row["number"] for row in rows]
    assert count == len(rows)
    assert total == sum(number for number in numbers if isinstance(number, float))


def test_of_a_recommendation_only_the_chosen_parts_are_stored(frame: DataFrame, tmp_path: Path) -> None:
    found = recommend_views(frame, WORKLOAD, 12_000, rates=RATES)

    manifest = materialize_views(frame, found, tmp_path)

    assert {part.id for part in manifest.parts if part.folder is not None} == set(found.choice.keys)
    whole = {name for name, share in found.answered().items() if share == 1.0}
    assert {view.name for view in manifest.stored_views()} == whole != set(found.answered())
    assert manifest.documents == len(TEXTS)


def test_what_is_stored_keeps_to_the_budget_by_its_true_size(frame: DataFrame, tmp_path: Path) -> None:
    found = recommend_views(frame, WORKLOAD, 1e9, rates=RATES)
    whole = materialize_views(frame, found, tmp_path)
    scarce = replace(found, budget=whole.bytes - 1)  # chosen when parts were thought to be smaller than they are

    manifest = materialize_views(frame, scarce, tmp_path)

    files = [file for part in tmp_path.glob("version-2/part=*") for file in part.glob("*.parquet")]
    assert 0 < manifest.bytes <= scarce.budget
    assert manifest.bytes == sum(file.stat().st_size for file in files)
    assert manifest.stored_views()
    assert len(manifest.stored_views()) < len(whole.stored_views())


def test_a_job_that_fails_in_the_middle_leaves_the_version_before(
    spark: SparkSession, frame: DataFrame, tmp_path: Path
) -> None:
    first = materialize_views(frame, ["//item"], tmp_path)
    failing = frame.unionByName(frame_of(spark, {_BROKEN: "<shop>"}))

    with pytest.raises(Exception, match=_BROKEN):
        materialize_views(failing, ["//item", "//note"], tmp_path, mode="FAILFAST")

    again = views(spark, tmp_path)
    assert again.manifest == first
    assert as_set(again.answer("//item").toArrow()) == embedded("//item")

    second = materialize_views(failing, ["//note"], tmp_path)
    assert (second.number, second.rejected, second.reasons[0][:6]) == (2, 1, _BROKEN)
    assert {path.name for path in tmp_path.glob("version-*")} == {"version-1", "version-2"}
    assert as_set(again.answer("//item").toArrow()) == embedded("//item")  # still there for who has it open
    assert as_set(views(spark, tmp_path).answer("//note").toArrow()) == embedded("//note")


def test_what_is_wrong_is_told_on_the_driver(spark: SparkSession, frame: DataFrame, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="id: expected one of document, value, found 'key'"):
        frame.transform(select_nodes("//item", id="key"))
    with pytest.raises(ConfigurationError, match="mode: expected one of"):
        select_nodes("//item", mode="NEVER")
    with pytest.raises(ConfigurationError, match="expected views that materialize_views has written"):
        views(spark, tmp_path)


def test_a_document_without_an_id_ends_the_job(spark: SparkSession) -> None:
    frame = spark.createDataFrame([(None, "<shop><item/></shop>")], "document string, value string")

    with pytest.raises(Exception, match="expected an id for each document, found null"):
        frame.transform(select_nodes("//item")).collect()
