"""A table of documents on Spark as a source of the query server: its answers are those of the same in files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from typer.testing import CliRunner

from weft import QueryServer
from weft.cli.app import app
from weft.spark import TableSource
from weft.views.sources.rates import Rate, Rates
from weft.views.sources.source import SourceError

SLOW = Rates(Rate(1e5), Rate(1e6), Rate(0.5))
SCHEMA = "document string, value string"


def text_of(number: int, price: int) -> str:
    return f"<shop><item><name>é{number}</name><price>{price}</price></item><note>{number}</note></shop>"


TEXTS = {f"d{number}.xml": text_of(number, number % 7) for number in range(12)}


def write_table(spark: SparkSession, folder: Path, texts: dict[str, str]) -> None:
    spark.createDataFrame(list(texts.items()), SCHEMA).repartition(2).write.mode("overwrite").parquet(str(folder))


def test_answers_are_those_of_the_same_documents_in_a_folder(spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "documents"
    folder.mkdir()
    for name, text in TEXTS.items():
        (folder / name).write_text(text, encoding="utf-8")
    rows = [*TEXTS.items(), ("gone.xml", None)]
    table = TableSource(spark.createDataFrame(rows, SCHEMA).repartition(3))
    on_spark, in_files = QueryServer(tmp_path / "one"), QueryServer(tmp_path / "other")

    entry = on_spark.add_source(table, rates=SLOW)
    in_files.add_source(folder)

    assert (entry.name, entry.root) == ("shop", "shop")
    for query in ("//item[price > 3]/name", "/shop/note/text()", "/shop/nothing", "/other"):
        assert on_spark.query(query).rows.equals(in_files.query(query).rows), query


def test_views_of_a_table_answer_and_are_refreshed(spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "table"
    write_table(spark, folder, TEXTS)
    server = QueryServer(tmp_path / "store")
    server.add_source(f"spark:{folder}", rates=SLOW)
    server.materialize("//item")

    stored = server.query("//item/name")
    write_table(spark, folder, {**TEXTS, "d3.xml": text_of(3, 100), "new.xml": text_of(99, 99)})
    refreshed = QueryServer(tmp_path / "store").refresh()["shop"]
    changed = server.query("//item[price > 50]")

    assert "from views" in stored.explain()
    assert stored.rows.num_rows == len(TEXTS)
    assert not isinstance(refreshed, SourceError)
    assert refreshed.changed == ("d3.xml", "new.xml")
    assert "from views" in changed.explain()
    assert changed.rows["document"].to_pylist() == ["d3.xml", "new.xml"]


def test_documents_that_cannot_be_read_are_told(spark: SparkSession, tmp_path: Path) -> None:
    frame = spark.createDataFrame([*TEXTS.items(), ("bad.xml", "<shop><item>")], SCHEMA)
    server = QueryServer(tmp_path / "store")
    server.add_source(TableSource(frame))

    answer = server.query("//item")

    assert answer.rows.num_rows == len(TEXTS)
    assert [each.document for each in answer.rejected] == ["bad.xml"]


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ([("a", "<r/>"), ("a", "<r/>")], "an id for each document"),
        ([("a", "<r/>"), ("b", "<s/>")], "one root element, which names the source, found r, s"),
        ([], "found no documents"),
    ],
)
def test_a_table_that_is_no_source_is_refused(
    spark: SparkSession, tmp_path: Path, rows: list[tuple[str, str]], told: str
) -> None:
    with pytest.raises(SourceError, match=told):
        QueryServer(tmp_path / "store").add_source(TableSource(spark.createDataFrame(rows, SCHEMA)))


def test_the_command_line_takes_a_parquet_folder(spark: SparkSession, tmp_path: Path) -> None:
    write_table(spark, tmp_path / "table", TEXTS)
    store = ["--store", str(tmp_path / "store")]

    added = CliRunner().invoke(app, ["sources", "add", f"spark:{tmp_path / 'table'}", *store])
    asked = CliRunner().invoke(app, ["query", "//item[price = 6]/name", *store])
    missing = CliRunner().invoke(app, ["sources", "add", f"spark:{tmp_path / 'nowhere'}", *store])

    assert added.exit_code == 0, added.output
    assert added.output.startswith("shop: 12 documents at spark:")
    assert json.loads(asked.output)["fragment"] == "<name>é6</name>"
    assert missing.exit_code != 0
