"""The core of Weft on whatever PySpark is installed: `make test-matrix` runs this file with each version."""

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from weft_process import Row, embedded

from weft.delivery.job import Job
from weft.delivery.output import Format
from weft.delivery.results import read_results
from weft.errors import ConfigurationError
from weft.spark import check_job, deduplicate, deliver, join, match, messages, rejected, run_batch, run_stream
from weft.spark.older import needed, version_of

pytestmark = pytest.mark.skipif("WEFT_MATRIX" not in os.environ, reason="make test-matrix; the others test this Spark")
QUERIES = {"large": "/order[total > 500]/customer", "items": "/order/item"}
SOON = "SELECT <pair>{ $x }</pair> FROM a//order[customer->x] FOLLOWED BY{x = y, 1 hour} b//order[customer->y]"
HAS_SOURCES = pytest.mark.skipif(version_of() < (4, 0), reason="PySpark has data sources in Python since 4.0")


def order(number: int) -> bytes:
    broken = "" if number % 7 == 6 else "</total>"
    items = "<item/>" * (number % 3)
    return f"<order><total>{number * 70}{broken}<customer>{number}</customer>{items}</order>".encode()


DOCUMENTS = {f"{number:02d}.xml": order(number) for number in range(20)}
BROKEN = [name for name, data in DOCUMENTS.items() if b"</total>" not in data]


@pytest.fixture
def job(tmp_path: Path) -> Job:
    inbox, subscriptions = tmp_path / "inbox", tmp_path / "subscriptions.jsonl"
    inbox.mkdir()
    for name, data in DOCUMENTS.items():
        (inbox / name).write_bytes(data)
    subscriptions.write_text("".join(json.dumps({"id": id, "query": query}) + "\n" for id, query in QUERIES.items()))
    return Job(subscriptions, inbox, tmp_path / "out", max_files_per_trigger=8)


def found(job: Job) -> list[Row]:
    rows = read_results(job.output)
    return sorted((row["document"], row["subscription"], row["position"], row["message"]) for row in rows)


def test_frames_are_delivered_and_matched(spark: SparkSession) -> None:
    subscriptions = list(QUERIES.values())
    frame = spark.createDataFrame(
        [(name, bytearray(data)) for name, data in DOCUMENTS.items()], "document string, value binary"
    )

    out = frame.transform(deliver(subscriptions))

    named = dict(enumerate(QUERIES, start=1))
    rows = [(row.document, named[int(row.subscription)], row.position, row.message) for row in messages(out).collect()]
    expected = embedded(QUERIES, DOCUMENTS)
    assert sorted(rows) == expected
    assert sorted(row.document for row in rejected(out).collect()) == BROKEN
    matched = frame.transform(match(subscriptions)).collect()
    pairs = {(row.document, named[int(id)]) for row in matched for id in row.matches or ()}
    assert pairs == {(name, id) for name, id, _, _ in expected}


