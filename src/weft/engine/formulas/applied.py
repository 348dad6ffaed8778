"""Functions and how their arguments are worked out in, functions that work them out for a node out."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import isnan
from typing import Any

from weft.engine.formulas.node_view import NodeView, Work
from weft.plans.core_functions import ON_NUMBERS, ON_VALUES, written_number
from weft.plans.formulas import FormulaType
from weft.plans.numbers import NAN, double, number


def apply(name: str, arguments: list[Work], types: list[FormulaType]) -> Work:
    """How a function is worked out, given how its arguments are, and their types."""
    if name in _CONVERSIONS:
        return _CONVERSIONS[name](arguments[0], types[0]) if arguments else _of_context(name)
    if name in _ON_NAMES:
        return _of_name(_ON_NAMES[name], arguments)
    if name in _SPECIAL:
        return _SPECIAL[name](*arguments)
    if name in ON_NUMBERS:
        return _arithmetic(ON_NUMBERS[name], *arguments)
    return _of_values(ON_VALUES[name], arguments)


def _of_values(function: Callable[..., Any], arguments: list[Work]) -> Work:
    if len(arguments) == 1:
        (only,) = arguments

        def of_one(view: NodeView, node: int, position: int, size: int) -> Any:
            value = only(view, node, position, size)
            return None if value is None else function(value)

        return of_one

    def of_several(view: NodeView, node: int, position: int, size: int) -> Any:
        return function(*[argument(view, node, position, size) for argument in arguments])

    return of_several


def _arithmetic(function: Callable[[float, float], float], left: Work, right: Work) -> Work:
    def calculated(view: NodeView, node: int, position: int, size: int) -> float | None:
        one, other = left(view, node, position, size), right(view, node, position, size)
        return None if one is None or other is None else function(one, other)

    return calculated


def _of_context(name: str) -> Work:
    """A conversion without an argument is of the node itself."""
    if name == "string":
        return lambda view, node, *_: view.string(node)
    return lambda view, node, *_: view.number(node)


def _string(of: Work, kind: str) -> Work:
    def of_nodes(view: NodeView, node: int, position: int, size: int) -> str:
        nodes = of(view, node, position, size)
        return view.string(nodes[0]) if nodes else ""

    def of_number(view: NodeView, node: int, position: int, size: int) -> str:
        value = of(view, node, position, size)
        return "" if value is None else written_number(value)

    def of_truth(view: NodeView, node: int, position: int, size: int) -> str:
        return "true" if of(view, node, position, size) else "false"

    return {"nodes": of_nodes, "number": of_number, "truth": of_truth}.get(kind, of)


def _number(of: Work, kind: str) -> Work:
    def of_nodes(view: NodeView, node: int, position: int, size: int) -> float:
        nodes = of(view, node, position, size)
        return view.number(nodes[0]) if nodes else NAN

    def of_text(view: NodeView, node: int, position: int, size: int) -> float:
        return number(of(view, node, position, size))

    def of_truth(view: NodeView, node: int, position: int, size: int) -> float:
        return float(bool(of(view, node, position, size)))

    return {"nodes": of_nodes, "text": of_text, "truth": of_truth}.get(kind, of)


def _double(of: Work, kind: str) -> Work:
    def of_nodes(view: NodeView, node: int, position: int, size: int) -> float | None:
        nodes = of(view, node, position, size)
        return view.double(nodes[0]) if nodes else None

    def of_text(view: NodeView, node: int, position: int, size: int) -> float:
        return double(of(view, node, position, size))

    return {"nodes": of_nodes, "text": of_text}.get(kind, _number(of, kind))


def _truth(of: Work, kind: str) -> Work:
    if kind != "number":
        return lambda view, node, position, size: bool(of(view, node, position, size))

    def of_number(view: NodeView, node: int, position: int, size: int) -> bool:
        value = of(view, node, position, size)
        return bool(value) and not isnan(value)

    return of_number


def _of_name(function: Callable[[NodeView, int], str], arguments: list[Work]) -> Work:
    if not arguments:
        return lambda view, node, *_: function(view, node)
    (of,) = arguments

    def named(view: NodeView, node: int, position: int, size: int) -> str:
        nodes = of(view, node, position, size)
        return function(view, nodes[0]) if nodes else ""

    return named


def _sum(of: Work) -> Work:
    return lambda view, node, position, size: sum(map(view.number, of(view, node, position, size)), 0.0)


def _place(nodes: Work, from_last: bool) -> Work:
    key = id(nodes)  # it lives as long as what is made here

    def place(view: NodeView, node: int, position: int, size: int) -> float | None:
        """The places of all nodes of a document are found at once."""
        document = view.document_of(node)
        places = view.places.get((key, document))
        if places is None:
            found = nodes(view, node, position, size)
            first = 1 - len(found) if from_last else 1
            places = view.places[key, document] = {each: float(at) for at, each in enumerate(found, first)}
        return places.get(node)

    return place


def _choose(condition: Work, then: Work, otherwise: Work) -> Work:
    return lambda view, node, position, size: (then if condition(view, node, position, size) else otherwise)(
        view, node, position, size
    )


def _negative(of: Work) -> Work:
    def negated(view: NodeView, node: int, position: int, size: int) -> float | None:
        value = of(view, node, position, size)
        return None if value is None else -value

    return negated


_CONVERSIONS = {"string": _string, "number": _number, "double": _double, "boolean": _truth}
_ON_NAMES: dict[str, Callable[[NodeView, int], str]] = {
    "name": NodeView.tag,
    "local-name": lambda view, node: view.name(node).rpartition("}")[2],
    "namespace-uri": lambda view, node: view.name(node).rpartition("}")[0][1:],
}
_SPECIAL: dict[str, Callable[..., Work]] = {
    "true": lambda: lambda *_: True,
    "false": lambda: lambda *_: False,
    "position": lambda: lambda _, __, position, ___: float(position),
    "last": lambda: lambda *at: float(at[3]),
    "not": lambda of: lambda *at: not of(*at),
    "and": lambda *parts: lambda *at: all(part(*at) for part in parts),
    "or": lambda *parts: lambda *at: any(part(*at) for part in parts),
    "if": _choose,
    "exists": lambda of: lambda *at: bool(of(*at)),
    "empty": lambda of: lambda *at: not of(*at),
    "count": lambda of: lambda *at: float(len(of(*at))),
    "sum": _sum,
    "negative": _negative,
    "place": partial(_place, from_last=False),
    "place from the last": partial(_place, from_last=True),
}
