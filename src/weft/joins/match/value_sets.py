"""Coded values of nodes in, whether some of them stand in a relation to others out: as sets, never as pairs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from weft.joins.match.readings import reading
from weft.joins.match.value_codes import NO_VALUE
from weft.plans.comparisons import HOLDS
from weft.plans.plan import Comparison

#: The least and the greatest number, and the same of instants; None where there is none.
Extents = tuple[tuple[float, float] | None, tuple[float, float] | None]


@dataclass(slots=True)
class ValueSet:
    """The values of some nodes; some may have none, as what is not a number has none as one."""

    codes: set[int]
    lacks: bool
    _extents: Extents | None = None

    @classmethod
    def of(cls, values: Iterable[int]) -> ValueSet:
        """The set of some values."""
        codes = set(values)
        lacks = NO_VALUE in codes
        codes.discard(NO_VALUE)
        return cls(codes, lacks)

    def __bool__(self) -> bool:
        return bool(self.codes) or self.lacks

    def extents(self, texts: dict[int, str]) -> Extents:
        """How far the values reach, as numbers and as instants."""
        if self._extents is None:
            columns = list(zip(*(reading(texts[code]) for code in self.codes), strict=True)) or [(), ()]
            ends = []
            for column in columns:
                some = [each for each in column if each is not None]
                ends.append((min(some), max(some)) if some else None)
            self._extents = ends[0], ends[1]
        return self._extents

    def meets(self, operator: Comparison, other: ValueSet, texts: dict[int, str]) -> bool:
        """Whether some value stands in a relation to some value of the other set."""
        if operator == "=":
            return not self.codes.isdisjoint(other.codes)
        if operator == "!=":
            if self.lacks or other.lacks:
                return bool(self) and bool(other)
            return bool(self.codes and other.codes) and (len(self.codes | other.codes) > 1)
        is_less = operator in ("<", "<=")
        for one, two in zip(self.extents(texts), other.extents(texts), strict=True):
            if one is not None and two is not None and HOLDS[operator](one[not is_less], two[is_less]):
                return True
        return False
