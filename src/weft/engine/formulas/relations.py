"""Two sides of a comparison and how they are read in, a function that tells whether they stand in the relation out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.engine.formulas.node_view import NodeView
from weft.plans.comparisons import HOLDS
from weft.plans.formulas import SideReading
from weft.plans.plan import Comparison

RelatedSide = Callable[[NodeView, int, int, int], Any]
_READ: dict[str, Callable[[NodeView, int], Any]] = {
    "text": NodeView.string,
    "number": NodeView.number,
    "double": NodeView.double,
}


def related(
    operator: Comparison, left: RelatedSide, right: RelatedSide, types: tuple[str, str], reading: SideReading
) -> Callable[[NodeView, int, int, int], bool]:
    """A comparison of two values, or of any of several."""
    stands = HOLDS[operator]
    if "nodes" not in types or reading == "truth":

        def of_values(view: NodeView, node: int, position: int, size: int) -> bool:
            one, other = left(view, node, position, size), right(view, node, position, size)
            return one is not None and other is not None and bool(stands(one, other))

        return of_values
    read, some = _READ[reading], _SOME[operator]
    is_left, is_right = types[0] == "nodes", types[1] == "nodes"

    def of_nodes(view: NodeView, node: int, position: int, size: int) -> bool:
        one = left(view, node, position, size)
        if one is None or (is_left and not one):
            return False
        other = right(view, node, position, size)
        if other is None:
            return False
        ones = [read(view, each) for each in one] if is_left else [one]
        others = [read(view, each) for each in other] if is_right else [other]
        return some(ones, others)

    return of_nodes


def _numbers(values: list[Any]) -> list[Any]:
    """Without what is not a number, which is equal to nothing and in no order."""
    return [value for value in values if value == value]  # noqa: PLR0124


def _some_equal(ones: list[Any], others: list[Any]) -> bool:
    return not set(_numbers(ones)).isdisjoint(_numbers(others))


def _some_unequal(ones: list[Any], others: list[Any]) -> bool:
    if not ones or not others:
        return False
    known = set(_numbers(ones)) | set(_numbers(others))
    return len(known) > 1 or any(value != value for value in (*ones, *others))  # noqa: PLR0124


def _ordered(holds: Callable[[Any, Any], bool], low: bool) -> Callable[[list[Any], list[Any]], bool]:
    """The least of one side and the greatest of the other decide."""

    def some(ones: list[Any], others: list[Any]) -> bool:
        ones, others = _numbers(ones), _numbers(others)
        if not ones or not others:
            return False
        return holds(min(ones), max(others)) if low else holds(max(ones), min(others))

    return some


_SOME: dict[str, Callable[[list[Any], list[Any]], bool]] = {
    "=": _some_equal,
    "!=": _some_unequal,
    "<": _ordered(HOLDS["<"], True),
    "<=": _ordered(HOLDS["<="], True),
    ">": _ordered(HOLDS[">"], False),
    ">=": _ordered(HOLDS[">="], False),
}
