"""Numbers of subscriptions in, for each the compiled plan's size and times, and documents a second on Spark out."""

from __future__ import annotations

import gc
import pickle
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from bench.measure import timed
from bench.news import news_queries
from bench.pipeline.session import Session, load, time_deliver, time_match
from weft.spark.compiled import compile_subscriptions

_TABLES = ("warm", "matched", "delivered")


@dataclass(frozen=True, slots=True)
class SizePoint:
    """One number of subscriptions; documents a second on all cores, times in seconds."""

    subscriptions: int
    documents: int
    match: float
    deliver: float
    plan_bytes: int
    compile_seconds: float
    unpack_seconds: float


def measure_sizes(
    session: Session, documents: dict[int, int], sets: tuple[Path, Path, Path], advance: Callable[[], object]
) -> list[SizePoint]:
    """A point for each number of subscriptions, with so many documents of each set: to warm up, match and deliver."""
    queries = news_queries(max(documents), predicates=True)
    points = []
    loaded = None
    for size, number in documents.items():
        if number != loaded:
            _load(session, sets, number)
            loaded = number
        points.append(_measure_size(session, queries[:size], number))
        advance()
    return points


def _load(session: Session, sets: tuple[Path, Path, Path], number: int) -> None:
    """Fewer documents take the place of those that were loaded before."""
    for table, path in zip(_TABLES, sets, strict=True):
        session.do(partial(load, table, path, rows=number))


def _measure_size(session: Session, queries: list[str], documents: int) -> SizePoint:
    gc.collect()
    compiling, compiled = timed(compile_subscriptions, queries)
    unpacking, _ = timed(pickle.loads, compiled.payload)
    warm, matched, delivered = _TABLES
    session.do(partial(time_match, compiled, warm))
    matching = session.do(partial(time_match, compiled, matched))
    delivering = session.do(partial(time_deliver, compiled, delivered))
    return SizePoint(
        len(queries),
        documents,
        documents / matching,
        documents / delivering,
        len(compiled.payload),
        compiling,
        unpacking,
    )
