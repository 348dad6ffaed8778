"""What comparisons and string functions mean: operators, or tests on a value, in, whether they hold out."""

from __future__ import annotations

import operator as operators
from collections.abc import Callable
from typing import Any

from weft.plans.instants import INSTANT_TYPES, Instant, InstantType, instant
from weft.plans.numbers import double, number
from weft.plans.plan import Comparison, Constant, Value
from weft.plans.regex import compile_pattern

FLIPPED: dict[str, Comparison] = {"=": "=", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


OPPOSITE: dict[str, Comparison] = {"=": "!=", "!=": "=", "<": ">=", "<=": ">", ">": "<=", ">=": "<"}


HOLDS: dict[str, Callable[[Any, Any], bool]] = {
    "=": operators.eq,
    "!=": operators.ne,
    "<": operators.lt,
    "<=": operators.le,
    ">": operators.gt,
    ">=": operators.ge,
    "contains": lambda text, constant: constant in text,
    "starts-with": lambda text, constant: text.startswith(constant),
    "ends-with": lambda text, constant: text.endswith(constant),
    "matches": lambda text, constant: compile_pattern(constant).search(text) is not None,
}


#: How a test reads a value; None is what stands in no relation to the constant.
Read = Callable[[str], Constant | None]


def reader_of(test: Value) -> Read | None:
    """How the values that a test is on are read; nothing where they are compared as they are."""
    if isinstance(test.constant, str):
        return None
    if isinstance(test.constant, Instant):
        return _INSTANTS[test.constant.type]
    return double if test.is_double else number


def holds(test: Value, text: str) -> bool:
    """Whether a value passes a test."""
    read = reader_of(test)
    if read is None:
        return bool(HOLDS[test.operator](text, test.constant))
    value = read(text)
    return value is not None and bool(HOLDS[test.operator](value, test.constant))


def _instants_of(wanted: InstantType) -> Read:
    def read(text: str) -> Instant | None:
        found = instant(text)
        return found if found is not None and found.type == wanted else None

    return read


_INSTANTS = {wanted: _instants_of(wanted) for wanted in INSTANT_TYPES}
