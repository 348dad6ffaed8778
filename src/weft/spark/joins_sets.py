"""Sets of predicates that hold in, the openings that they satisfy out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from weft.spark.joins_plans import JoinPlans


class PredicateSets:
    """Predicates that hold in, the openings that need no others out; each set of predicates is worked out once."""

    def __init__(self, plans: JoinPlans) -> None:
        self._needing: dict[int, list[int]] = {}
        self._sizes: Counter[int] = Counter()
        for opening, predicate in plans.pairs.needs:
            self._needing.setdefault(predicate, []).append(opening)
            self._sizes[opening] += 1
        self._known: dict[frozenset[int], list[int]] = {}

    def openings(self, held: Iterable[int]) -> list[int]:
        """The openings all of whose predicates hold."""
        given = frozenset(held)
        if given not in self._known:
            found = Counter(opening for predicate in given for opening in self._needing[predicate])
            self._known[given] = [opening for opening, number in found.items() if number == self._sizes[opening]]
        return self._known[given]
