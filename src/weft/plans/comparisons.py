"""What comparisons and string functions mean: operators in, whether they hold out."""

from __future__ import annotations

import operator as operators
from collections.abc import Callable
from typing import Any

from weft.plans.plan import Comparison
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
