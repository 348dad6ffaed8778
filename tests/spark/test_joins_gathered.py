"""Chains, absence, windows in documents and cascades in a stream on Spark: as in a broker, also after a crash."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

import weft
from weft.broker.subscriptions import Subscription, write_subscription
from weft.delivery.job import Job
from weft.delivery.results import read_results
from weft.spark.compiled import compile_subscriptions
from weft.spark.job import run_stream
from weft.spark.joins_documents import documents_of
from weft.spark.joins_gathered import Gathered

SUBSCRIPTIONS = [
    Subscription("pair", "S//a->x FOLLOWED BY{x = y, 1 day} S//b->y"),
    Subscription("chain", "S//a->x FOLLOWED BY{x = y, 1 day} S//b->y FOLLOWED BY{y = z, 1 day} S//c->z"),
    Subscription("absence", "S//a->x NOT FOLLOWED BY{x = y, 3 seconds} S//b->y"),
    Subscription("counted", "S//a->x JOIN{x = y, 2 documents} S//c->y"),
    Subscription("made", "SELECT <sum>{ $x/text() }</sum> FROM S//b->x JOIN{x = y, 1 day} S//c->y PUBLISH sums"),
    Subscription("of what was made", "sums/sum->s FOLLOWED BY{s = x, 1 day} S//a->x"),
    Subscription("filter", "/sum/text()"),
]
Row = tuple[str, tuple[str, ...], str]


def documents() -> list[weft.Document]:
    names = "abcabacbcabcca"
    return [
        weft.Document(f"<r><{name}>{at // 5 % 2}</{name}></r>", f"{at:02}.xml", "S", 1_000_000.0 + at)
        for at, name in enumerate(names)
    ]


def embedded(some: list[weft.Document]) -> set[Row]:
    broker = weft.Broker()
    for subscription in SUBSCRIPTIONS:
        broker.subscribe(subscription)
    return {
        (message.subscription, message.documents or (message.document,), text)
        for document in some
        for message in broker.publish(document)
        for text in message.nodes
    }


def frame(spark: SparkSession, some: list[weft.Document]) -> DataFrame:
    rows = [(each.id, each.stream, each.timestamp, each.data) for each in some]
    return spark.createDataFrame(rows, "document string, stream string, timestamp double, value string")


def rows(found: DataFrame) -> set[Row]:
    return {(row["subscription"], tuple(row["documents"]), row["message"]) for row in found.collect()}


@pytest.fixture(scope="module")
def gathered_rows() -> set[Row]:
    return {row for row in embedded(documents()) if row[0] != "pair"}


def test_a_batch_that_runs_again_makes_the_same_messages(
    spark: SparkSession, tmp_path: Path, gathered_rows: set[Row]
) -> None:
    compiled = compile_subscriptions(SUBSCRIPTIONS)
    parts = [
        documents()[:1],
        *(documents()[start : start + 5] for start in range(1, 14, 5)),
    ]  # the first brings nothing
    gathered = Gathered(compiled, tmp_path, 0.0)
    found = []
    for batch, part in enumerate(parts):
        asked = documents_of(frame(spark, part))
        once = rows(gathered.messages(batch, asked))
        again = rows(gathered.messages(batch, asked))  # it failed behind this, and the driver lives
        gathered = Gathered(compiled, tmp_path, 0.0)
        after_crash = rows(gathered.messages(batch, asked))
        assert once == again == after_crash
        found += list(once)

    assert len(found) == len(set(found))
    assert set(found) == gathered_rows
    assert {row[0] for row in found} == {each.id for each in SUBSCRIPTIONS} - {"pair"}


def test_a_stream_takes_them_beside_the_others(spark: SparkSession, tmp_path: Path) -> None:
    inbox = tmp_path / "inbox" / "S"
    inbox.mkdir(parents=True)
    for document in documents():
        file = inbox / document.id
        file.write_bytes(str(document.data).encode())
        os.utime(file, ns=(document.nanoseconds or 0, document.nanoseconds or 0))
    (tmp_path / "subscriptions.jsonl").write_text("\n".join(map(write_subscription, SUBSCRIPTIONS)))
    job = Job(
        tmp_path / "subscriptions.jsonl", tmp_path / "inbox", tmp_path / "out", max_files_per_trigger=4, lateness=0
    )

    with run_stream(spark, job, available_now=True) as query:
        assert query.awaitTermination(240)

    found = [
        (row["subscription"], tuple(Path(each).name for each in row["documents"] or [row["document"]]), row["message"])
        for row in read_results(tmp_path / "out")
    ]
    assert len(found) == len(set(found))
    assert set(found) == embedded(documents())
