"""Conditions of many queries in one table, each distinct one once, and what they come to for a document with a header.

The parts of a conjunction are asked in the order that ends soonest: by what asking costs, and how often it was false
lately. Where one is false the others are not asked.
"""

from __future__ import annotations

from weft.headers.conditions import (
    AllOf,
    AnyOf,
    CountLookUp,
    FirstKnown,
    FirstLookUp,
    HeaderCondition,
    LookUp,
    NestedLookUp,
    NoneOf,
    OneNode,
    RootIs,
    Settled,
)
from weft.headers.header import ABSENT
from weft.headers.looked_up import LookedUp
from weft.plans.comparisons import HOLDS, holds

#: What asking costs, in look-ups of a plain value.
_COST = {Settled: 0.0, RootIs: 4.0, LookUp: 1.0, CountLookUp: 0.2, FirstLookUp: 1.0, NestedLookUp: 20.0}
#: Times asked, of which the share that was not false is a mean; then what is longer ago fades.
_LATELY = 64


class ConditionTable:
    """Conditions by number; equal ones have the same number."""

    def __init__(self) -> None:
        self.conditions: list[HeaderCondition] = []
        self._numbers: dict[HeaderCondition, int] = {}
        self._parts: list[list[int]] = []
        self._asked: list[int] = []
        self._passed: list[int] = []  # how often it was true, and false, since it was told
        self._failed: list[int] = []
        self._held: list[float] = []  # the share of times that it was true, or unknown; half before it was asked

    def __len__(self) -> int:
        return len(self.conditions)

    def add(self, condition: HeaderCondition) -> int:
        """The number of a condition."""
        number = self._numbers.get(condition)
        if number is not None:
            return number
        match condition:
            case AllOf(parts) | AnyOf(parts) | FirstKnown(parts):
                inner = [self.add(part) for part in parts]
            case NoneOf(part) | OneNode(part=part):
                inner = [self.add(part)]
            case _:
                inner = []
        number = self._numbers[condition] = len(self.conditions)
        self.conditions.append(condition)
        self._parts.append(inner)
        self._asked.append(0)
        self._passed.append(0)
        self._failed.append(0)
        self._held.append(0.5)
        return number

    def parts(self, number: int) -> list[int]:
        """The conditions that a condition is made of, in the order in which they are asked."""
        return self._parts[number]

    def ask(self, number: int, document: LookedUp, known: dict[int, bool | None]) -> bool | None:
        """Whether a condition holds; `known` has what was asked of this document before."""
        if number in known:
            return known[number]
        found = known[number] = self._ask(number, document, known)
        self._asked[number] += 1
        if found:
            self._passed[number] += 1
        elif found is False:
            self._failed[number] += 1
        self._held[number] += ((found is not False) - self._held[number]) / min(self._asked[number] + 1, _LATELY)
        return found

    def _ask(self, number: int, document: LookedUp, known: dict[int, bool | None]) -> bool | None:
        condition = self.conditions[number]
        kind = type(condition)
        if kind is LookUp:
            return _look_up(condition, document)  # type: ignore[arg-type]
        if kind is AllOf:
            result: bool | None = True
            for part in self._parts[number]:
                found = self.ask(part, document, known)
                if found is False:
                    return False
                if found is None:
                    result = None
            return result
        return self._ask_other(condition, self._parts[number], document, known)

    def _ask_other(
        self, condition: HeaderCondition, parts: list[int], document: LookedUp, known: dict[int, bool | None]
    ) -> bool | None:
        match condition:
            case AnyOf():
                result: bool | None = False
                for part in parts:
                    found = self.ask(part, document, known)
                    if found:
                        return True
                    if found is None:
                        result = None
                return result
            case FirstKnown():
                answers = (self.ask(part, document, known) for part in parts)
                return next((answer for answer in answers if answer is not None), None)
            case NoneOf():
                found = self.ask(parts[0], document, known)
                return None if found is None else not found
            case OneNode(entries, _, is_conjunction):
                found = self.ask(parts[0], document, known)
                is_one = all(document.entries[entry] >= ABSENT for entry in entries)
                return found if is_one or (found is False and is_conjunction) else None
            case RootIs(label):
                return document.root_passes(label)
            case Settled(value):
                return value
            case _:
                return _look_up_other(condition, document)

    def reorder(self, number: int) -> None:
        """Put the parts of a condition's conjunctions in the order that ends soonest, by what was seen so far."""
        parts = self._parts[number]
        for part in parts:
            if self._parts[part]:
                self.reorder(part)
        if isinstance(self.conditions[number], AllOf):
            parts.sort(key=self._rank)

    def _rank(self, number: int) -> float:
        """Cost over how often it ends a conjunction."""
        return self.cost(number) / max(1 - self._held[number], 1e-9)

    def cost(self, number: int) -> float:
        """What asking costs at most, in look-ups."""
        parts = self._parts[number]
        return sum(map(self.cost, parts)) if parts else _COST.get(type(self.conditions[number]), 1.0)

    def tested(self) -> dict[LookUp, tuple[int, int]]:
        """How often tests on values were true, and how often false, where they were asked since this was asked last."""
        found: dict[LookUp, tuple[int, int]] = {}
        for number, condition in enumerate(self.conditions):
            passed, failed = self._passed[number], self._failed[number]
            if passed or failed:
                self._passed[number] = self._failed[number] = 0
                if isinstance(condition, LookUp) and condition.test is not None:
                    found[condition] = passed, failed
        return found

    def correct(self, condition: LookUp, passed: int, failed: int) -> None:
        """Tell so many of a test instead of what was counted: who drives is asked only where it is true."""
        number = self._numbers[condition]
        self._passed[number], self._failed[number] = passed, failed

    def selectivity(self, number: int) -> float | None:
        """The share of documents in which a condition was not false lately; None if it was never asked."""
        return self._held[number] if self._asked[number] else None

    def selectivity_of(self, condition: HeaderCondition) -> float | None:
        """The same of a condition that is in the table."""
        return self.selectivity(self._numbers[condition])


def _look_up(condition: LookUp, document: LookedUp) -> bool | None:
    entry = document.entries[condition.entry]
    if entry == ABSENT:
        return False
    if condition.test is None:
        return True
    return None if entry < 0 else holds(condition.test, document.value(condition.entry))


def _look_up_other(condition: HeaderCondition, document: LookedUp) -> bool | None:
    assert isinstance(condition, NestedLookUp | FirstLookUp | CountLookUp)
    entry = document.entries[condition.entry]
    if entry == ABSENT:
        return False
    if entry < 0:
        return None
    match condition:
        case CountLookUp(_, operator, wanted):
            return bool(HOLDS[operator](1.0, wanted))
        case FirstLookUp(place, test):
            return not holds(test, document.value(place))
        case NestedLookUp(place, path, test):
            if not document.is_plain:
                return None
            if test is None:
                return document.has_inside(place, path)
            return any(holds(test, value) for value in document.inside(place, path))
