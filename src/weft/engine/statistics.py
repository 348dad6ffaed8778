"""Counted batches in, what happens in a document for each test group out: aged, so that what was long ago counts less.

A batch is counted now and then, so that counting takes a small share of the time that matching takes. What was never
counted is None, and not zero: who chooses must not take what it does not know for rare.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from weft.columns.integers import Ints, Longs
from weft.documents.table import NodeTable
from weft.engine.access import TestGroups, group_parts
from weft.engine.paths.bounds import Bounds
from weft.engine.paths.labels import LabelPaths
from weft.engine.shared.plan import SharedPlan
from weft.kernel.codes import ASKED, MET, WORKED
from weft.kernel.evaluator import Evaluator

Amounts = NDArray[np.float64]
MOST_SHARE = 0.03  # of the time of matching that statistics may take
_HALF = 512  # documents after which what was counted before has half of its weight
#: Seconds that it is taken to take at first: for each node of the batch, each node of the plan, and each state.
_A_NODE, _A_PLAN_NODE, _A_STATE = 1e-7, 3e-7, 5e-7
_A_PATH = 200  # bytes that the places of a label path take beside their numbers
_SHARE_OF_BOUNDS = 1  # of 16 parts: what label paths may take here


@dataclass(frozen=True, slots=True, eq=False)
class GroupCounts:
    """What a document brings on average, by group; `documents` is how many it is the average of."""

    documents: float
    rows: Amounts  # nodes at which a group's tests may be asked for
    values: Amounts  # nodes that its paths lead to
    walked: Amounts  # nodes that are gone over from one of the rows
    asked: Amounts
    worked: Amounts  # what was asked for and not known yet
    met: Amounts
    came: NDArray[np.float32]  # by node of the plan how often it was a candidate
    seconds: float  # that evaluating a document took


@dataclass(frozen=True, slots=True, eq=False)
class CountedElsewhere:
    """What one engine has counted for another one with the same plan: sums, and the seconds that matching took."""

    sums: dict[str, NDArray[np.floating]]
    candidates: tuple[Ints, NDArray[np.float32]]  # the nodes that were candidates, and how often
    weight: float  # documents that the sums are of
    batches: int
    documents: int
    matching: float
    spent: float


class GroupStatistics:
    """What was counted of one shared plan since it was frozen."""

    def __init__(
        self,
        shared: SharedPlan,
        bounds: Bounds,
        always: bool = False,
        clock: Callable[[], float] = time.thread_time,
    ) -> None:
        """With `always` every batch is counted, whatever that takes."""
        self._shared, self._bounds, self._always, self._clock = shared, bounds, always, clock
        self.matching = self.spent = 0.0  # seconds: of matching, and of counting and choosing beside it
        self.migrating = 0.0  # seconds: of making what another access needs
        self.counted = self.documents = 0  # batches that were counted; documents that were matched
        self.failures = 0  # how often counting, or choosing, failed
        self._each: float | None = None  # seconds that counting took last, for each node of the batch
        self._sums: dict[str, NDArray[np.floating]] | None = None
        self._documents = 0.0
        self._told = 0.0, 0.0, 0.0  # what of `matching`, `spent` and `documents` was taken
        self.groups: TestGroups | None = None  # made when the first batch is counted

    def __getstate__(self) -> dict[str, object]:
        """What documents have brought stays behind."""
        names = ("_shared", "_bounds", "_always", "_clock")
        return {name: self.__dict__[name] for name in names}

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__init__(**{name.lstrip("_"): each for name, each in state.items()})  # type: ignore[misc]

    @property
    def counts(self) -> GroupCounts | None:
        """What a document brings; None as long as nothing was counted."""
        if self._sums is None:
            return None
        averages = {name: column / self._documents for name, column in self._sums.items()}
        seconds = float(averages.pop("seconds")[0])
        averages["walked"] = averages["walked"] / np.maximum(averages["rows"], 1e-9)
        return GroupCounts(documents=self._documents, seconds=seconds, **averages)  # type: ignore[arg-type]

    @property
    def share(self) -> float:
        """The time of counting, choosing and changing over that of matching."""
        return (self.spent + self.migrating) / self.matching if self.matching else 0.0

    def took(self, seconds: float, documents: int) -> None:
        """So many documents were matched in so much time."""
        self.matching += seconds
        self.documents += documents

    def is_due(self, table: NodeTable) -> bool:
        """Whether a batch may be counted; most of the time is left to choosing, and to changing."""
        if self._each is None:
            seconds = _A_NODE * table.nodes + _A_PLAN_NODE * len(self._shared) + _A_STATE * len(self._shared.states)
        else:
            seconds = self._each * table.nodes
        return self.can_take(seconds, MOST_SHARE / 3)

    def can_take(self, seconds: float, share: float = MOST_SHARE) -> bool:
        """Whether statistics, and choosing by them, may take so long now."""
        return self._always or self.spent + self.migrating + seconds <= share * self.matching

    def anew(self) -> GroupStatistics:
        """The same for a plan that was frozen again: nothing is counted, and what it took is remembered."""
        fresh = GroupStatistics(self._shared, self._bounds, self._always, self._clock)
        fresh.matching, fresh.spent, fresh.migrating = self.matching, self.spent, self.migrating
        fresh.documents, fresh._told = self.documents, self._told
        return fresh

    def take(self) -> CountedElsewhere:
        """What was counted since it was taken last; it begins anew, with what counting needs in place."""
        sums, self._sums = dict(self._sums or {}), None
        came = sums.pop("came", np.zeros(0, np.float32)).astype(np.float32)
        nodes = np.flatnonzero(came).astype(np.int32)
        times = self.matching - self._told[0], self.spent - self._told[1]
        documents = self.documents - int(self._told[2])
        self._told = self.matching, self.spent, self.documents
        taken = CountedElsewhere(sums, (nodes, came[nodes]), self._documents, self.counted, documents, *times)
        self.counted, self._documents = 0, 0.0
        return taken

    def merge(self, other: CountedElsewhere) -> None:
        """Take in what was counted elsewhere."""
        self.matching, self.spent = self.matching + other.matching, self.spent + other.spent
        self.documents += other.documents
        if not other.batches:
            return
        self.groups = self.groups or self._begin()
        came = np.zeros(len(self._shared), np.float32)
        came[other.candidates[0]] = other.candidates[1]
        self._age({**other.sums, "came": came}, other.weight)
        self.counted += other.batches

    @contextmanager
    def aside(self) -> Iterator[None]:
        """What runs here is not matching: its time is counted, and where it fails it disturbs no answer.

        What was counted is dropped then, and counting begins anew.
        """
        start = self._clock()
        try:
            yield
        except Exception:
            self.groups = self._sums = None
            self.counted, self._documents = 0, 0.0
            self.failures += 1
        finally:
            self.spent += self._clock() - start

    @contextmanager
    def counting(self, evaluator: Evaluator, table: NodeTable) -> Iterator[None]:
        """Count what evaluating a batch does."""
        spent = self.spent
        with self.aside():
            self.groups = self.groups or self._begin()
            evaluator.count(self.groups.of_node)
        began = self._clock()
        try:
            yield
            seconds = self._clock() - began
            if self.groups is not None:
                with self.aside():
                    self._add(table, *evaluator.counted(), seconds)
                    self.counted += 1
        finally:
            evaluator.stop()
            took = self.spent - spent
            self._each = took / table.nodes
            self.matching -= took  # it runs inside of what is timed

    def _begin(self) -> TestGroups:
        """The groups, and label paths of their own: those that serve matching have no states of what is out."""
        groups = group_parts(self._shared)
        self._ends, places = np.unique(np.concatenate([groups.above, groups.below]), return_inverse=True)
        self._above, self._below = places.reshape(2, -1)
        is_end = np.zeros(len(self._shared.states), bool)
        is_end[self._ends] = True
        place = np.full(is_end.size, -1, np.int32)
        place[self._ends] = np.arange(self._ends.size)
        bounds = self._bounds.share(_SHARE_OF_BOUNDS)
        self._paths: LabelPaths[Ints] = LabelPaths(self._shared.states, partial(_places, place), bounds)
        self._paths.begin(np.full(is_end.size, -1, np.int32), is_end)
        return groups

    def _add(self, table: NodeTable, came: Ints, counts: Longs, seconds: float) -> None:
        assert self.groups is not None
        at, is_deep = self._by_state(table), self.groups.is_deep
        new: dict[str, NDArray[np.floating]] = {
            "rows": at[self._above, 0],
            "values": at[self._below, 0],
            "walked": np.where(is_deep, at[self._above, 2], at[self._above, 1]),
            "asked": _padded(counts[:, ASKED], len(self.groups)),
            "worked": _padded(counts[:, WORKED], len(self.groups)),
            "met": _padded(counts[:, MET], len(self.groups)),
            "came": came.astype(np.float32),
            "seconds": np.array([seconds]),
        }
        self._age(new, len(table.documents))

    def _age(self, new: dict[str, NDArray[np.floating]], documents: float) -> None:
        """Add what so many documents have brought; what was known counts less then."""
        keep = 0.5 ** (documents / _HALF)
        self._documents = self._documents * keep + documents
        old = self._sums
        self._sums = new if old is None else {name: old[name] * keep + column for name, column in new.items()}

    def _by_state(self, table: NodeTable) -> Amounts:
        """At each state of a group: its nodes, those right below them, and all elements below them."""
        mark = len(self._paths)
        labels = self._paths.of(table)
        elements = np.arange(table.elements)
        kids = np.bincount(table.parent[table.parent >= 0], minlength=table.nodes)
        below = np.append(table.last[: table.elements] - elements, np.zeros(table.nodes - table.elements))
        known = labels >= 0
        sums = np.zeros((len(self._paths), 3))
        for column, weights in enumerate((None, kids[known], below[known])):
            sums[:, column] = np.bincount(labels[known], weights, minlength=len(sums))
        present = np.flatnonzero(sums[:, 0])
        places = [self._paths.plans[label] for label in present.tolist()]
        which = np.repeat(present, [some.size for some in places])
        flat = np.concatenate([np.zeros(0, np.int32), *places])
        found = [np.bincount(flat, sums[which, column], self._ends.size) for column in range(3)]
        self._paths.finish_batch(mark)
        return np.stack(found, axis=1)


def _padded(column: Longs, size: int) -> Amounts:
    """As wide as there are groups: those with the largest numbers may have no nodes that were counted."""
    return np.append(column, np.zeros(size - column.size, np.int64)).astype(np.float64)


def _places(place: Ints, _: int, reached: Ints) -> tuple[Ints, int]:
    """The places of the states among those of groups that a label path reaches, and how many bytes they take."""
    places = place[reached]
    places = places[places >= 0]
    return places, places.nbytes + _A_PATH
