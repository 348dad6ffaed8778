"""A formula in, XPath out that is read as the same formula."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from math import isinf, isnan

from weft.documents.kind import Kind
from weft.plans.formulas import (
    ARITHMETIC,
    Applied,
    Fixed,
    Formula,
    Move,
    NodeFilter,
    NodePath,
    NodeQuantifier,
    NodeSet,
    Related,
    VariableNode,
    Walk,
    type_of,
)
from weft.plans.plan import Label

HUGE = "9" * 400  # is read as infinity, for which XPath has no name
#: A label test, and whether it is for attributes, in, how it is written out.
WriteLabel = Callable[[Label, bool], str]


def write_formula(formula: Formula, label: WriteLabel | None = None) -> str:
    """A formula as XPath; without a way to write label tests for people.

    >>> write_formula(Related("=", Walk("here", (Move("child", Kind.ELEMENT, "a"),)), Fixed("x"), "text"))
    'a = "x"'
    """
    return _FormulaWriter(label or _plain).written(formula)


def write_constant(constant: str | float) -> str:
    """A text or a number as it is written in XPath."""
    if isinstance(constant, str):
        escaped = constant.replace('"', '""')
        return f'"{escaped}"'
    if isnan(constant):
        return '"NaN"'  # is read as a number where order is compared, and is none
    if isinf(constant):
        return HUGE if constant > 0 else f"-{HUGE}"
    return f"{Decimal(repr(constant)):f}".removesuffix(".0")


def _plain(label: Label, is_attribute: bool) -> str:
    at = "@" if is_attribute else ""
    return at + (label if isinstance(label, str) else f"*[not({' or '.join(label.labels)})]")


class _FormulaWriter:
    def __init__(self, label: WriteLabel) -> None:
        self._label = label

    def written(self, formula: Formula) -> str:
        """A formula, without parentheses around it."""
        match formula:
            case Fixed(bool(value)):
                return "true()" if value else "false()"
            case Fixed(value):
                return "number('NaN')" if value != value else write_constant(value)  # noqa: PLR0124
            case Walk("here", moves):
                return self._path(moves) or "."
            case Walk("document", moves):
                return "/" + self._path(moves)
            case Walk(start, moves):
                assert not isinstance(start, str), "all others start from nodes"
                return f"{self._primary(start)}/{self._path(moves)}"
            case NodeFilter(nodes, conditions):
                return f"({self.written(nodes)}){self._conditions(conditions)}"
            case NodePath(nodes, inner):
                return f"{self._primary(nodes)}/({self.written(inner)})"
            case NodeSet(operator, parts):
                return {"union": " | "}.get(operator, f" {operator} ").join(map(self._operand, parts))
            case VariableNode(name):
                return f"${name}"
            case NodeQuantifier(is_every, name, source, condition):
                word = "every" if is_every else "some"
                return f"{word} ${name} in {self._operand(source)} satisfies {self._operand(condition)}"
            case Related(operator, left, right, reading):
                return f"{self._side(left, reading)} {operator} {self._side(right, reading)}"
            case Applied(function, parts):
                return self._applied(function, parts)

    def _applied(self, function: str, parts: tuple[Formula, ...]) -> str:
        if function in ("and", "or", *ARITHMETIC):
            return f" {function} ".join(map(self._operand, parts))
        if function == "negative":
            return f"-{self._operand(parts[0])}"
        if function == "if":
            condition, then, otherwise = parts
            return f"if ({self.written(condition)}) then {self._operand(then)} else {self._operand(otherwise)}"
        name = "number" if function == "double" else function
        return f"{name}({', '.join(map(self.written, parts))})"

    def _side(self, side: Formula, reading: str) -> str:
        """A side of a comparison; the constant tells what is compared, where both are texts."""
        if reading == "number" and type_of(side) == "text":
            return f"number({self.written(side)})"
        return self._operand(side)

    def _operand(self, formula: Formula) -> str:
        written = self.written(formula)
        if isinstance(formula, Related | NodeSet | NodeQuantifier):
            return f"({written})"
        if isinstance(formula, Applied) and formula.function in ("and", "or", "if", "negative", *ARITHMETIC):
            return f"({written})"
        return written

    def _primary(self, formula: Formula) -> str:
        written = self.written(formula)
        return written if isinstance(formula, VariableNode | NodeFilter) else f"({written})"

    def _path(self, moves: tuple[Move, ...]) -> str:
        return "/".join(map(self._move, moves))

    def _move(self, move: Move) -> str:
        if move.kind is None:
            test = "node()"
        elif move.kind is Kind.TEXT:
            test = "text()"
        else:
            test = self._label(move.label, False)
        axis = "" if move.axis == "child" else "@" if move.axis == "attribute" else f"{move.axis}::"
        return f"{axis}{test}{self._conditions(move.conditions)}"

    def _conditions(self, conditions: tuple[Formula, ...]) -> str:
        return "".join(f"[{self.written(condition)}]" for condition in conditions)
