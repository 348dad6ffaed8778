"""XSCL on Spark: batch and stream give the messages of the embedded joins, and find what the nested loops find."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import Phase, given, seed, settings
from hypothesis import strategies as st
from pyspark.sql import DataFrame, SparkSession

from weft import Broker, Document
from weft.errors import ConfigurationError
from weft.languages.xscl import parse
from weft.spark import compile_subscriptions, deliver, join, match
from weft.subscriptions import Subscription
from xscl_oracle import oracle
from xscl_strategies import document_lists, queries

pytestmark = pytest.mark.slow
Row = tuple[str, tuple[str, ...], str]  # subscription, documents, message
Drawn = TypeVar("Drawn")
SCHEMA = "document string, stream string, timestamp double, value binary"


def drawn(strategy: st.SearchStrategy[Drawn], number: int, start: int) -> list[Drawn]:
    """What Hypothesis draws, the same every time."""
    found: list[Drawn] = []

    @seed(start)
    @settings(max_examples=number, database=None, phases=[Phase.generate])
    @given(strategy)
    def collect(example: Drawn) -> None:
        found.append(example)

    collect()
    return found


@cache
def documents() -> list[Document]:
    """Documents in the order of their timestamps; many have the same, or nearly."""
    made: list[Document] = []
    for some in drawn(document_lists(3, 6), 12, 1):
        begin = (made[-1].timestamp or 0.0) if made else 1_000.0
        made += [
            replace(each, id=f"d{len(made) + at:03d}", timestamp=begin + (each.timestamp or 0.0) / 2)
            for at, each in enumerate(some)
        ]
    return made


@cache
def texts() -> list[str]:
    """Queries of all kinds."""
    return [*drawn(queries(), 100, 2), *drawn(queries(1, 1), 10, 3)]


def embedded(subscriptions: Sequence[str], given: Sequence[Document]) -> list[Row]:
    broker = Broker()
    for number, query in enumerate(subscriptions, start=1):
        broker.subscribe(query, id=str(number))
    made = [*broker.publish(given), *broker.advance()]
    return sorted((each.subscription, each.documents or (each.document,), each.text) for each in made)


def frame_of(spark: SparkSession, given: Sequence[Document]) -> DataFrame:
    rows = [(each.id, each.stream, each.timestamp, bytes(each.data)) for each in given]
    return spark.createDataFrame(rows, SCHEMA)


def as_rows(frame: DataFrame) -> list[Row]:
    return sorted((row.subscription, tuple(row.documents), row.message) for row in frame.collect())


def test_a_batch_on_spark_finds_what_nested_loops_find_and_writes_what_the_broker_writes(spark: SparkSession) -> None:
    plans = [parse(text) for text in texts()]
    frame = frame_of(spark, documents()[::-1]).repartition(3)

    found = as_rows(frame.transform(join([Subscription(str(at), text, "xscl") for at, text in enumerate(texts(), 1)])))

    assert found == embedded(texts(), documents())
    expected = [Counter(one.documents for one in some) for some in oracle(plans, documents())]
    assert [Counter(row[1] for row in found if row[0] == str(at)) for at in range(1, len(plans) + 1)] == expected
