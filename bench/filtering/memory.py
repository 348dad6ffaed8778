"""A number of subscriptions and of documents in, the memory of a process that matches them out; for a child process."""

from __future__ import annotations

from collections.abc import Callable

import psutil

from bench.batches import batches
from bench.brokers import load, numbered
from bench.news import news_documents, news_queries


def make(subscriptions: int, documents: int, predicates: bool) -> Callable[[object], float]:
    """Load, then match; the answer to any question is the resident memory of the whole process in MB."""
    broker = load(numbered(news_queries(subscriptions, predicates=predicates)))
    for batch in batches(news_documents(documents)):
        broker.matches(batch)
    return lambda _: psutil.Process().memory_info().rss / 1e6
