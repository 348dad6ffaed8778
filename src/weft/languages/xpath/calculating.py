"""Two constants and an operator in, the number out."""

from __future__ import annotations

from decimal import Context, Decimal, Inexact, InvalidOperation, localcontext
from math import copysign, fmod, inf, isnan, nan

from weft.plans.plan import Constant

_DIGITS = 18  # of a decimal; XQuery has that many at least


def calculated(left: Constant, operator: str, right: Constant, is_xquery: bool) -> float | None:
    """What arithmetic makes of two numbers: doubles in XPath 1.0, in XQuery decimals, and nothing where not exact.

    >>> calculated(0.1, "+", 0.2, is_xquery=True), calculated(0.1, "+", 0.2, is_xquery=False)
    (0.3, 0.30000000000000004)
    """
    if not isinstance(left, float) or not isinstance(right, float):
        return None
    return _decimal(left, operator, right) if is_xquery else _double(left, operator, right)


def _double(left: float, operator: str, right: float) -> float | None:
    match operator:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
        case "div" if right:
            return left / right
        case "div":
            return nan if not left or isnan(left) else copysign(inf, left) * copysign(1, right)
        case "mod" if right and left not in (inf, -inf):
            return fmod(left, right)
        case "mod":
            return nan
        case _:
            return None


def _decimal(left: float, operator: str, right: float) -> float | None:
    with localcontext(Context(prec=_DIGITS, traps=[Inexact, InvalidOperation])):
        try:
            one, other = Decimal(repr(left)), Decimal(repr(right))
            match operator:
                case "+":
                    return float(one + other)
                case "-":
                    return float(one - other)
                case "*":
                    return float(one * other)
                case "div" if other:
                    return float(one / other)
                case "idiv" if other:
                    return float(int(one / other))
                case "mod" if other:
                    return float(one % other)
                case _:
                    return None
        except (Inexact, InvalidOperation):
            return None
