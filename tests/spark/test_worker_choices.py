"""What workers count comes back to the driver, which chooses between micro-batches; its choice changes no answer."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from pyspark.sql import DataFrame, SparkSession

from weft import Broker
from weft.documents.build import read
from weft.documents.document import Document
from weft.engine.engine import Engine
from weft.engine.shared.nodes import NOTHING
from weft.optimizer.adapting import new_choice
from weft.optimizer.group_costs import GroupUnitCosts
from weft.optimizer.group_explain import group_name
from weft.spark import compile_subscriptions, match
from weft.spark.choices import Choices, ToldCounts
from weft.spark.compiled import AccessOfBatch, Compiled, unpack

pytestmark = pytest.mark.slow
_CHANCE = random.Random(1)
QUERIES = [f"/m[p > {_CHANCE.randrange(5, 900)}][q > {_CHANCE.randrange(5, 900)}]" for _ in range(3_000)]


def documents(number: int, seed: int) -> list[str]:
    """Values of p pass nearly all tests, those of q hardly any: by kind, p may drive as well."""
    chance = random.Random(seed)
    return [f"<m><p>{900 + chance.randrange(60)}</p><q>{chance.randrange(5)}</q></m>" for _ in range(number)]


def frame_of(spark: SparkSession, seed: int) -> DataFrame:
    return spark.createDataFrame([(text,) for text in documents(1_500, seed)], "value string").repartition(2)


def found(frame: DataFrame, compiled: Compiled) -> dict[str, list[str]]:
    rows = frame.transform(match(compiled)).collect()
    return {row.value: list(row.matches) for row in rows}


def drivers(engine: Engine) -> set[str]:
    access = engine.large.access
    assert access is not None
    return {group_name(engine.large.shared, node) for node in access.driver.tolist() if node != NOTHING}


def test_counts_of_workers_make_the_choice_of_the_next_batch(spark: SparkSession) -> None:
    spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", 64)
    compiled = compile_subscriptions(QUERIES)
    fixed = compile_subscriptions(QUERIES, optimizer="fixed")
    choices = Choices(spark)
    try:
        for seed in range(12):
            frame = frame_of(spark, seed)
            chosen = choices.before_batch(compiled)
            assert chosen.choice is not None
            assert found(frame, chosen) == found(frame, fixed)
            if choices.changes:
                break
    finally:
        spark.conf.unset("spark.sql.execution.arrow.maxRecordsPerBatch")

    assert choices.changes
    chosen = choices.before_batch(compiled)
    assert chosen.choice is not None
    assert chosen.choice.number == choices.changes
    frame = frame_of(spark, 99)
    assert found(frame, chosen) == found(frame, fixed)


# -- without Spark


class Gathering:
    """What an accumulator is to a worker."""

    def __init__(self) -> None:
        self.value: ToldCounts = []

    def add(self, some: ToldCounts) -> None:
        self.value += some


def test_a_worker_takes_a_choice_over_and_tells_what_it_has_counted() -> None:
    compiled = compile_subscriptions(QUERIES[:300])
    broker = Broker(profile=True)
    for query in QUERIES[:300]:
        broker.subscribe(query)
    batch = documents(64, 1)
    broker.matches(batch)
    engine = broker._matcher.engine
    statistics = engine.large.statistics
    assert statistics is not None

    counted = statistics.take()

    assert statistics.counts is None
    plans = unpack(replace(compiled, digest="a worker's"))
    other = plans.engine.large.statistics
    assert other is not None
    other.merge(counted)
    assert other.counts is not None
    assert other.counts.documents == 64
    assert other.matching == pytest.approx(counted.matching)

    gathering = Gathering()
    assert other.groups is not None
    made = new_choice(plans.engine.large, other.groups, other.counts, GroupUnitCosts())
    choice = AccessOfBatch(1, made.access, gathering)
    plans.engine.match(read([Document("<m/>")]))  # what is there answers already
    plans.keep_up(choice)
    assert drivers(plans.engine) == {"/m[q > …]"}
    taken_over = plans.engine.large.access
    plans.keep_up(choice)
    assert plans.engine.large.access is taken_over
    plans.tell(choice, "digest")
    ((digest, told),) = gathering.value
    assert digest == "digest"
    assert told.documents == 64 + 1
    again = plans.engine.match(read([Document(text) for text in batch]), whether=True)
    assert [len(each) for each in again.subscriptions()] == [len(ids) for ids in broker.matches(batch)]


def test_a_choice_that_fails_leaves_the_plans_as_they_are(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: object) -> None:
        raise MemoryError("injected")

    compiled = compile_subscriptions(QUERIES[:10])
    monkeypatch.setattr(Choices, "_begin", failing)

    assert Choices(spark).before_batch(compiled) is compiled


@pytest.mark.parametrize("optimizer", ["greedy", "fixed"])
def test_plans_are_compiled_to_be_counted_or_not(optimizer: str) -> None:
    plans = unpack(compile_subscriptions(QUERIES[:10], optimizer=optimizer))  # type: ignore[arg-type]

    assert (plans.adapting is None) is (optimizer == "fixed")
    assert (plans.engine.large.statistics is None) is (optimizer == "fixed")
    plans.engine.match(read([Document("<m/>")]))
    gathering = Gathering()
    plans.tell(None, "digest")
    assert gathering.value == []