def test_a_stream_of_frames_is_delivered(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    lines = [data.decode() for name, data in DOCUMENTS.items() if name not in BROKEN]
    (tmp_path / "in" / "orders.txt").write_text("\n".join(lines))
    frame = spark.readStream.text(str(tmp_path / "in")).transform(deliver(list(QUERIES.values())))
    writer = frame.select("subscription", "position", "message").writeStream.format("parquet")
    writer = writer.option("checkpointLocation", str(tmp_path / "checkpoint")).trigger(availableNow=True)

    writer.start(str(tmp_path / "out")).awaitTermination()

    rows = spark.read.parquet(str(tmp_path / "out")).collect()
    named = dict(enumerate(QUERIES, start=1))
    assert sorted((named[int(row.subscription)], row.position, row.message) for row in rows) == sorted(
        row[1:] for row in embedded(QUERIES, DOCUMENTS)
    )


def test_documents_are_joined_where_spark_takes_tables_of_arrow(spark: SparkSession) -> None:
    rows = [("1", "a", 0.0, order(3)), ("2", "b", 9.0, order(3)), ("3", "b", 10.0, order(4))]
    frame = spark.createDataFrame(
        [(id, stream, moment, data.decode()) for id, stream, moment, data in rows],
        "document string, stream string, timestamp double, value string",
    )

    if version_of() < (4, 0):
        with pytest.raises(ConfigurationError, match=r"joining documents needs PySpark 4\.0 or newer, this is 3\.5"):
            frame.transform(join([SOON]))
        return
    made = frame.transform(join([SOON])).collect()

    assert [(row.documents, row.message) for row in made] == [(["1", "2"], "<pair><customer>3</customer></pair>")]


def test_messages_that_came_again_are_dropped(spark: SparkSession) -> None:
    kind = (
        "topic string, partition int, offset long, timestamp timestamp, headers array<struct<key:string,value:binary>>"
    )
    own = [("weft-message-id", bytearray(b"1"))]
    rows = [("t", 0, at, None, own if at < 2 else None) for at in range(4)]

    once = spark.createDataFrame(rows, kind).transform(deduplicate())

    assert sorted(row.offset for row in once.collect())[1:] == [2, 3]


@HAS_SOURCES
@pytest.mark.parametrize("format", ["parquet", "files"])
def test_a_folder_is_delivered_in_a_batch(spark: SparkSession, job: Job, format: Format) -> None:
    job = replace(job, format=format)
    compiled = check_job(job, False)

    metrics = run_batch(spark, job, compiled)

    expected = embedded(QUERIES, DOCUMENTS)
    if format == "files":
        assert len(list((job.output / "messages").rglob("*.xml"))) == len(expected)
    else:
        assert found(job) == expected
    assert (metrics.documents, metrics.rejected) == (20, len(BROKEN))
    assert bool(metrics.per_subscription) == (version_of(spark.version) >= (4, 1))


@HAS_SOURCES
def test_a_folder_is_delivered_as_a_stream_that_goes_on(spark: SparkSession, job: Job) -> None:
    for _ in range(2):
        with run_stream(spark, job, available_now=True) as query:
            query.awaitTermination()
        assert found(job) == embedded(QUERIES, DOCUMENTS)

    (job.documents / "more.xml").write_bytes(order(13))  # type: ignore[operator]
    with run_stream(spark, job, available_now=True) as query:
        query.awaitTermination()

    assert found(job) == embedded(QUERIES, {**DOCUMENTS, "more.xml": order(13)})


@HAS_SOURCES
def test_messages_are_files_of_a_stream_where_spark_can_write_them(
    spark: SparkSession, job: Job, tmp_path: Path
) -> None:
    frame = spark.readStream.format("weft").load(str(job.documents)).transform(deliver(job.subscriptions))
    writer = messages(frame).writeStream.format("weft").option("checkpointLocation", str(tmp_path / "checkpoint"))
    writer = writer.trigger(availableNow=True)
    if version_of() < (4, 1):
        with pytest.raises(Exception, match=r"needs PySpark 4\.1 or newer, this is 4\.0"):
            writer.start(str(tmp_path / "messages")).awaitTermination()
        return

    writer.start(str(tmp_path / "messages")).awaitTermination()

    assert len(list((tmp_path / "messages").rglob("*.xml"))) == len(embedded(QUERIES, DOCUMENTS))


@pytest.mark.skipif(version_of() >= (4, 0), reason="PySpark 3.5 alone has no data sources in Python")
def test_without_data_sources_a_folder_is_refused_with_a_clear_word(spark: SparkSession, job: Job) -> None:
    compiled = check_job(job, False)

    with pytest.raises(ConfigurationError, match=r"reading folders needs PySpark 4\.0 or newer, this is 3\.5"):
        run_batch(spark, job, compiled)


def test_what_is_needed_is_told_in_one_line() -> None:
    assert "\n" not in str(needed("this", "9.0", "do that"))
    assert [version_of(text) for text in ("3.5.8", "4.0.1", "4.10.0.dev1")] == [(3, 5), (4, 0), (4, 10)]
