"""The string-value of a node in, what functions make of it out: another text to compare, or none."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal

from weft.plans.numbers import number
from weft.plans.xscl import Derivation

_SPACE = " \t\r\n"


def derive(text: str, derivations: Sequence[Derivation]) -> str | None:
    """What functions make of a text, the first one first; None for what is not a number, where it must be one.

    >>> derive("  A  b ", [Derivation("normalize-space"), Derivation("lower-case")])
    'a b'
    >>> derive("007.50", [Derivation("number")])
    '7.5'
    """
    found: str | None = text
    for each in derivations:
        if found is not None:
            found = _applied(found, each)
        elif each.name == "string":
            found = "NaN"
    return found


def _applied(text: str, derivation: Derivation) -> str | None:
    match derivation.name:
        case "normalize-space":
            return _normalized(text)
        case "lower-case":
            return text.lower()
        case "upper-case":
            return text.upper()
        case "substring":
            return _substring(text, *derivation.arguments)
        case "number":
            return _number(text)
        case "string":
            return text


def _normalized(text: str) -> str:
    """Without white space around it, and with single spaces inside; only what XML calls white space counts."""
    for each in _SPACE[1:]:
        text = text.replace(each, " ")
    return " ".join(part for part in text.split(" ") if part)


def _substring(text: str, start: float, length: float = math.inf) -> str:
    """The characters from a position on, counted from 1, and so many of them; both are rounded."""
    first = math.floor(start + 0.5)
    end = len(text) + 1 if length == math.inf else first + math.floor(length + 0.5)
    return text[max(first, 1) - 1 : max(end, 1) - 1]


def _number(text: str) -> str | None:
    """A number as XPath writes it: equal numbers are equal texts."""
    value = number(text)
    if math.isnan(value):
        return None
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return f"{Decimal(repr(value)).normalize():f}" if value else "0"
