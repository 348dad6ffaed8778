"""What tells documents apart that are joined, and what becomes of one that is dated in the future."""

import json
import os
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from math import inf
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from typer.testing import CliRunner

from weft.cli import app
from weft.delivery.results import read_results
from weft.errors import ConfigurationError
from weft.spark import Job, first_line, join, run_stream

pytestmark = pytest.mark.slow
KAFKA = "topic string, partition int, offset bigint, timestamp double, value string"
PAID = "orders//order[@id->x] FOLLOWED BY{x = y, 1 hour} payments//payment[@order->y]"
NEXT = "orders//order[@id->x] JOIN{x = y, 1 hour} orders//order[@after->y]"
UNPAID = "orders//order[@id->x] NOT FOLLOWED BY{x = y, 1 hour} payments//payment[@order->y]"
KEYS: dict[str, Any] = {"stream": "topic", "id": "offset"}
Record = tuple[str, int, int, float, str]


def records(partition: int = 0) -> list[Record]:
    """Two topics whose offsets both begin at 0; each order is paid, and names the one before it."""
    made: list[Record] = []
    for at in range(6):
        text = f"<order id='{partition}-{at}' after='{partition}-{at - 1}'/>"
        made.append(("orders", partition, at, 1_000.0 + at, text))
        made.append(("payments", partition, at, 1_010.0 + at, f"<payment order='{partition}-{at}'/>"))
    return made


def given(spark: SparkSession, rows: Sequence[Record], folder: Path | None) -> DataFrame:
    """The records as a batch, or as a stream of files."""
    frame = spark.createDataFrame(list(rows), KAFKA)
    if folder is None:
        return frame
    frame.repartition(1).write.parquet(str(folder / "in"))
    return spark.readStream.schema(KAFKA).parquet(str(folder / "in"))


def joined(frame: DataFrame, folder: Path) -> list[tuple[str, list[str]]]:
    if frame.isStreaming:
        writer = frame.writeStream.option("checkpointLocation", str(folder / "checkpoint")).format("parquet")
        assert writer.trigger(availableNow=True).start(str(folder / "out")).awaitTermination(240)
        frame = frame.sparkSession.read.parquet(str(folder / "out"))
    return sorted((row.subscription, row.documents) for row in frame.select("subscription", "documents").collect())


@pytest.mark.parametrize("is_stream", [False, True])
def test_documents_of_two_topics_with_the_same_offsets_are_told_apart(
    spark: SparkSession, tmp_path: Path, is_stream: bool
) -> None:
    frame = given(spark, records(), tmp_path if is_stream else None)

    found = joined(frame.transform(join([PAID, NEXT], **KEYS)), tmp_path)

    assert found == [("1", [str(at)] * 2) for at in range(6)] + [("2", [str(at), str(at + 1)]) for at in range(5)]


@pytest.mark.parametrize("is_stream", [False, True])
def test_several_columns_can_tell_documents_apart(spark: SparkSession, tmp_path: Path, is_stream: bool) -> None:
    frame = given(spark, [*records(0), *records(1)], tmp_path if is_stream else None)

    found = joined(frame.transform(join([PAID], stream="topic", id=["partition", "offset"])), tmp_path)

    assert found == [("1", [f"{part}/{at}"] * 2) for part in (0, 1) for at in range(6)]


def test_queries_that_need_all_documents_tell_them_apart_too(spark: SparkSession, tmp_path: Path) -> None:
    unpaid = [record for record in records() if record[:3] != ("payments", 0, 2)]

    found = joined(given(spark, unpaid, None).transform(join([UNPAID], **KEYS)), tmp_path)

    assert found == [("1", ["2"])]


@pytest.mark.parametrize("query", [PAID, UNPAID])
def test_two_documents_of_a_batch_that_are_called_alike_end_it(spark: SparkSession, query: str) -> None:
    out = given(spark, [*records(0), *records(1)[:1]], None).transform(join([query], **KEYS))

    for ask in (out.collect, out.count, out.select("message").collect):
        with pytest.raises(PySparkException) as told:
            ask()
        assert "join: expected an id for each document of a stream, found 0/orders twice or more;" in first_line(
            told.value
        )


def test_no_columns_are_no_id(spark: SparkSession) -> None:
    for id in ([], ["offset", "nothing"]):
        with pytest.raises(ConfigurationError, match="id: expected one of topic, partition, offset"):
            given(spark, records(), None).transform(join([PAID], stream="topic", id=id))


# -- dated ahead


def dated(now: float) -> list[list[Record]]:
    """Pairs of an order and a payment in micro-batches; in the first also one of another century."""
    batches: list[list[Record]] = []
    for at in range(3):
        moment = now - 300 + 100 * at
        batches.append(
            [
                ("orders", 0, at, moment, f"<order id='{at}'/>"),
                ("payments", 0, at, moment + 1, f"<payment order='{at}'/>"),
            ]
        )
    then = now + 40 * 365 * 86_400
    batches[0] += [("orders", 0, 9, then, "<order id='9'/>"), ("payments", 0, 9, then, "<payment order='0'/>")]
    return batches


