"""Conditions: what a query asks of a document, in terms of a configuration's entries; true, false, or unknown.

A condition is false only if the query cannot match, and true only if it must. What the header cannot tell is unknown,
and whoever needs to know it parses the document.
"""

from __future__ import annotations

from dataclasses import dataclass

from weft.plans.plan import Comparison, Label, Path, Value


@dataclass(frozen=True, slots=True)
class Settled:
    """True or false whatever the document; None: never known from a header."""

    value: bool | None


@dataclass(frozen=True, slots=True)
class RootIs:
    """The root element's name passes a label test."""

    label: Label


@dataclass(frozen=True, slots=True)
class LookUp:
    """The node of an entry has a value that passes the test; without a test: there is a node."""

    entry: int
    test: Value | None = None


@dataclass(frozen=True, slots=True)
class NestedLookUp:
    """Some node on a path inside the element of an entry passes the test; the element is parsed, alone."""

    entry: int
    path: Path
    test: Value | None = None


@dataclass(frozen=True, slots=True)
class FirstLookUp:
    """There is a first node of an entry, and it does not pass the test."""

    entry: int
    test: Value


@dataclass(frozen=True, slots=True)
class CountLookUp:
    """How many nodes an entry has, at least one, stands in this relation to the number."""

    entry: int
    operator: Comparison
    number: float


@dataclass(frozen=True, slots=True)
class AllOf:
    """All of these hold."""

    parts: tuple[HeaderCondition, ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    """One of these holds."""

    parts: tuple[HeaderCondition, ...]


@dataclass(frozen=True, slots=True)
class FirstKnown:
    """Ways to ask the same; the first that gives an answer counts."""

    parts: tuple[HeaderCondition, ...]


@dataclass(frozen=True, slots=True)
class NoneOf:
    """This does not hold."""

    part: HeaderCondition


@dataclass(frozen=True, slots=True)
class OneNode:
    """The part holds, and these entries have one node each, so that all that it says is of the same one.

    Where they have several, a conjunction that is false still is so; anything else is unknown.
    """

    entries: tuple[int, ...]
    part: HeaderCondition
    is_conjunction: bool = True


HeaderCondition = (
    Settled | RootIs | LookUp | NestedLookUp | FirstLookUp | CountLookUp | AllOf | AnyOf | FirstKnown | NoneOf | OneNode
)
UNKNOWN = Settled(None)


def all_of(parts: list[HeaderCondition]) -> HeaderCondition:
    """All of these, without what is always true; false if one always is."""
    kept: list[HeaderCondition] = []
    for part in parts:
        kept += part.parts if isinstance(part, AllOf) else [part]
    kept = [part for part in dict.fromkeys(kept) if part != Settled(True)]
    if Settled(False) in kept:
        return Settled(False)
    return kept[0] if len(kept) == 1 else AllOf(tuple(kept)) if kept else Settled(True)


def any_of(parts: list[HeaderCondition]) -> HeaderCondition:
    """One of these, without what is always false; true if one always is."""
    kept = [part for part in dict.fromkeys(parts) if part != Settled(False)]
    if Settled(True) in kept:
        return Settled(True)
    return kept[0] if len(kept) == 1 else AnyOf(tuple(kept)) if kept else Settled(False)


def first_known(parts: list[HeaderCondition]) -> HeaderCondition:
    """Ways to ask the same, without those that never give an answer."""
    kept = [part for part in dict.fromkeys(parts) if part != UNKNOWN]
    return FirstKnown(tuple(kept)) if len(kept) > 1 else kept[0] if kept else UNKNOWN


def none_of(part: HeaderCondition) -> HeaderCondition:
    """The opposite."""
    if isinstance(part, Settled):
        return Settled(None if part.value is None else not part.value)
    return NoneOf(part)


def is_served(condition: HeaderCondition) -> bool:
    """Whether the configuration has all that a condition asks for: what is unknown then is up to the document."""
    match condition:
        case Settled(value):
            return value is not None
        case AllOf(parts) | AnyOf(parts):
            return all(map(is_served, parts))
        case FirstKnown(parts):
            return any(map(is_served, parts))
        case NoneOf(part) | OneNode(part=part):
            return is_served(part)
        case _:
            return True


def can_decide(condition: HeaderCondition, by_root: bool = True) -> bool:
    """Whether some header may tell more than that the answer is unknown; if not `by_root`, by one of its entries."""
    match condition:
        case Settled(value):
            return value is not None
        case RootIs():
            return by_root
        case AllOf(parts) | AnyOf(parts) | FirstKnown(parts):
            return any(can_decide(part, by_root) for part in parts)
        case NoneOf(part) | OneNode(part=part):
            return can_decide(part, by_root)
        case _:
            return True
