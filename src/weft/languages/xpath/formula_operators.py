"""The tokens of an expression in, its operators as a formula out; what they join is for those who build on this."""

from __future__ import annotations

from collections.abc import Callable
from math import isnan
from typing import TYPE_CHECKING, cast

from weft.languages.xpath.conversions import as_number, as_truth, compared, reckoned
from weft.languages.xpath.hopeless import as_instant
from weft.plans.formulas import Applied, Fixed, Formula, type_of
from weft.plans.numbers import number
from weft.plans.plan import Comparison

if TYPE_CHECKING:
    from weft.languages.xpath.turns import Turns

VALUE_COMPARISONS: dict[str, Comparison] = {"eq": "=", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_EQUALITIES, _ORDERS = ("=", "!=", "eq", "ne"), ("<", "<=", ">", ">=", "lt", "le", "gt", "ge")
MakeFormula = Callable[[Formula, str, Formula, int], Formula]  # of both sides, the operator and its place


class FormulaOperators:
    """The operators of expressions, from those that bind least."""

    def __init__(self, parser: Turns) -> None:
        self._parser = parser

    def union(self) -> Formula:
        """Nodes with `|` between them, or one value."""
        raise NotImplementedError

    def whole(self) -> Formula:
        """Conditions with `or` between them, or anything that binds more."""
        return self._joined("or")

    def _joined(self, word: str) -> Formula:
        parts = [self._part_of(word)]
        while self._parser.accept_word(word):
            parts.append(self._part_of(word))
        return Applied(word, tuple(map(as_truth, parts))) if len(parts) > 1 else parts[0]

    def _part_of(self, word: str) -> Formula:
        return self._joined("and") if word == "or" else self.equality()

    def equality(self) -> Formula:
        """A comparison for equality, or anything that binds more."""
        return self._from_left(self._order, _EQUALITIES, self._compared)

    def _order(self) -> Formula:
        return self._from_left(self.sum, _ORDERS, self._compared)

    def sum(self) -> Formula:
        """What `+` and `-` join, or anything that binds more."""
        return self._from_left(self._product, ("+", "-"), self._reckoned)

    def _product(self) -> Formula:
        return self._from_left(self._signed, ("*", "div", "mod", "idiv"), self._reckoned)

    def _from_left(self, read: Callable[[], Formula], operators: tuple[str, ...], make: MakeFormula) -> Formula:
        """Operators that bind alike: what stands left of one is worked out first, and nests in it."""
        parser, left, depth = self._parser, read(), 0
        while parser.text in operators and parser.kind in ("sign", "name"):
            depth += 1
            parser.check_nesting(parser.nested + depth, parser.at)
            at, operator = parser.at, parser.advance()
            left = make(left, operator, read(), at)
        return left

    def _compared(self, left: Formula, operator: str, right: Formula, at: int) -> Formula:
        parser = self._parser
        is_value, kinds = operator in VALUE_COMPARISONS, {type_of(left), type_of(right)}
        if parser.is_xquery and (kinds == {"text", "number"} or ("truth" in kinds and len(kinds) > 1)):
            parser.refuse("a comparison like this", at, "convert one of the sides")
        types = {"text" if type_of(each) == "nodes" else type_of(each) for each in (left, right)}
        if is_value and len(types) > 1:
            wanted = "number" if "number" in types else "boolean"
            parser.refuse(f"{operator} between values of two types", at, f"write {wanted}(…) {operator} …")
        comparison = VALUE_COMPARISONS.get(operator) or cast("Comparison", operator)
        for side in (left, right):
            if isinstance(side, Fixed) and isinstance(side.value, str) and not (is_value or parser.is_xquery):
                self._check_order(comparison, side.value, at)
        return compared(comparison, left, right, parser.is_xquery, is_value or parser.is_xquery)

    def _check_order(self, operator: str, constant: str, at: int) -> None:
        """XPath 1.0 orders numbers alone: a date would be none, and other texts never are in an order."""
        if as_instant(operator, constant) is not None:
            instead = "compare numbers: translate(…, '-', '') > 20260131"
            self._parser.refuse(f"{operator} between numbers, one of them a date", at, instead, is_final=True)
        if operator not in ("=", "!=") and isnan(number(constant)):
            self._parser.warn(f"never true: {operator} compares numbers here, and {constant!r} is none", at)

    def _reckoned(self, left: Formula, operator: str, right: Formula, at: int) -> Formula:
        if operator == "idiv" and not self._parser.is_xquery:
            self._parser.refuse("idiv", at, "write floor(… div …)")
        if self._parser.is_xquery and {"text", "truth"} & {type_of(left), type_of(right)}:
            self._parser.refuse("arithmetic with anything but numbers and paths", at)
        return reckoned(operator, left, right, self._parser.is_xquery)

    def _signed(self) -> Formula:
        parser, is_negative, is_signed = self._parser, False, False
        while parser.kind == "sign" and parser.text in ("+", "-"):
            is_negative, is_signed = is_negative != (parser.advance() == "-"), True
        found = self.union()
        if not is_signed:
            return found
        of = as_number(found, parser.is_xquery)
        if not is_negative:
            return of
        return Fixed(-float(of.value)) if isinstance(of, Fixed) else Applied("negative", (of,))
