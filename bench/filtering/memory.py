"""A number of subscriptions and of documents in, the memory of a process that matches them out; for a child process."""

from __future__ import annotations

from collections.abc import Callable

import psutil

from bench.batches import batches
from bench.news import news_documents, news_queries
from weft import Broker


def make(subscriptions: int, documents: int) -> Callable[[object], float]:
    """Load, then match; the answer to any question is the resident memory of the whole process in MB."""
    broker = Broker()
    for number, query in enumerate(news_queries(subscriptions, predicates=False)):
        broker.subscribe(query, id=str(number))
    for batch in batches(news_documents(documents)):
        broker.matches(batch)
    return lambda _: psutil.Process().memory_info().rss / 1e6
