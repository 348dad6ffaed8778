"""Numbers of queries and of feed items in, the memory that each item takes in the state out; for a child process."""

from __future__ import annotations

import gc
from collections.abc import Callable

import psutil

from bench.joins.ways import Fast
from bench.joins.workload import FEED, make_items, make_queries
from weft.documents import Document, read

_BATCH = 200
_BEFORE = 2_000  # documents, so that what grows only once has grown


def make(queries: int, documents: int) -> Callable[[object], float]:
    """The answer to any question is the bytes by which the process has grown, a document of the state."""
    fast = Fast(make_queries(FEED, queries, 1))
    batch: list[Document] = []
    before = 0
    for number, document in enumerate(make_items(_BEFORE + documents, 1), start=1):
        batch.append(document)
        if len(batch) == _BATCH or number == _BEFORE + documents:
            table = read(batch)
            fast.join(table.documents, fast.witness(table))
            batch = []
        if number == _BEFORE:
            before = _resident()
    grown = (_resident() - before) / documents
    return lambda _: grown


def _resident() -> int:
    gc.collect()
    resident: int = psutil.Process().memory_info().rss
    return resident
