"""What an index knows of label paths in, the same at other places out: for batches answered beside each other."""

from __future__ import annotations

import threading

from weft.columns.steps import finished
from weft.engine.paths.bounds import Bounds
from weft.engine.shared.frozen import Frozen
from weft.engine.shared.label_plans import LabelPlans
from weft.engine.shared.plan import SharedPlan

_LEARNED = 1 << 12  # label paths that a new place learns while others are answered, at most: it takes some 50 ms
_FEW = 1 << 9  # label paths that are as well learned as copied
_BEHIND = 2  # times as many the first place may know before another place takes its knowledge over again
#: Held while something is made that batches share which are answered beside each other.
ONE_BY_ONE = threading.RLock()


class LabelPlaces:
    """The places of an index beside its first one, each with label paths of its own."""

    def __init__(self, shared: SharedPlan, bounds: Bounds) -> None:
        self._shared, self._bounds = shared, bounds
        self.beside: list[LabelPlans] = []

    def __getstate__(self) -> dict[str, object]:
        """What documents have brought stays behind."""
        return self.__dict__ | {"beside": []}

    def forget(self) -> None:
        """The arrays that label paths go by are others now."""
        self.beside = []

    @property
    def memory(self) -> int:
        """How many bytes are kept of what documents have brought to them."""
        return sum(plans.memory for plans in self.beside)

    def has(self, place: int, first: LabelPlans) -> bool:
        """Whether a place knows about as much as the first one, or could learn that in no time."""
        known = len(first.paths)
        if place > len(self.beside):
            return known <= _FEW
        return not place or known <= _FEW + _BEHIND * len(self.beside[place - 1].paths)

    def prepare(self, place: int, first: LabelPlans, frozen: Frozen) -> None:
        """Let places up to one know all that the first knows, where they lack much; nobody is answered meanwhile."""
        for each in range(1, place + 1):
            if not self.has(each, first):
                self.beside[each - 1 : each] = [first.copied(frozen)]

    def at(self, place: int, first: LabelPlans, frozen: Frozen) -> LabelPlans:
        """The label paths that serve one place; a new one learns what the first knows, even while that learns more."""
        if not place:
            return first
        with ONE_BY_ONE:
            while len(self.beside) < place:
                plans = LabelPlans(self._shared, self._bounds)
                plans.freeze(frozen)
                finished(plans.learn(first, _LEARNED))
                self.beside.append(plans)
        return self.beside[place - 1]
