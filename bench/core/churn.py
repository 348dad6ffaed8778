"""A broker under change in, the longest that a single call took out.

Subscribe one, unsubscribe one, match one document, again and again: whatever is put off must be done at some time. What
Python's garbage collector takes inside a call counts, as it does for whoever waits for the call; so the broker is in a
child process, where there is nothing else to walk.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from statistics import median
from time import thread_time

from bench.brokers import load, numbered
from bench.contest import match_all
from bench.news import news_documents, news_queries
from weft import Broker

CALLS = ("subscribe", "unsubscribe", "match")


@dataclass(frozen=True, slots=True)
class Churn:
    """Milliseconds of this thread's processor time: all calls by kind, and what the garbage collector took of them."""

    milliseconds: dict[str, list[float]]
    collections: list[float]

    def longest(self, call: str) -> float:
        """The longest of a kind."""
        return max(self.milliseconds[call])

    def usual(self, call: str) -> float:
        """The median of a kind."""
        return median(self.milliseconds[call])

    @property
    def longest_pause(self) -> float:
        """The longest of all."""
        return max(map(self.longest, CALLS))

    @property
    def longest_collection(self) -> float:
        """The longest that the garbage collector took at once."""
        return max(self.collections, default=0.0)

    @property
    def rounds(self) -> int:
        """How often each was called."""
        return len(self.milliseconds["match"])


def make(subscriptions: int, predicates: bool, warm_up: int, rounds: int, seed: int) -> Callable[[object], Churn]:
    """A loaded broker that has seen documents; the answer is what it takes to change it."""
    broker = load(numbered(news_queries(subscriptions, predicates=predicates)))
    documents = news_documents(warm_up + rounds, seed)
    match_all(broker, list(islice(documents, warm_up)))
    return lambda _: change(broker, rounds, documents, seed)


def change(broker: Broker, rounds: int, documents: Iterator[bytes], seed: int) -> Churn:
    """Paths and queries with predicates come in turn, and as many of the first ones go."""
    kinds = (news_queries(-(-rounds // 2), predicates=predicates, seed=seed) for predicates in (False, True))
    added = [query for pair in zip(*kinds, strict=True) for query in pair][:rounds]
    removed = [str(number * len(broker) // rounds) for number in range(rounds)]
    return measure_churn(broker, added, removed, documents)


def measure_churn(broker: Broker, added: list[str], removed: list[str], documents: Iterator[bytes]) -> Churn:
    """As many rounds as there are queries to add and ids to remove."""
    found: dict[str, list[float]] = {call: [] for call in CALLS}

    def add(query: str, name: str) -> None:
        broker.subscribe(query, id=name)

    with _collections() as collections:
        for number, (query, gone) in enumerate(zip(added, removed, strict=True)):
            found["subscribe"].append(_milliseconds(add, query, f"added {number}"))
            found["unsubscribe"].append(_milliseconds(broker.unsubscribe, gone))
            found["match"].append(_milliseconds(broker.matches, next(documents)))
    return Churn(found, collections)


@contextmanager
def _collections() -> Iterator[list[float]]:
    """The milliseconds of every collection inside, as they come."""
    found: list[float] = []
    started = thread_time()

    def note(phase: str, _: object) -> None:
        nonlocal started
        if phase == "start":
            started = thread_time()
        else:
            found.append(1e3 * (thread_time() - started))

    gc.callbacks.append(note)
    try:
        yield found
    finally:
        gc.callbacks.remove(note)


def _milliseconds(call: Callable[..., object], *arguments: object) -> float:
    started = thread_time()
    call(*arguments)
    return 1e3 * (thread_time() - started)
