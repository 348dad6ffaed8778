"""Subscriptions that are reloaded in a user's own stream: new ones with the next micro-batch, the same on a replay."""

import json
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from weft.errors import ConfigurationError
from weft.spark import deliver

pytestmark = pytest.mark.slow
Seen = list[tuple[int, str, int, str]]  # batch, subscription, version, document


def replace(file: Path, **queries: str) -> None:
    other = file.with_name("next")
    other.write_text("".join(json.dumps({"id": name, "query": query}) + "\n" for name, query in queries.items()))
    other.replace(file)


def run(spark: SparkSession, folder: Path) -> Seen:
    """A user's own stream over all that is there; what each micro-batch brought."""
    seen: Seen = []

    def take(frame: DataFrame, batch: int) -> None:
        rows = frame.select("subscription", "version", "document").collect()
        seen.extend((batch, row.subscription, row.version, row.document) for row in rows)

    documents = spark.readStream.format("weft").load(str(folder / "inbox"))
    made = documents.transform(deliver(folder / "subs.jsonl", reload=True, keys=["document"]))
    writer = made.repartition(2).writeStream.foreachBatch(take).option("checkpointLocation", str(folder / "checkpoint"))
    writer.trigger(availableNow=True).start().awaitTermination()
    return sorted(seen)


def test_a_new_version_answers_from_the_next_batch_on_and_a_replay_has_the_old_one(
    spark: SparkSession, tmp_path: Path
) -> None:
    (tmp_path / "inbox").mkdir()
    replace(tmp_path / "subs.jsonl", first="//b")
    (tmp_path / "inbox" / "0.xml").write_text("<a><b/></a>")
    assert run(spark, tmp_path) == [(0, "first", 1, "0.xml")]

    replace(tmp_path / "subs.jsonl", first="//c", second="//b")
    (tmp_path / "inbox" / "1.xml").write_text("<a><b/></a>")
    assert run(spark, tmp_path) == [(1, "second", 2, "1.xml")]

    replace(tmp_path / "subs.jsonl", third="//b")
    for file in (tmp_path / "checkpoint" / "commits").glob("*1*"):
        file.unlink()  # as if it had been killed before the end of the batch
    assert run(spark, tmp_path) == [(1, "second", 2, "1.xml")], "the batch runs again with the version that it had"

    replace(tmp_path / "subs.jsonl", third="//b[")
    (tmp_path / "inbox" / "2.xml").write_text("<a><b/></a>")
    with pytest.raises(ConfigurationError, match=r"subs\.jsonl:1: XPath"):
        run(spark, tmp_path)
    replace(tmp_path / "subs.jsonl", third="//b")
    assert run(spark, tmp_path) == [(2, "third", 3, "2.xml")]


def test_what_cannot_be_reloaded_is_told(tmp_path: Path) -> None:
    replace(tmp_path / "subs.jsonl", pairs="S//a->x JOIN{x = y, 1 day} S//b->y")

    with pytest.raises(ConfigurationError, match="reload: expected no XSCL, found pairs"):
        deliver(tmp_path / "subs.jsonl", reload=True)
    with pytest.raises(ConfigurationError, match="reload: expected subscriptions in a file"):
        deliver(["//a"], reload=True)
