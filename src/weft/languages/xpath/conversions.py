"""Formulas in, the same as a text, a number or a truth out: what XPath converts without being asked is written out."""

from __future__ import annotations

from weft.languages.xpath.calculating import calculated
from weft.plans.core_functions import written_number
from weft.plans.formulas import SIGNATURES, Applied, Fixed, Formula, FormulaType, Related, SideReading, type_of
from weft.plans.numbers import double, number
from weft.plans.plan import Comparison

_OF_NOTHING = ("floor", "ceiling", "round", "abs")
_ORDERS = ("<", "<=", ">", ">=")


def as_text(formula: Formula) -> Formula:
    """What string() makes of a formula."""
    if isinstance(formula, Fixed):
        value = formula.value
        if isinstance(value, bool):
            return Fixed("true" if value else "false")
        return Fixed(value if isinstance(value, str) else written_number(value))
    return formula if type_of(formula) == "text" else Applied("string", (formula,))


def as_number(formula: Formula, is_xquery: bool = False) -> Formula:
    """What number() makes of a formula; XQuery's arithmetic reads doubles, and makes nothing of no nodes."""
    if isinstance(formula, Fixed):
        value = formula.value
        return Fixed((double if is_xquery else number)(value) if isinstance(value, str) else float(value))
    kind = type_of(formula)
    return formula if kind == "number" else Applied("double" if is_xquery else "number", (formula,))


def as_truth(formula: Formula) -> Formula:
    """What boolean() makes of a formula."""
    if isinstance(formula, Fixed):
        return Fixed(bool(formula.value) and formula.value == formula.value)
    return formula if type_of(formula) == "truth" else Applied("boolean", (formula,))


def converted(formula: Formula, wanted: FormulaType, is_xquery: bool) -> Formula | None:
    """A formula as a function takes it; nothing where nodes are wanted and it has none."""
    match wanted:
        case "text":
            return as_text(formula)
        case "number":
            return as_number(formula, is_xquery)
        case "truth":
            return as_truth(formula)
        case "nodes":
            return formula if type_of(formula) == "nodes" else None


def applied(name: str, arguments: list[Formula], is_xquery: bool = False) -> Formula | None:
    """A function with its arguments as it takes them; nothing where one of them has to be nodes, and is none."""
    signature = SIGNATURES[name]
    if name in ("string-length", "normalize-space") and not arguments:
        arguments = [Applied("string")]
    wanted = signature.parameters
    of_nothing = is_xquery and name in _OF_NOTHING  # what is made of no nodes is nothing, and in no relation
    taken = [converted(each, wanted[min(at, len(wanted) - 1)], of_nothing) for at, each in enumerate(arguments)]
    if name in ("string", "number", "boolean") and arguments:
        return taken[0]
    if name in ("true", "false"):
        return Fixed(name == "true")
    found = tuple(each for each in taken if each is not None)
    return Applied(name, found) if len(found) == len(taken) else None


def reckoned(operator: str, left: Formula, right: Formula, is_xquery: bool) -> Formula:
    """Arithmetic; of two constants what it comes to."""
    one, other = as_number(left, is_xquery), as_number(right, is_xquery)
    if isinstance(one, Fixed) and isinstance(other, Fixed):
        result = calculated(float(one.value), operator, float(other.value), is_xquery)
        if result is not None:
            return Fixed(result)
    return Applied(operator, (one, other))


def compared(operator: Comparison, left: Formula, right: Formula, is_xquery: bool, orders_texts: bool) -> Formula:
    """A comparison by the rules of XPath 1.0, or with texts in order by those of XQuery; of nodes one is enough."""
    types = {type_of(left), type_of(right)}
    is_order = operator in _ORDERS
    if "truth" in types and not is_order:
        return Related(operator, as_truth(left), as_truth(right), "truth")
    if "number" in types or "truth" in types or (is_order and not orders_texts):
        reading: SideReading = "double" if is_xquery else "number"
        has_truth = "truth" in types
        sides = [
            each if type_of(each) == "nodes" and not has_truth else _measured(each, has_truth, is_xquery)
            for each in (left, right)
        ]
        return Related(operator, sides[0], sides[1], reading)
    return Related(
        operator,
        left if type_of(left) == "nodes" else as_text(left),
        right if type_of(right) == "nodes" else as_text(right),
        "text",
    )


def _measured(formula: Formula, by_truth: bool, is_xquery: bool) -> Formula:
    """A side that is compared as a number; beside a truth nodes count as one too."""
    return as_number(as_truth(formula) if by_truth and type_of(formula) == "nodes" else formula, is_xquery)
