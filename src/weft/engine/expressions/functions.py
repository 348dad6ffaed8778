"""Functions by their names: arguments in, what they give out."""

from __future__ import annotations

from collections.abc import Callable

from weft.engine.expressions.aggregates import AGGREGATES
from weft.engine.expressions.items import DynamicError, Items
from weft.engine.expressions.node_functions import NODE_FUNCTIONS
from weft.engine.expressions.scope import Scope, evaluates, value
from weft.engine.expressions.sequences import SEQUENCE_FUNCTIONS
from weft.engine.expressions.texts import TEXT_FUNCTIONS
from weft.plans.expressions import Call

_FUNCTIONS: dict[str, Callable[..., Items]] = {
    **AGGREGATES,
    **NODE_FUNCTIONS,
    **SEQUENCE_FUNCTIONS,
    **TEXT_FUNCTIONS,
}


@evaluates(Call)
def call(expression: Call, scope: Scope) -> Items:
    """A function of the language."""
    match expression.name:
        case "position" | "last":
            if scope.item is None:
                raise DynamicError(f"{expression.name}(): there is no item to look at in a function")
            return [scope.position if expression.name == "position" else scope.size]
        case name:
            arguments = [value(argument, scope) for argument in expression.arguments]
            return _FUNCTIONS[name](scope.run, *arguments)


def function_names() -> frozenset[str]:
    """The functions that there are."""
    return frozenset({*_FUNCTIONS, "position", "last"})
