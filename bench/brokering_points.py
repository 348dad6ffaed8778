"""A workload, numbers of queries and ways in, a point for each number out: times, operators and what was delivered.

Every way must deliver what the shared plan delivers, batch for batch; a difference ends the run.
"""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from math import inf
from statistics import mean

from bench.brokering_ways import Delivered, Optimization, Shared, Unshared, Way
from bench.brokering_workload import Feed, Setting, dtd_of, make_distinct_plans, make_plans
from bench.contest import DisagreementError
from weft.documents import NodeTable
from weft.optimizer import Approach
from weft.plans.flwr import Flwr

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
    shared = []
    for size in trial.sizes:
        shared.append(measure_cell(Shared(dtd, plans[:size]), feed, inf, trial.singles))
        advance()
    ways: list[dict[Name, Cell]] = [{} for _ in trial.sizes]
    for name in trial.names:
        way = Unshared(*name, dtd)
        for at, size in enumerate(trial.sizes):
            way.grow(plans[:size])
            part = feed.part(at, len(trial.sizes))
            cell = measure_cell(way, part, seconds, trial.singles, name in trial.profiled)
            check_delivered(f"PathSharing-{name[0]} {name[1]}", cell, shared[at])
            ways[at][name] = cell
            advance()
    numbers = zip(trial.sizes, queries, shared, ways, strict=True)
    return [Point(trial.setting, *numbers_of_one) for numbers_of_one in numbers]


def _plans(trial: Trial) -> tuple[list[Flwr], list[int]]:
    if trial.distinct:
        return make_distinct_plans(trial.setting, trial.sizes)
    return make_plans(trial.setting, max(trial.sizes)), list(trial.sizes)


def measure_cell(way: Way, feed: Feed, seconds: float, singles: bool, profiled: bool = True) -> Cell:
    """Warm up, then batches until the seconds are over, then single documents and the operators if they are wanted."""
    gc.collect()
    way.time(feed.warm_up)
    spent, documents = 0.0, 0
    delivered: dict[int, Delivered] = {}
    for number, table in feed.batches:
        if delivered and spent > seconds:
            break
        took, delivered[number] = way.time(table)
        spent += took
        documents += len(table.documents)
    return Cell(
        1e3 * spent / documents,
        documents,
        delivered,
        1e3 * mean(way.time(table)[0] for table in feed.singles) if singles else None,
        operator_ms(way, feed.profiled) if profiled else {},
        way.operators() if profiled and isinstance(way, Unshared) else Counter(),
    )


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
