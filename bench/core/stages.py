"""Queries and documents in, the stages of a document with the microseconds of each out.

Nothing inside Weft is timed, so this holds whatever the stages become. A stage is the difference between two brokers,
or between two passes of one:

    scan           documents into columns, without a broker
    label paths    queries that ask for what no document has, over the scan
    probing        queries with constants that no document has, over that
    verification   the queries themselves, over that
    ids            reading the numbers of what matches; with paths alone also what the results are over label paths
    strings        the ids as strings
    new            the first pass over a document, over the second: label paths, names and values that are new
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from dataclasses import astuple, dataclass, fields
from statistics import median

from bench.brokers import load, numbered
from bench.contest import match_all
from bench.core.scanning import scan_seconds
from bench.core.variants import without_constants, without_operands, without_results
from bench.measure import timed
from weft import Ids

Slices = list[list[bytes]]
Match = Callable[[list[bytes]], list[Ids]]


@dataclass(frozen=True, slots=True)
class Stages:
    """Microseconds a document; None where a kind of query has no such stage. Differences, so that noise shows."""

    scan: float
    label_paths: float
    probing: float | None
    verification: float | None
    ids: float
    strings: float
    new: float

    @property
    def values(self) -> tuple[float | None, ...]:
        """In the order of STAGES."""
        return astuple(self)

    @property
    def total(self) -> float:
        """All of it: a fresh document, until every id is a string."""
        return sum(value for value in self.values if value is not None)


STAGES = tuple(field.name for field in fields(Stages))


@dataclass(frozen=True, slots=True)
class _Passes:
    """Medians of one broker: a first and a second pass over fresh documents, and what reading the ids takes then."""

    first: float
    second: float
    numbers: float
    strings: float


def measure_stages(queries: list[str], predicates: bool, warm_up: list[bytes], slices: Slices) -> Stages:
    """Load one broker after the other, each with all queries or with a variant of them."""
    # A broker that asks for nothing may read less of a document than the scan of all nodes does.
    scan = min(_scan_us(slices), _pass(["/absent"], warm_up, slices).second)
    whole = _pass(queries, warm_up, slices)
    if not predicates:
        labels = _pass(without_results(queries), warm_up, slices).second
        ids = whole.second - labels + whole.numbers
        return Stages(scan, labels - scan, None, None, ids, whole.strings, whole.first - whole.second)
    labels = _pass(without_operands(queries), warm_up, slices).second
    probed = _pass(without_constants(queries), warm_up, slices).second
    return Stages(
        scan,
        labels - scan,
        probed - labels,
        whole.second - probed,
        whole.numbers,
        whole.strings,
        whole.first - whole.second,
    )


def _scan_us(slices: Slices) -> float:
    return 1e6 * median(scan_seconds(documents) / len(documents) for documents in slices)


def _pass(queries: list[str], warm_up: list[bytes], slices: Slices) -> _Passes:
    broker = load(numbered(queries))
    match_all(broker, warm_up)
    gc.collect()
    gc.freeze()  # or the collector would walk what the broker keeps, at the cost of the stage it strikes
    try:
        times = [_times(lambda some: match_all(broker, some), documents) for documents in slices]
    finally:
        gc.unfreeze()
    return _Passes(*(1e6 * median(column) for column in zip(*times, strict=True)))


def _times(match: Match, documents: list[bytes]) -> list[float]:
    first, _ = timed(match, documents)
    second, found = timed(match, documents)
    numbers, _ = timed(lambda some: [ids.numbers for ids in some], found)
    strings, _ = timed(lambda some: [ids.tolist() for ids in some], found)
    return [seconds / len(documents) for seconds in (first, second, numbers, strings)]