def stream_of(spark: SparkSession, batches: Sequence[Sequence[Record]], folder: Path) -> DataFrame:
    for at, batch in enumerate(batches):
        spark.createDataFrame(list(batch), KAFKA).repartition(1).write.parquet(str(folder / f"{at}"))
        (part,) = (folder / f"{at}").glob("part-*.parquet")
        (folder / "in").mkdir(exist_ok=True)
        os.utime(part.rename(folder / "in" / f"{at}.parquet"), (1_000 + at, 1_000 + at))
    return spark.readStream.schema(KAFKA).option("maxFilesPerTrigger", 1).parquet(str(folder / "in"))


@pytest.mark.parametrize(("ahead", "number"), [(86_400.0, 3), (inf, 1)])
def test_a_document_of_the_future_does_not_make_the_others_late(
    spark: SparkSession, tmp_path: Path, ahead: float, number: int
) -> None:
    stream = stream_of(spark, dated(time.time()), tmp_path)

    found = joined(stream.transform(join([PAID], **KEYS, lateness=60.0, ahead=ahead)), tmp_path)

    assert found == [("1", [str(at)] * 2) for at in range(number)]


def test_wrong_bounds_are_told(spark: SparkSession) -> None:
    for ahead in (-1.0, float("nan")):
        with pytest.raises(ConfigurationError, match=r"ahead: expected a number of seconds, .*, found"):
            given(spark, records(), None).transform(join([PAID], **KEYS, ahead=ahead))


QUERIES = {"paid": PAID, "unpaid": UNPAID, "orders": "/order/@id"}


class Feed:
    """A stream of `weft run` over files with dates, two of them in a micro-batch."""

    def __init__(self, spark: SparkSession, folder: Path, **options: Any) -> None:
        self._spark, self._now = spark, datetime.now(UTC)
        self._inbox, file = folder / "inbox", folder / "subscriptions.jsonl"
        file.write_text("".join(json.dumps({"id": id, "query": query}) + "\n" for id, query in QUERIES.items()))
        self.job = Job(file, self._inbox, folder / "out", max_files_per_trigger=2, lateness=60.0, **options)

    def arrive(self, name: str, text: str, age: timedelta) -> None:
        file = self._inbox / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        moment = (self._now - age).timestamp()
        os.utime(file, (moment, moment))

    def run(self) -> None:
        with run_stream(self._spark, self.job, available_now=True) as query:
            assert query.awaitTermination(240)

    def messages(self, subscription: str) -> list[str]:
        return sorted(row["document"] for row in read_results(self.job.output, subscription))


def test_a_stream_of_files_rejects_what_is_dated_ahead_and_joins_the_rest(spark: SparkSession, tmp_path: Path) -> None:
    feed = Feed(spark, tmp_path, ahead=3_600.0)
    feed.arrive("orders/future.xml", "<order id='9'/>", timedelta(days=-30))
    feed.arrive("orders/1.xml", "<order id='1'/>", timedelta(hours=6))
    feed.run()
    feed.arrive("payments/1.xml", "<payment order='1'/>", timedelta(hours=5, minutes=59))
    feed.arrive("orders/2.xml", "<order id='2'/>", timedelta(hours=5))
    feed.arrive("orders/3.xml", "<order id='3'/>", timedelta(hours=1))
    feed.run()

    assert feed.messages("paid") == ["payments/1.xml"]
    assert feed.messages("unpaid") == ["orders/2.xml"]
    assert feed.messages("orders") == ["orders/1.xml", "orders/2.xml", "orders/3.xml", "orders/future.xml"]
    (rejected,) = read_results(feed.job.output, only_rejected=True)
    assert (rejected["document"], rejected["source"]) == ("orders/future.xml", b"<order id='9'/>")
    assert rejected["error"] == "dated more than 3600 seconds ahead of the clock: not joined"
    assert feed.job.metrics.rejected == 1


def test_failing_fast_ends_at_a_document_that_is_dated_ahead(spark: SparkSession, tmp_path: Path) -> None:
    feed = Feed(spark, tmp_path, mode="FAILFAST")
    feed.arrive("orders/future.xml", "<order id='9'/>", timedelta(days=-30))

    with pytest.raises(PySparkException) as told:
        feed.run()

    assert first_line(told.value) == "orders/future.xml: dated more than 86400 seconds ahead of the clock: not joined"


@pytest.mark.usefixtures("spark")
def test_the_command_takes_the_bound(tmp_path: Path) -> None:
    (tmp_path / "inbox" / "orders").mkdir(parents=True)
    (tmp_path / "inbox" / "orders" / "1.xml").write_text("<order id='1'/>")
    moment = time.time() + 100
    os.utime(tmp_path / "inbox" / "orders" / "1.xml", (moment, moment))
    (tmp_path / "paid.jsonl").write_text(json.dumps({"id": "paid", "query": PAID}) + "\n")
    command = ["run", "--stream", "--available-now", "--subscriptions", str(tmp_path / "paid.jsonl")]
    command += ["--documents", str(tmp_path / "inbox")]

    done = {
        ahead: CliRunner().invoke(app, [*command, "--output", str(tmp_path / ahead), "--ahead", ahead])
        for ahead in ("60", "600")
    }

    assert [each.exit_code for each in done.values()] == [0, 0], [each.stderr for each in done.values()]
    assert [len(list(read_results(tmp_path / ahead, only_rejected=True))) for ahead in done] == [1, 0]
