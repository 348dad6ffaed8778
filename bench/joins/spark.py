"""A number of feed items in, how many a second Spark joins in a batch out."""

from __future__ import annotations

from itertools import combinations, permutations
from statistics import median
from time import perf_counter

import pyarrow as pa
from pyspark.sql import DataFrame

from bench.joins.workload import FEED, make_items, query_text
from weft.errors import ConfigurationError
from weft.spark.compiled import Compiled, compile_subscriptions
from weft.spark.joins import join
from weft.spark.session import session

_SEED = 1
_UNLIKE = (0, 2, 4)  # the leaves that few items have in common: address, title and description
_CHANNEL = (1, 1)  # that very many have in common


def measure_spark(items: int = 5_000, rounds: int = 3) -> float | None:
    """Documents a second on all cores, the median of some rounds after a first one; None if Spark does not start."""
    compiled = compile_subscriptions(make_texts())
    try:
        with session() as spark:
            documents = [(one.id, one.timestamp, one.data) for one in make_items(items, _SEED)]
            names, times, data = zip(*documents, strict=True)
            frame = spark.createDataFrame(pa.table({"document": names, "timestamp": times, "value": data}))
            seconds = [_seconds(frame, compiled) for _ in range(1 + rounds)][1:]
    except ConfigurationError:
        return None
    return items / median(seconds)


def make_texts() -> list[str]:
    """All ways to join one to three leaves, each also together with the channel, which alone would join too much."""
    pairs = [
        tuple(zip(left, right, strict=True))
        for size in range(1, len(_UNLIKE) + 1)
        for left in combinations(_UNLIKE, size)
        for right in permutations(_UNLIKE, size)
    ]
    return [query_text(FEED, joins) for some in pairs for joins in (some, (_CHANNEL, *some))]


def _seconds(frame: DataFrame, compiled: Compiled) -> float:
    start = perf_counter()
    frame.transform(join(compiled)).write.format("noop").mode("overwrite").save()
    return perf_counter() - start
