"""An engine and what was counted of it in, another access for it out, when that pays: between batches, in slices.

A change is made where what it would have spared since it was first seen is more than what it takes, so that in the end
changing costs no more than not having changed. A change that did not help makes the next one wait twice as long.
"""

from __future__ import annotations

from collections.abc import Iterator
from time import thread_time
from typing import Literal, get_args
from weakref import ref

from weft.engine.access import TestGroups, can_be_in, fixed_access
from weft.engine.engine import Engine
from weft.engine.index import Index
from weft.engine.statistics import GroupCounts
from weft.errors import ConfigurationError
from weft.optimizer.calibration import measured
from weft.optimizer.group_costs import GroupUnitCosts
from weft.optimizer.groups import AccessChoice, GroupChoice

#: How a broker retrieves the parts of conditions: by what documents bring, or by their kind.
Retrieval = Literal["greedy", "fixed"]
_SEARCHES = ("min-exhaust", "fast-prune")  # of plans of one query
_SLICE = 0.002  # seconds of the processor for choosing in a call
_SHARE = 0.023  # of the time that counting, choosing and changing may take before a slice; changes come on top
_MEASURING = 0.1  # seconds that it takes to find out the unit costs
_LEAST_GAIN = 0.06  # of the time that evaluating a document takes
_A_NODE = 1.2e-6  # seconds that freezing takes for a node of the shared plan
_EVERY = 4  # batches that are counted before a choice is made, and between choices


def check_retrieval(name: str) -> None:
    """Raise ConfigurationError unless very many queries can be retrieved so."""
    if name in _SEARCHES:
        reason = "which searches for the plan of one query; very many are chosen for condition by condition"
        raise ConfigurationError(f"optimizer: expected 'greedy' or 'fixed', found {name!r}, {reason}")
    if name not in get_args(Retrieval):
        raise ConfigurationError(f"optimizer: expected 'greedy' or 'fixed', found {name!r}")


class Adapting:
    """The choices for one engine after the other."""

    def __init__(self, units: GroupUnitCosts | None = None) -> None:
        self._units = units
        self.changes = 0
        self.verdict = "no other access was chosen yet"  # what came of the last choice, in words
        self.choice: AccessChoice | None = None  # the last one
        self._begin(None)

    def _begin(self, index: Index | None) -> None:
        """Another plan."""
        self._index = None if index is None else ref(index)
        self._steps: Iterator[AccessChoice | None] | None = None
        self._groups: TestGroups | None = None  # of what was counted when the last choice was begun
        self._looked = 0  # batches that were counted when the last choice was made
        self._missed = 0.0  # seconds that a change would have spared since it was first seen
        self._documents = 0.0
        self._reluctance = 1.0
        self._before: float | None = None  # seconds a document before the last change

    def __getstate__(self) -> dict[str, object]:
        """What documents have brought stays behind."""
        return {"_units": self._units}

    def __setstate__(self, state: dict[str, GroupUnitCosts | None]) -> None:
        self.__init__(state["_units"])  # type: ignore[misc]

    def is_due(self, engine: Engine) -> bool:
        """Whether something is to be done before the next batch, which must come alone."""
        if not engine.can_retrieve:
            return False
        statistics = engine.large.statistics
        if statistics is None or statistics.counted == 0:
            return False
        if self._groups is not statistics.groups:
            return statistics.counted >= _EVERY
        if self._steps is not None:
            return statistics.can_take(2 * _SLICE, _SHARE)
        return statistics.counted - self._looked >= _EVERY and statistics.can_take(2 * _SLICE, _SHARE)

    def keep_up(self, engine: Engine) -> None:
        """A slice of choosing, and the change that follows from it."""
        if not self.is_due(engine):
            return
        statistics = engine.large.statistics
        assert statistics is not None, "what is due was counted"
        with statistics.aside():
            try:
                self._take_slice(engine)
            except BaseException:
                self._begin(None)
                raise

    def _take_slice(self, engine: Engine) -> None:
        index = engine.large
        if self._index is None or self._index() is not index:
            self._begin(index)
        statistics = index.statistics
        assert statistics is not None, "what is due was counted"
        start = thread_time()
        if self._groups is not statistics.groups or self._steps is None:
            self._groups, self._looked = statistics.groups, statistics.counted
            self._steps = self._choose(index)
        for choice in self._steps:
            if choice is not None:
                self._steps = None
                self._decide(engine, choice)
                break
            if thread_time() - start > _SLICE:
                break

    def _choose(self, index: Index) -> Iterator[AccessChoice | None]:
        statistics = index.statistics
        assert statistics is not None, "what is due was counted"
        groups, counts = statistics.groups, statistics.counts
        assert groups is not None, "what was counted has groups"
        assert counts is not None
        if self._units is None and statistics.can_take(_MEASURING):
            self._units = measured()
            yield None
        yield from choosing(index, groups, counts, self.units)

    @property
    def units(self) -> GroupUnitCosts:
        """The unit costs of this machine or, until there was time to measure these, those of another."""
        return self._units or GroupUnitCosts()

    def _decide(self, engine: Engine, choice: AccessChoice) -> None:
        """Change if it pays."""
        self.choice = choice
        statistics = engine.large.statistics
        assert statistics is not None, "what is due was counted"
        counts = statistics.counts
        assert counts is not None
        if self._before is not None:  # what the last change brought
            self._reluctance = self._reluctance * 2 if counts.seconds > self._before else max(self._reluctance / 2, 1)
            self._before = None
        scale = min(max(counts.seconds / choice.before, 0.25), 4.0) if choice.before > 0 else 1.0
        gain = (choice.before - choice.after) * scale
        seen = statistics.documents
        if gain < _LEAST_GAIN * counts.seconds:
            self._missed, self._documents = 0.0, seen
            self.verdict = f"the best that is known spares {1e6 * gain:.1f} µs a document, too little"
            return
        self._missed += gain * max(seen - self._documents, 0)
        self._documents = seen
        takes = _A_NODE * len(engine.large.shared) * self._reluctance
        if self._missed < takes:
            spared = f"{1e6 * gain:.1f} µs a document"
            self.verdict = f"another would spare {spared}; it waits until that is more than {takes:.2g} s in all"
            return
        self._missed, self._before = 0.0, counts.seconds
        self.changes += 1
        self.verdict = f"the last was to spare {1e6 * gain:.1f} µs a document"
        engine.retrieve(choice.access)


def choosing(
    index: Index, groups: TestGroups, counts: GroupCounts, units: GroupUnitCosts
) -> Iterator[AccessChoice | None]:
    """What would be chosen for an index by what was counted, in steps: None for each but the last."""
    access = fixed_access(index.shared) if index.access is None else index.access.of(index.shared)
    can = can_be_in(index.shared, index.result_marks)
    yield None
    yield from GroupChoice(index.shared, groups, counts, access, units, can).steps()


def new_choice(index: Index, groups: TestGroups, counts: GroupCounts, units: GroupUnitCosts) -> AccessChoice:
    """The same at once."""
    return next(choice for choice in choosing(index, groups, counts, units) if choice is not None)
