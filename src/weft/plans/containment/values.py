"""What is known of a node's value in, whether another test on the same value follows out.

A *claim* is a test on a value and whether it holds. Only claims on one and the same node are ever put together: XPath's
comparisons are existential, so what holds of one of several nodes says nothing about another.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from math import inf, isnan, nextafter

from weft.plans.comparisons import HOLDS, OPPOSITE
from weft.plans.numbers import NAN, double, number
from weft.plans.plan import Value

Claim = tuple[Value, bool]
_SUBSTRINGS = ("contains", "starts-with", "ends-with")


def claim(value: Value, is_true: bool) -> Claim:
    """A claim with its `not` in the operator where that means the same: never where NaN may be compared by order."""
    has_opposite = value.operator in ("=", "!=") or (isinstance(value.constant, str) and value.operator in OPPOSITE)
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
        return all(_has(asked, *point) for point in _points([*known, asked]) if _has_all(known, *point))
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
    numeric = [each for each in known if not isinstance(each[0].constant, str)]
    return bool(numeric) and not any(_has_all(numeric, *point) for point in _points(numeric))


def _meets(each: Claim, text: str) -> bool:
    value, is_true = each
    if isinstance(value.constant, str):
        return HOLDS[value.operator](text, value.constant) == is_true
    return _has(each, number(text), double(text))


# -- numbers


def _points(claims: Iterable[Claim]) -> Iterator[tuple[float, float]]:
    """What a value may be as XPath's number and as XQuery's: one of each kind that the claims can tell apart.

    Between two constants every double is as good as the one next to a constant. What XPath reads as a number XQuery
    reads as the same, but not the other way round.
    """
    constants = {value.constant for value, _ in claims if not isinstance(value.constant, str)}
    finite = [constant for constant in constants if not isnan(constant)]
    around = {point for each in finite for point in (nextafter(each, -inf), each, nextafter(each, inf))}
    for point in {-inf, *around, inf}:
        yield point, point
        yield NAN, point
    yield NAN, NAN


def _has(each: Claim, as_number: float, as_double: float) -> bool:
    value, is_true = each
    return HOLDS[value.operator](as_double if value.is_double else as_number, value.constant) == is_true


def _has_all(claims: Iterable[Claim], as_number: float, as_double: float) -> bool:
    return all(_has(each, as_number, as_double) for each in claims if not isinstance(each[0].constant, str))


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
