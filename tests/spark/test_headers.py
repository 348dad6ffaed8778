"""Headers on Spark: with a column of them the messages and matches are those without."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import col, encode, expr, lit
from pyspark.sql.types import BinaryType

from weft import ConfigurationError
from weft.headers.configuration import configure, write_configurations
from weft.headers.header import RECORD_HEADER, decode
from weft.headers.producer import attach
from weft.spark import (
    compile_subscriptions,
    deliver,
    from_record_headers,
    match,
    messages,
    rejected,
    to_record_headers,
    with_headers,
)
from weft.spark.headers import HeaderWorker

VIEWS = configure("news", ["/news/agency", "/news/@date", "//topic", "/news/body"])
QUERIES = {
    "reuters": "/news[agency = 'Reuters']",
    "dated": "/news[@date > 20200101 and agency != 'AP']/agency",
    "topics": "//topic[. = 'xml']",
    "inside": "/news[body/p = '3']",
    "unserved": "/memo[to = 'me']",
    "flwr": "<r>{ for $v in /news where $v/agency = 'AP' return <i>{ $v/topic }</i> }</r>",
}
TEXTS = {
    "one": "<news date='20210101'><agency>Reuters</agency><topic>xml</topic><body><p>1</p><p>3</p></body></news>",
    "two": "<news date='20190101'><agency>AP</agency><topic>xml</topic><topic>é</topic></news>",
    "three": "<memo><to>me</to></memo>",
    "four": "<other/>",
    "broken": "<news><agency>Reuters</agency>",
    "empty": "",
}


def frame_of(spark: SparkSession, kind: str) -> DataFrame:
    frame = spark.createDataFrame([*TEXTS.items(), ("nothing", None)], "document string, value string")
    return frame if kind == "string" else frame.withColumn("value", encode("value", "UTF-8"))


def delivered(frame: DataFrame) -> tuple[list[tuple[str, ...]], set[tuple[str, str]]]:
    made = messages(frame).select("document", "subscription", "position", "message")
    return sorted(map(tuple, made.collect())), {(row.document, row.error) for row in rejected(frame).collect()}


def matched(frame: DataFrame) -> dict[str, list[str] | None]:
    return {row.document: row.matches for row in frame.select("document", "matches").collect()}


@pytest.mark.parametrize("kind", ["string", "binary"])
def test_messages_and_matches_are_those_without_headers(spark: SparkSession, kind: str) -> None:
    frame = frame_of(spark, kind).repartition(2)
    with_column = frame.transform(with_headers(VIEWS))

    assert delivered(with_column.transform(deliver(QUERIES, headers=VIEWS))) == delivered(
        frame.transform(deliver(QUERIES))
    )
    assert matched(with_column.transform(match(QUERIES, headers=VIEWS))) == matched(frame.transform(match(QUERIES)))


def test_a_header_is_that_of_the_embedded_producer_and_null_where_there_is_none(spark: SparkSession) -> None:
    rows = frame_of(spark, "binary").transform(with_headers(VIEWS)).collect()

    found = {row.document: row.header for row in rows}

    expected = {id: attach(text.encode(), VIEWS)[0].header for id, text in TEXTS.items()}
    assert {id: None if header is None else bytes(header) for id, header in found.items()} == {
        **expected,
        "nothing": None,
    }
    assert found["broken"] is None
    assert found["one"] is not None


@pytest.mark.parametrize("how", ["damaged", "foreign", "missing", "text", "numbers"])
def test_headers_that_cannot_be_trusted_change_nothing(spark: SparkSession, how: str) -> None:
    frame = frame_of(spark, "binary")
    headed = frame.transform(with_headers(VIEWS))
    other = attach(b"<news><agency>Reuters</agency></news>", VIEWS)[0].header
    columns = {
        "damaged": expr("substring(header, 1, length(header) - 1)"),
        "foreign": lit(other),
        "missing": lit(None).cast("binary"),
        "text": lit("not a header"),
        "numbers": lit(5),
    }

    changed = headed.withColumn("header", columns[how])

    assert matched(changed.transform(match(QUERIES, headers=VIEWS))) == matched(frame.transform(match(QUERIES)))
    assert delivered(changed.transform(deliver(QUERIES, headers=VIEWS))) == delivered(frame.transform(deliver(QUERIES)))


def test_a_stream_gives_the_messages_of_a_batch(spark: SparkSession, tmp_path: Path) -> None:
    write_configurations([VIEWS], tmp_path / "views.toml")
    (tmp_path / "in").mkdir()
    for id, text in TEXTS.items():
        (tmp_path / "in" / f"{id}.xml").write_text(text, encoding="utf-8")
    stream = spark.readStream.format("weft").load(str(tmp_path / "in"))
    compiled = compile_subscriptions(QUERIES, headers=tmp_path / "views.toml")

    out = stream.transform(with_headers(tmp_path / "views.toml")).transform(deliver(compiled))
    writer = out.writeStream.format("parquet").option("checkpointLocation", str(tmp_path / "checkpoint"))
    writer.trigger(availableNow=True).start(str(tmp_path / "out")).awaitTermination()

    found, bad = delivered(spark.read.parquet(str(tmp_path / "out")))
    expected, _ = delivered(frame_of(spark, "binary").transform(deliver(QUERIES)))
    assert [(document.removesuffix(".xml"), *rest) for document, *rest in found] == [tuple(row) for row in expected]
    assert {document.removesuffix(".xml") for document, _ in bad} == {"broken", "empty"}


def test_a_column_that_is_there_is_replaced_and_the_documents_are_not(spark: SparkSession) -> None:
    frame = frame_of(spark, "binary").withColumn("header", lit("of before"))

    out = frame.transform(with_headers(VIEWS))

    assert out.columns == ["document", "value", "header"]
    assert out.schema["header"].dataType == BinaryType()
    with pytest.raises(ConfigurationError, match="header: expected another column than that of the documents"):
        frame.transform(with_headers(VIEWS, header="value"))


def test_the_stream_of_a_document_chooses_its_configuration(spark: SparkSession) -> None:
    configurations = [configure("wire", ["/*"], stream="wire"), configure("any", ["/*"])]
    frame = frame_of(spark, "string").where("document = 'one'")
    frame = frame.withColumn("stream", lit("wire")).unionByName(frame.withColumn("stream", lit(None).cast("string")))

    rows = frame.transform(with_headers(configurations)).orderBy(col("stream")).collect()

    assert [decode(bytes(row.header)).tag for row in rows] == ["any/1", "wire/1"]


def test_a_worker_keeps_what_it_does_not_know_and_takes_many_rows_at_once() -> None:
    """Without Spark: what runs in its workers."""
    batch = pa.RecordBatch.from_pydict({"n": list(range(150)), "value": [f"<a><b>{at}</b></a>" for at in range(150)]})
    work = HeaderWorker((configure("v", ["/a/b"]),), ("n", "value"), "value", None, "header", None)

    (out,) = work(iter([batch]))

    assert out.column("n").to_pylist() == list(range(150))
    assert all(decode(header).entries == (3,) for header in out.column("header").to_pylist())


def test_headers_travel_in_those_of_records_as_kafka_has_them(spark: SparkSession) -> None:
    frame = frame_of(spark, "binary").transform(with_headers(VIEWS))
    expected = {row.document: row.header for row in frame.collect()}
    kafka = "array<struct<key:string,value:binary>>"
    others = frame.withColumn(
        "headers",
        expr(f"if(document = 'two', array(struct('{RECORD_HEADER}', X'00'), struct('trace', X'01')), null)").cast(
            kafka
        ),
    )

    sent = [each.transform(to_record_headers()) for each in (frame, others)]
    arrived = [each.transform(from_record_headers()) for each in sent]

    for records, back in zip(sent, arrived, strict=True):
        assert records.schema["headers"].dataType.simpleString() == kafka
        assert "header" not in records.columns
        assert {row.document: row.header for row in back.collect()} == expected
    assert expected["broken"] is None
    keys = {row.document: [each.key for each in row.headers] for row in sent[1].collect()}
    assert (keys["one"], keys["two"], keys["broken"]) == ([RECORD_HEADER], ["trace", RECORD_HEADER], [])
    without = frame.drop("header").withColumn("headers", lit(None).cast(kafka)).transform(from_record_headers())
    assert {row.header for row in without.collect()} == {None}
