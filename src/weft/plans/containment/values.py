"""What is known of a node's value in, whether another test on the same value follows out.

A *claim* is a test on a value and whether it holds. Only claims on one and the same node are ever put together: XPath's
comparisons are existential, so what holds of one of several nodes says nothing about another.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import inf, isnan, nextafter

from weft.plans.comparisons import HOLDS, OPPOSITE, holds
from weft.plans.instants import Instant
from weft.plans.numbers import NAN
from weft.plans.plan import Value

Claim = tuple[Value, bool]
_SUBSTRINGS = ("contains", "starts-with", "ends-with")


def claim(value: Value, is_true: bool) -> Claim:
    """A claim with its `not` in the operator where that means the same.

    So it does not where NaN may be compared by order, and where a text may be no instant.
    """
    if isinstance(value.constant, str):
        has_opposite = value.operator in OPPOSITE
    else:
        has_opposite = isinstance(value.constant, float) and value.operator in ("=", "!=")
    if is_true or not has_opposite:
        return value, is_true
    return replace(value, operator=OPPOSITE[value.operator]), True


def follows(known: Sequence[Claim], asked: Claim) -> bool:
    """Whether whatever value meets all the known claims meets the one that is asked for."""
    for value, is_true in known:
        if is_true and value.operator == "=" and isinstance(value.constant, str):
            return _meets(asked, value.constant) or not all(_meets(each, value.constant) for each in known)
    value, is_true = asked
    if not isinstance(value.constant, str):
        return all(_has(asked, point) for point in _points([*known, asked]) if _has_all(known, point))
    if value.operator == "!=":
        return not all(_meets(each, value.constant) for each in known)
    if value.operator in _SUBSTRINGS and not value.constant:
        return is_true
    return any(_text_follows(each, asked) for each in known)


def contradict(known: Sequence[Claim]) -> bool:
    """Whether it is certain that no value meets all the claims."""
    for value, is_true in known:
        if is_true and value.operator == "=" and isinstance(value.constant, str):
            return not all(_meets(each, value.constant) for each in known)
    read = [each for each in known if not isinstance(each[0].constant, str)]
    return bool(read) and not any(_has_all(read, point) for point in _points(read))


def _meets(each: Claim, text: str) -> bool:
    value, is_true = each
    return holds(value, text) == is_true


# -- numbers and instants


@dataclass(frozen=True, slots=True)
class _Point:
    """What a value may be read as: XPath's number, XQuery's, and an instant."""

    as_number: float = NAN
    as_double: float = NAN
    as_instant: Instant | None = None


def _points(claims: Sequence[Claim]) -> Iterator[_Point]:
    """What a value may be read as: one of each kind that the claims can tell apart.

    Between two constants every double is as good as the one next to a constant. What XPath reads as a number XQuery
    reads as the same, but not the other way round. No number is an instant.
    """
    constants = {value.constant for value, _ in claims if isinstance(value.constant, float)}
    finite = [constant for constant in constants if not isnan(constant)]
    around = {point for each in finite for point in (nextafter(each, -inf), each, nextafter(each, inf))}
    for point in {-inf, *around, inf}:
        yield _Point(point, point)
        yield _Point(as_double=point)
    yield _Point()
    instants = {value.constant for value, _ in claims if isinstance(value.constant, Instant)}
    for each in _around_instants(instants):
        yield _Point(as_instant=each)


def _around_instants(instants: Iterable[Instant]) -> Iterator[Instant]:
    """The instants, one before all of their type, and one right behind each: as if any instant could be written."""
    in_order = sorted(instants)
    digits = max((len(each.fraction) for each in in_order), default=0)
    for each in in_order:
        yield replace(each, seconds=each.seconds - 1, fraction="9" * (digits + 1))
        yield each
        yield replace(each, fraction=each.fraction.ljust(digits, "0") + "1")


def _has(each: Claim, point: _Point) -> bool:
    value, is_true = each
    if not isinstance(value.constant, Instant):
        return HOLDS[value.operator](point.as_double if value.is_double else point.as_number, value.constant) == is_true
    read = point.as_instant if point.as_instant and point.as_instant.type == value.constant.type else None
    return (read is not None and HOLDS[value.operator](read, value.constant)) == is_true


def _has_all(claims: Iterable[Claim], point: _Point) -> bool:
    return all(_has(each, point) for each in claims if not isinstance(each[0].constant, str))


# -- texts


def _text_follows(known: Claim, asked: Claim) -> bool:
    (one, is_true), (other, is_asked) = known, asked
    if is_true != is_asked:
        return False
    return _text_implies(one, other) if is_true else _text_implies(other, one)


def _text_implies(one: Value, other: Value) -> bool:
    """Whether what stands in the first relation to its text stands in the second; neither is `=`."""
    if one == other:
        return True
    mine, theirs = one.constant, other.constant
    if not isinstance(mine, str) or not isinstance(theirs, str):
        return False
    match one.operator, other.operator:
        case ("contains" | "starts-with" | "ends-with", "contains"):
            return theirs in mine
        case ("starts-with", "starts-with"):
            return mine.startswith(theirs)
        case ("ends-with", "ends-with"):
            return mine.endswith(theirs)
        case ("starts-with", ">" | ">="):  # nothing that begins with a text comes before it
            return HOLDS[other.operator](mine, theirs)
        case ("<", "<" | "<=") | ("<=", "<="):
            return mine <= theirs
        case (">", ">" | ">=") | (">=", ">="):
            return mine >= theirs
        case ("<=", "<") | (">=", ">"):
            return HOLDS[other.operator](mine, theirs)
        case _:
            return False
