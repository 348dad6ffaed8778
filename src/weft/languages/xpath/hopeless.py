"""A comparison in, why it leaves the document no choice out."""

from __future__ import annotations

from math import isfinite, isnan
from typing import cast

from weft.languages.xpath.operand import Operand
from weft.languages.xpath.predicates import deciding
from weft.plans.comparisons import HOLDS
from weft.plans.instants import instant
from weft.plans.numbers import number
from weft.plans.plan import Constant


def hopeless(left: Operand, operator: str, right: Operand, is_xquery: bool) -> str | None:
    """Why a comparison is never true, or always, and what to write; nothing where the document decides."""
    constant = right.constant
    if left.kind == "path":
        if not isinstance(constant, str) or is_xquery or operator in ("=", "!=") or not isnan(number(constant)):
            return None
        return f"never true: {operator} compares numbers here, and {constant!r} is none; {_instead(constant)}"
    if left.kind not in ("count", "position") or right.kind not in ("number", "string"):
        return None
    value = _as_number(right)
    least = 1 if left.kind == "position" else 0
    held = {HOLDS[operator](each, value) for each in deciding(least, value)}
    if len(held) > 1 or (not isfinite(value) and not isnan(value)):
        return None
    what = "a position is a whole number from 1 on" if least else "a count is a whole number from 0 on"
    return f"{'always' if held.pop() else 'never'} true: {what}"


def as_instant(operator: str, constant: Constant) -> str | None:
    """How to write a date that XPath 1.0 would compare as a number, and never find; nothing for what is no date."""
    if operator in ("=", "!=") or not isinstance(constant, str) or not isnan(number(constant)):
        return None
    found = instant(constant)
    return None if found is None else f'write xs:{found.type}("{constant.strip()}")'


def _as_number(operand: Operand) -> float:
    """A string or a number as XPath's number."""
    return number(operand.constant) if isinstance(operand.constant, str) else cast(float, operand.constant)


def _instead(constant: str) -> str:
    """What to write in place of a text that is no number."""
    plain = constant.replace(",", "").replace("_", "").strip().removeprefix("+")
    if not isnan(number(plain)):
        return f"write {plain}"
    return "FLWR compares texts: <r>{ for $x in … where $x/… " + f'>= "{constant}" return $x }}</r>'
