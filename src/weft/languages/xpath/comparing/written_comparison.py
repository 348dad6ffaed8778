"""What every rule of comparisons takes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

from weft.languages.xpath.operand import Operand
from weft.plans.comparisons import FLIPPED
from weft.plans.numbers import double, number
from weft.plans.plan import Comparison, Constant, Test, Value


@dataclass(frozen=True, slots=True)
class WrittenComparison:
    """Two operands and what stands between them; a constant stands on the right."""

    left: Operand
    operator: Comparison
    right: Operand
    is_xquery: bool  # whether numbers are those of XQuery
    orders_texts: bool  # whether < and its like compare texts with a text; XPath 1.0 compares numbers

    @property
    def value(self) -> Value:
        """The test on a value that the constant on the right makes."""
        constant = self.right.constant
        if isinstance(constant, str) and self.operator not in ("=", "!=") and not self.orders_texts:
            constant = number(constant)
        return Value(self.operator, constant, self.is_xquery and isinstance(constant, float))

    def as_number(self, constant: Constant) -> float:
        """A string or a number as a number."""
        if isinstance(constant, str):
            return double(constant) if self.is_xquery else number(constant)
        return cast(float, constant)


def in_order(left: Operand, operator: str, right: Operand) -> tuple[Operand, Comparison, Operand]:
    """The same comparison with its constant on the right, as `3 < b` is `b > 3`."""
    if left.is_constant and (not right.is_constant or left.kind in ("list", "range")):
        return right, FLIPPED[operator], left
    return left, cast(Comparison, operator), right


Compare = Callable[[WrittenComparison], Test | None]
