"""Equality queries whose constants no document has in, what they cost a document over the scan out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from statistics import median

from bench.batches import BATCH
from bench.brokers import load, numbered
from bench.contest import match_all
from bench.core.scanning import scan_seconds
from bench.core.variants import without_constants
from bench.measure import timed
from bench.news import WORDS
from weft.workload import generate_queries, shipped


@dataclass(frozen=True, slots=True)
class Untouched:
    """Microseconds a document: all, and the scan of the same documents alone."""

    all_us: float
    scan_us: float

    @property
    def over_scan_us(self) -> float:
        """What comes on top of the scan."""
        return self.all_us - self.scan_us


def equality_queries(number: int, seed: int = 2) -> list[str]:
    """News paths with one test each, an equality with a constant of its own that no document has."""
    drawn = generate_queries(
        shipped("news"), number=2 * number, depth=6, predicates=1, words=WORDS, seed=seed, distinct=False
    )
    return without_constants([query for query in drawn if ' = "' in query][:number])


def measure_untouched(queries: int, documents: Iterator[bytes], warm_up: int, slices: int) -> Untouched:
    """Both take every slice in turn."""
    broker = load(numbered(equality_queries(queries)))
    match_all(broker, list(islice(documents, warm_up)))
    whole, scan = [], []
    for _ in range(slices):
        some = list(islice(documents, BATCH))
        scan.append(scan_seconds(some) / len(some))
        spent, found = timed(broker.matches, some)
        assert not any(map(len, found)), "no document has the constants"
        whole.append(spent / len(some))
    return Untouched(1e6 * median(whole), 1e6 * median(scan))
