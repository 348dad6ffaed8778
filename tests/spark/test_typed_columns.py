"""Typed output on Spark: a row for each node with a struct of columns, JSON as message, and sinks that carry both."""

import json
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from weft import ConfigurationError, Subscription
from weft.delivery.output import Format
from weft.delivery.results import read_results
from weft.spark import Job, deliver, messages, run_batch

pytestmark = pytest.mark.slow
TYPED = Subscription(
    "orders", "/r/o", columns={"id": "@id", "total": "decimal(t)", "day": "date(d)", "at": "dateTime(m)", "skus": ["s"]}
)
OTHER = Subscription("counts", "/r", columns={"id": "o/@id", "n": "count(o)"})
TEXT = (
    "<r><o id='1'><t>12.50</t><d>2026-03-02</d><m>2026-03-02T10:00:00+02:00</m><s>a</s><s>b</s></o>"
    "<o id='2'><t>x</t></o></r>"
)


def test_each_node_is_a_row_with_a_struct_and_json(spark: SparkSession) -> None:
    documents = spark.createDataFrame([(1, TEXT), (2, "<r/>"), (3, "<r>")], "number int, value string")

    out = documents.transform(deliver([TYPED, OTHER, Subscription("plain", "//s")])).cache()

    assert out.schema["columns"].dataType.simpleString() == (
        "struct<id:string,total:decimal(38,18),day:date,at:timestamp,skus:array<string>,n:bigint>"
    )
    rows = {(row.number, row.subscription, row.position): row for row in messages(out).collect()}
    first, second = rows[1, "orders", 1], rows[1, "orders", 2]
    assert (first.columns.id, first.columns.total, first.columns.day) == ("1", Decimal("12.50"), date(2026, 3, 2))
    assert first.columns.at.astimezone(UTC) == datetime(2026, 3, 2, 8, tzinfo=UTC)
    assert (first.columns.skus, first.columns.n) == (["a", "b"], None)
    assert json.loads(second.message) == {"id": "2", "total": None, "day": None, "at": None, "skus": []}
    assert [rows[number, "counts", 1].columns.n for number in (1, 2)] == [2, 0]
    assert [rows[1, "plain", at].columns for at in (1, 2)] == [None, None]
    assert len(rows) == 6


def test_columns_of_one_name_have_one_type() -> None:
    with pytest.raises(ConfigurationError, match="one type for 'id', found string and count"):
        deliver([TYPED, Subscription("b", "//o", columns={"id": "count(s)"})])


@pytest.mark.parametrize("form", ["parquet", "files"])
def test_sinks_carry_typed_rows(spark: SparkSession, tmp_path: Path, form: Format) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "1.xml").write_text(TEXT)
    line = {"id": "orders", "query": TYPED.query, "columns": dict(TYPED.columns)}
    (tmp_path / "subs.jsonl").write_text(json.dumps(line))

    run_batch(spark, Job(tmp_path / "subs.jsonl", tmp_path / "in", tmp_path / "out", format=form))

    rows = sorted(read_results(tmp_path / "out"), key=lambda row: row["message"])
    assert [json.loads(row["message"])["id"] for row in rows] == ["1", "2"]
    if form == "parquet":
        assert rows[0]["columns"]["total"] == Decimal("12.50")
    if form == "files":
        assert len(list((tmp_path / "out" / "messages" / "orders").glob("*.json"))) == 2
