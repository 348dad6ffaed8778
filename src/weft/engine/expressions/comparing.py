"""Two sequences in, whether they stand in a relation out: general comparisons, those of single values, and of nodes."""

from __future__ import annotations

from decimal import Decimal
from itertools import product

from weft.engine.expressions.atomics import at_most_one, atoms, cast, is_number, type_of
from weft.engine.expressions.items import Dated, DynamicError, Items, SingleValue, Untyped, is_node
from weft.engine.expressions.scope import Run, Scope, evaluates, order_key, value
from weft.plans.comparisons import HOLDS
from weft.plans.expressions import ComparedItems
from weft.plans.instants import Instant, instant
from weft.plans.numbers import double


@evaluates(ComparedItems)
def compared(expression: ComparedItems, scope: Scope) -> Items:
    """A comparison."""
    run = scope.run
    left, right = value(expression.left, scope), value(expression.right, scope)
    match expression.kind:
        case "general":
            return [stands(expression.operator, atoms(left, run), atoms(right, run), run)]
        case "value":
            one = at_most_one(left, run, "a comparison")
            other = at_most_one(right, run, "a comparison")
            if one is None or other is None:
                return []
            return [single_stands(expression.operator, _text(one), _text(other))]
        case _:
            return _nodes(expression.operator, left, right, run)


def stands(operator: str, left: list[SingleValue], right: list[SingleValue], run: Run) -> bool:
    """Whether some value stands in the relation to some other one."""
    run.spend(len(left) * len(right))
    return any(general_stands(operator, one, other) for one, other in product(left, right))


def general_stands(operator: str, one: SingleValue, other: SingleValue) -> bool:
    """The same of two values; what has no type is read as the other's.

    What cannot be read so stands in no relation, as everywhere here; but a text that is no number is != to all numbers.
    """
    if isinstance(one, Untyped):
        if isinstance(other, Untyped):
            return bool(HOLDS[operator](str(one), str(other)))
        read = _read(one, other)
        return read is not None and single_stands(operator, read, other)
    if isinstance(other, Untyped):
        read = _read(other, one)
        return read is not None and single_stands(operator, one, read)
    return single_stands(operator, one, other)


def _read(text: Untyped, other: SingleValue) -> SingleValue | None:
    if isinstance(other, bool):
        return cast(text, "boolean")
    if is_number(other):
        return double(text)
    if isinstance(other, Dated):
        found = instant(text)
        return Dated(found, text) if found is not None and found.type == other.instant.type else None
    return str(text)


def _text(single: SingleValue) -> SingleValue:
    return str(single) if isinstance(single, Untyped) else single


def single_stands(operator: str, one: SingleValue, other: SingleValue) -> bool:
    """Whether two values that have types stand in a relation."""
    return bool(HOLDS[operator](*comparable(one, other)))


def comparable(one: SingleValue, other: SingleValue) -> tuple[object, object]:
    """Two values as Python compares them; raises DynamicError where their types cannot be compared."""
    if isinstance(one, str) and isinstance(other, str):
        return one, other
    if isinstance(one, bool) and isinstance(other, bool):
        return one, other
    if isinstance(one, Dated) and isinstance(other, Dated) and one.instant.type == other.instant.type:
        return _moment(one.instant), _moment(other.instant)
    if is_number(one) and is_number(other):
        if isinstance(one, float) != isinstance(other, float):
            return _double(one), _double(other)
        return one, other
    raise DynamicError(f"a comparison of xs:{type_of(one)} with xs:{type_of(other)}")


def _double(number: SingleValue) -> float:
    assert isinstance(number, int | float | Decimal)
    try:
        return float(number)
    except OverflowError:
        return float("inf") if number > 0 else float("-inf")


def _moment(found: Instant) -> tuple[int, str]:
    return found.seconds, found.fraction


def _nodes(operator: str, left: Items, right: Items, run: Run) -> Items:
    for side in (left, right):
        if len(side) > 1 or (side and not is_node(side[0])):
            raise DynamicError(f"`{operator}`: expected one node, found {len(side)} items")
    if not left or not right:
        return []
    one, other = (order_key(side[0], run) for side in (left, right))  # type: ignore[arg-type]
    return [one == other if operator == "is" else one < other if operator == "<<" else one > other]
