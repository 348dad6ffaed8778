"""Plans and batches in, the time until all groups are there, and how many there are, out: by the shared plan, and by a
plan for each query."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np

from bench.measure import timed
from weft.documents import Dtd, NodeTable
from weft.engine import Engine
from weft.engine.messages.groups import Groups
from weft.engine.profile import Profile
from weft.plans.flwr import Flwr
from weft.reference.pathsharing.operators import BindingsPlan, DupElim, JoinedList, ReturnSelect, Semijoin, WhereFilter
from weft.reference.pathsharing.optimize import Approach
from weft.reference.pathsharing.pathsharing import PathSharing, PathSharingRun
from weft.reference.pathsharing.plan_sharing import PlanSharing

Optimization = Literal["NoOpt", "Opt(q)", "Opt(q+dtd)"]
APPROACHES: tuple[Approach, ...] = ("F", "FW", "FWR")
OPTIMIZATIONS: tuple[Optimization, ...] = ("NoOpt", "Opt(q)", "Opt(q+dtd)")
REST = "all else"


@dataclass(frozen=True, slots=True)
class Delivered:
    """What all queries get of a batch: groups, and the messages that they make.

    Lists are not counted: two that a DTD shows to be the same are one, and not every way looks into the DTD.
    """

    groups: int
    messages: int


class Way(Protocol):
    """A way to the groups."""

    profile: Profile

    def time(self, table: NodeTable) -> tuple[float, Delivered]:
        """The seconds until the groups of a batch are there, and what is delivered; only the first is timed."""


class Shared:
    """All plans merged into one, which is Weft's way."""

    def __init__(self, dtd: Dtd, plans: Iterable[Flwr]) -> None:
        self.profile = Profile()
        engine = Engine(dtd=dtd, profile=self.profile)
        for number, plan in enumerate(plans):
            engine.add(number, plan)
        self._index = engine.large  # there is nothing in the small one, because no document has come yet
        shapes = range(len(self._index.built.shapes))
        self._sharers = np.array([len(self._index.built.subscriptions_of(shape)) for shape in shapes], np.int64)

    def time(self, table: NodeTable) -> tuple[float, Delivered]:
        """Queries that differ in nothing have their groups in common, but they are counted for each."""
        seconds, groups = timed(self._match, table)
        keys = groups.shape * np.int64(len(table.documents)) + table.node_document[groups.binding]
        messages = self._sharers[np.unique(keys) // len(table.documents)]
        return seconds, Delivered(int(self._sharers[groups.shape].sum()), int(messages.sum()))

    def _match(self, table: NodeTable) -> Groups:
        with self.profile(REST):  # what no operator inside counts for itself
            return self._index.match(table).groups


class Unshared:
    """The paper's ways: a plan for each query, so that path matching alone is shared, or merged plans."""

    def __init__(self, approach: Approach, optimization: Optimization, dtd: Dtd) -> None:
        self.profile = Profile()
        known = dtd if optimization == "Opt(q+dtd)" else None
        optimized = optimization != "NoOpt"
        if approach == "PlanSharing":
            self._engine: PathSharing = PlanSharing(known, optimized, profile=self.profile)
        else:
            self._engine = PathSharing(approach, known, optimized, profile=self.profile)

    def grow(self, plans: Sequence[Flwr]) -> None:
        """Take in those of the plans that come after the ones that are there."""
        for number in range(len(self._engine.queries), len(plans)):
            self._engine.add(number, plans[number])

    def time(self, table: NodeTable) -> tuple[float, Delivered]:
        """The groups of each query, one after the other."""
        seconds, run = timed(self._match, table)
        bindings = [found[:, 0] for found, _ in run.groups.values()]
        messages = sum(np.unique(table.node_document[rows]).size for rows in bindings)
        return seconds, Delivered(sum(rows.size for rows in bindings), messages)

    def operators(self) -> Counter[str]:
        """How many operators of each sort the plans have."""
        return Counter(name for query in self._engine.queries.values() for name in _operators(query.physical))

    def _match(self, table: NodeTable) -> PathSharingRun:
        with self.profile(REST):
            return self._engine.match(table)


def _operators(plan: ReturnSelect) -> list[str]:
    return [
        *_of_bindings(plan.input),
        *(f"outer join by {entry.by}" for entry in plan.lists if isinstance(entry, JoinedList)),
        *("DupElim" for entry in plan.lists if isinstance(entry, JoinedList) and isinstance(entry.input, DupElim)),
    ]


def _of_bindings(plan: BindingsPlan) -> list[str]:
    match plan:
        case Semijoin(left=left, by=by):
            return [f"semijoin by {by}", *_of_bindings(left)]
        case WhereFilter(input=inner):
            return _of_bindings(inner)
        case DupElim():
            return ["DupElim"]
        case _:
            return []
