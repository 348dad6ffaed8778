"""A workload, numbers of queries and ways in, a point for each number out: times, operators and what was delivered.

Every way must deliver what the shared plan delivers, batch for batch; a difference ends the run.
"""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import inf
from statistics import mean

from bench.brokering.ways import Delivered, Optimization, Shared, Unshared, Way
from bench.brokering.workload import Feed, Setting, dtd_of, make_distinct_plans, make_plans
from bench.contest import DisagreementError
from weft.documents import NodeTable
from weft.plans.flwr import Flwr
from weft.reference.pathsharing.optimize import Approach

Name = tuple[Approach, Optimization]


@dataclass(frozen=True, slots=True)
class Cell:
    """One way with one set of queries; times are milliseconds per document."""

    ms: float
    documents: int
    delivered: dict[int, Delivered]  # by the number of the batch
    single_ms: float | None = None  # where each document is a batch of its own
    operators: dict[str, float] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)

    def per_document(self, what: Callable[[Delivered], int]) -> float:
        """How much of something a document gives, in the mean."""
        return sum(map(what, self.delivered.values())) / self.documents


@dataclass(frozen=True, slots=True)
class Point:
    """One set of queries, by the shared plan and by the ways without it."""

    setting: Setting
    plans: int
    queries: int  # that the plans come from
    shared: Cell
    ways: dict[Name, Cell]


@dataclass(frozen=True, slots=True)
class Trial:
    """What to measure: the workload, the numbers of queries, and the ways; of some of these the operators too."""

    setting: Setting
    sizes: tuple[int, ...]
    names: tuple[Name, ...]
    profiled: tuple[Name, ...] = ()
    singles: bool = False
    distinct: bool = False  # whether the sizes are of distinct plans and not of distinct queries


def measure_points(trial: Trial, feed: Feed, seconds: float, advance: Callable[[], object]) -> list[Point]:
    """The shared plan anew for each size; the others grow, and get other documents at each size.

    The others are measured on as many batches as they do in so many seconds, but at least on one.
    """
    plans, queries = _plans(trial)
    dtd = dtd_of(trial.setting)
    ways = {name: Unshared(*name, dtd) for name in trial.names}
    points = []
    for at, size in enumerate(trial.sizes):
        with collector_off():
            entrants = [Entrant(Shared(dtd, plans[:size]), feed, inf, trial.singles, True)]
            part = feed.part(at, len(trial.sizes))
            for name, way in ways.items():
                way.grow(plans[:size])
                entrants.append(Entrant(way, part, seconds, trial.singles, name in trial.profiled))
        measured = hold_rounds(entrants)
        cells = dict(zip(ways, measured[1:], strict=True))
        for (approach, optimization), cell in cells.items():
            check_delivered(f"{approach} {optimization}", cell, measured[0])
        points.append(Point(trial.setting, size, queries[at], measured[0], cells))
        advance()
    return points


def _plans(trial: Trial) -> tuple[list[Flwr], list[int]]:
    with collector_off():
        if trial.distinct:
            return make_distinct_plans(trial.setting, trial.sizes)
        return make_plans(trial.setting, max(trial.sizes)), list(trial.sizes)


@contextmanager
def collector_off() -> Iterator[None]:
    """Loading makes much and drops little: the collector would look at all of it again and again."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


@dataclass(slots=True)
class Entrant:
    """A way, what it gets, and how it did so far."""

    way: Way
    feed: Feed
    seconds: float  # after which it gets no more batches
    singles: bool
    profiled: bool
    spent: float = 0.0
    documents: int = 0
    delivered: dict[int, Delivered] = field(default_factory=dict)

    def take(self, place: int) -> None:
        """The batch at a place, if there is one, and time for it."""
        if place < len(self.feed.batches) and self.spent <= self.seconds:
            number, table = self.feed.batches[place]
            took, self.delivered[number] = self.way.time(table)
            self.spent += took
            self.documents += len(table.documents)

    def cell(self) -> Cell:
        """The times, after single documents and the operators if they are wanted."""
        way, feed = self.way, self.feed
        return Cell(
            1e3 * self.spent / self.documents,
            self.documents,
            self.delivered,
            1e3 * mean(way.time(table)[0] for table in feed.singles) if self.singles else None,
            operator_ms(way, feed.profiled) if self.profiled else {},
            way.operators() if self.profiled and isinstance(way, Unshared) else Counter(),
        )


def hold_rounds(entrants: list[Entrant]) -> list[Cell]:
    """In each round a batch for everyone: a slow moment of the machine hits all alike."""
    gc.collect()
    gc.freeze()  # or the collector would walk all plans, at the cost of whom it strikes
    try:
        for entrant in entrants:
            entrant.way.time(entrant.feed.warm_up)
        for place in range(max(len(entrant.feed.batches) for entrant in entrants)):
            for entrant in entrants:
                entrant.take(place)
        return [entrant.cell() for entrant in entrants]
    finally:
        gc.unfreeze()


def operator_ms(way: Way, tables: tuple[NodeTable, ...]) -> dict[str, float]:
    """Milliseconds of processor time per document by operator.

    The profile reads the clock, which on a busy machine runs while others have their turn; so its seconds are scaled to
    the processor time of the whole.
    """
    way.profile.clear()
    way.profile.enabled = True
    spent = sum(way.time(table)[0] for table in tables)
    way.profile.enabled = False
    scale = 1e3 * spent / sum(way.profile.seconds.values()) / sum(len(table.documents) for table in tables)
    return {operator: scale * seconds for operator, seconds in way.profile.seconds.items()}


def check_delivered(name: str, cell: Cell, shared: Cell) -> None:
    """Raise DisagreementError unless a way delivers as much as the shared plan on each batch that both have seen."""
    for number, found in cell.delivered.items():
        if found != shared.delivered[number]:
            raise DisagreementError(
                f"{name} and the shared plan differ on batch {number}: {found} and {shared.delivered[number]}"
            )
