"""Numbers of queries in, what it costs that all of them ask for one constant at one label path out.

Every query has two tests on an item. In the skewed set the first is `[@lang = "en"]` in all of them, in the other set
it has a constant of its own; the second tells the queries apart in both. So the same items match as many queries.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from random import Random
from statistics import mean, median

from bench.brokers import load, numbered
from bench.measure import timed

#: What stands beside the test on the language, and what in an item makes it true.
BESIDE = {
    "value": ('@key = "k{0}"', '<item lang="{1}" key="k{0}"/>'),
    "path": ("k{0}", '<item lang="{1}"><k{0}/></item>'),
}
_ITEMS = 20
_KINDS = 40  # of items: few, so that their label paths are known when time begins to count
_DOCUMENTS = 5  # in each slice
_LEAST = 2  # slices, however long they take


@dataclass(frozen=True, slots=True)
class Skewed:
    """Microseconds a document with the skewed queries and with the others, and the ids of a document of either."""

    skewed_us: float
    distinct_us: float
    ids: float

    @property
    def ratio(self) -> float:
        """How many times as long the skewed queries take."""
        return self.skewed_us / self.distinct_us


def measure_skew(beside: str, queries: int, slices: int, most_seconds: float, seed: int) -> Skewed:
    """Both brokers take every slice in turn, fewer slices if they take too long."""
    brokers = {skewed: load(numbered(skew_queries(beside, queries, skewed))) for skewed in (True, False)}
    for skewed, broker in brokers.items():
        broker.matches(_document(beside, _kinds(queries), skewed))
    seconds: dict[bool, list[float]] = {True: [], False: []}
    numbers: dict[bool, list[int]] = {True: [], False: []}
    for turn in range(slices):
        for skewed, broker in brokers.items():
            some = list(skew_documents(beside, queries, _DOCUMENTS, skewed, f"{seed}/{turn}"))
            spent, found = timed(broker.matches, some)
            seconds[skewed].append(spent)
            numbers[skewed] += map(len, found)
        if turn + 1 >= _LEAST and sum(map(sum, seconds.values())) > most_seconds:
            break
    assert numbers[True] == numbers[False], "the same items match as many queries"
    us = {skewed: 1e6 * median(times) / _DOCUMENTS for skewed, times in seconds.items()}
    return Skewed(us[True], us[False], mean(numbers[True]))


def skew_queries(beside: str, number: int, skewed: bool) -> list[str]:
    """All distinct."""
    test, _ = BESIDE[beside]
    return [f'/list/item[@lang = "{_language(each, skewed)}"][{test.format(each)}]' for each in range(number)]


def skew_documents(beside: str, queries: int, number: int, skewed: bool, seed: str) -> Iterator[bytes]:
    """Documents whose items match one query each; with the same seed those of both sets match the same."""
    rng = Random(seed)
    for _ in range(number):
        yield _document(beside, rng.choices(_kinds(queries), k=_ITEMS), skewed)


def _kinds(queries: int) -> range:
    return range(0, queries, max(1, queries // _KINDS))


def _document(beside: str, items: Iterable[int], skewed: bool) -> bytes:
    _, item = BESIDE[beside]
    return f"<list>{''.join(item.format(each, _language(each, skewed)) for each in items)}</list>".encode()


def _language(query: int, skewed: bool) -> str:
    return "en" if skewed else f"l{query}"
