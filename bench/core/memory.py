"""Numbers of subscriptions and documents in, the bytes that one label path takes out; for a child process.

They are those that the engine counts itself, to keep to its bounds; beside them by how much the process grew.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from itertools import islice

import psutil

from bench.batches import batches
from bench.brokers import label_paths, load, numbered
from bench.news import news_documents, news_queries

Growth = tuple[int, int, int]  # bytes that are counted, label paths, bytes of the process


def make(subscriptions: int, first: int, more: int) -> Callable[[object], Growth]:
    """Load paths and match the first documents; the answer is by how much more of them make it all grow."""
    broker = load(numbered(news_queries(subscriptions, predicates=False)))
    documents = news_documents(first + more)

    def match(number: int) -> Growth:
        for batch in batches(islice(documents, number)):
            broker.matches(batch)
        gc.collect()
        counted = broker._matcher.engine.memory  # nobody else needs to know
        return counted, label_paths(broker) or 0, psutil.Process().memory_info().rss

    before = match(first)
    after = match(more)
    return lambda _: (after[0] - before[0], after[1] - before[1], after[2] - before[2])
