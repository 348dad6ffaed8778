"""Arithmetic, ranges and concatenation: two sequences of one value each in, one value out."""

from __future__ import annotations

import math
import operator as operators
from collections.abc import Callable
from decimal import ROUND_HALF_DOWN, Context, Decimal
from typing import Any

from weft.engine.expressions.atomics import Numeric, as_number, at_most_one, cast, string_of
from weft.engine.expressions.items import DynamicError, Items, Untyped
from weft.engine.expressions.scope import Run, Scope, evaluates, value
from weft.plans.expressions import Calculation, Negative

_EXACT = Context(prec=400)
_PLACES = Decimal(1).scaleb(-18)  # of a quotient of decimals
_MOST_BITS = 1_000
_SIMPLE: dict[str, Callable[[Any, Any], Any]] = {"+": operators.add, "-": operators.sub, "*": operators.mul}


@evaluates(Calculation)
def calculated(expression: Calculation, scope: Scope) -> Items:
    """Two values, and what comes of them."""
    run = scope.run
    left, right = value(expression.left, scope), value(expression.right, scope)
    operator = expression.operator
    if operator == "||":
        return [run.write(string_of(left, run, "||") + string_of(right, run, "||"))]
    if operator == "to":
        return _range(left, right, run)
    one, other = (at_most_one(side, run, f"`{operator}`") for side in (left, right))
    if one is None or other is None:
        return []
    return [calculate(operator, as_number(one, f"`{operator}`"), as_number(other, f"`{operator}`"))]


@evaluates(Negative)
def negative(expression: Negative, scope: Scope) -> Items:
    """Minus a number."""
    single = at_most_one(value(expression.operand, scope), scope.run, "`-`")
    return [] if single is None else [-as_number(single, "`-`")]


def _range(left: Items, right: Items, run: Run) -> Items:
    low, high = (at_most_one(side, run, "`to`") for side in (left, right))
    if low is None or high is None:
        return []
    low, high = (cast(each, "integer") if isinstance(each, Untyped) else each for each in (low, high))
    if not isinstance(low, int) or not isinstance(high, int) or isinstance(low, bool) or isinstance(high, bool):
        raise DynamicError("`to`: expected whole numbers")
    run.spend(max(high - low, 0))
    return list(range(low, high + 1))


def calculate(operator: str, one: Numeric, other: Numeric) -> Numeric:
    """What comes of two numbers; both are made the wider type of the two."""
    if isinstance(one, float) or isinstance(other, float):
        return _of_doubles(operator, float(one), float(other))
    if operator in ("div", "idiv", "mod") and other == 0:
        raise DynamicError(f"`{operator}` by zero")
    if isinstance(one, int) and isinstance(other, int) and operator != "div":
        return _bounded(_of_integers(operator, one, other))
    left, right = Decimal(one), Decimal(other)
    match operator:
        case "+":
            found = _EXACT.add(left, right)
        case "-":
            found = _EXACT.subtract(left, right)
        case "*":
            found = _EXACT.multiply(left, right)
        case "div":
            found = _EXACT.divide(left, right).quantize(_PLACES, ROUND_HALF_DOWN, _EXACT)
        case "idiv":
            return _bounded(int(_EXACT.divide(left, right)))
        case _:
            found = _EXACT.remainder(left, right)
    return _bounded_decimal(found)


def _of_integers(operator: str, one: int, other: int) -> int:
    if operator in _SIMPLE:
        return int(_SIMPLE[operator](one, other))
    quotient = abs(one) // abs(other) * (1 if (one < 0) == (other < 0) else -1)
    return quotient if operator == "idiv" else one - quotient * other


def _of_doubles(operator: str, one: float, other: float) -> Numeric:
    if operator in _SIMPLE:
        return float(_SIMPLE[operator](one, other))
    if operator == "mod":
        return math.fmod(one, other) if other and math.isfinite(one) and not math.isnan(other) else math.nan
    if operator == "idiv":
        if not other or not math.isfinite(one) or math.isnan(other):
            raise DynamicError("`idiv` by zero, or of what is no number")
        return 0 if math.isinf(other) else int(one / other)
    if other:
        return one / other
    if not one or math.isnan(one) or math.isnan(other):
        return math.nan
    return math.copysign(math.inf, one) * math.copysign(1, other)


def _bounded(number: int) -> int:
    if number.bit_length() > _MOST_BITS:
        raise DynamicError(f"a whole number of more than {_MOST_BITS} bits")
    return number


def _bounded_decimal(number: Decimal) -> Decimal:
    if len(number.as_tuple().digits) > _MOST_BITS // 3:
        raise DynamicError(f"a decimal of more than {_MOST_BITS // 3} digits")
    return number
