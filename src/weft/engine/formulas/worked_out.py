"""Formulas in, functions that work them out for a node out."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import isnan
from typing import Any

from weft.engine.formulas.axes import lead_of
from weft.engine.formulas.node_view import NodeView
from weft.engine.formulas.relations import related
from weft.plans.core_functions import ON_NUMBERS, ON_VALUES, written_number
from weft.plans.formulas import (
    REVERSE,
    Applied,
    Filtered,
    Fixed,
    Formula,
    Mapped,
    Move,
    NodeSet,
    Quantified,
    Related,
    VariableNode,
    Walk,
    asks_position,
    type_of,
)
from weft.plans.numbers import NAN, double, number

_REMEMBERED = 1 << 14  # formulas, and those in them, that are one wherever they stand
#: A node, its position and how many nodes have one, in, what a formula makes of it out: nodes in document order, a
#: text, a number, a truth; or None, which is what XQuery's arithmetic makes of nothing.
Work = Callable[[NodeView, int, int, int], Any]


@lru_cache(maxsize=_REMEMBERED)
def work_of(formula: Formula) -> Work:
    """How a formula is worked out; equal formulas in several others are one, and what starts at documents is kept."""
    match formula:
        case Fixed(value):
            return lambda view, node, position, size: value
        case Walk():
            return _walk(formula)
        case Filtered(nodes, conditions):
            return _filter(work_of(nodes), conditions)
        case Mapped(nodes, inner):
            return _map(work_of(nodes), work_of(inner))
        case NodeSet():
            return _gather(formula)
        case VariableNode(name):
            return lambda view, node, position, size: [view.variables[name]]
        case Quantified():
            return _quantify(formula)
        case Related(operator, left, right, reading):
            return related(operator, work_of(left), work_of(right), (type_of(left), type_of(right)), reading)
        case Applied():
            return _apply(formula)


# -- nodes


def _walk(walk: Walk) -> Work:
    moves = [_moved(move) for move in walk.moves]
    if walk.start == "document":
        key = id(moves)  # the list lives as long as what is made here

        def from_document(view: NodeView, node: int, _: int, __: int) -> list[int]:
            """Worked out once for a document."""
            document = view.document_of(node)
            found = view.kept.get((key, document))
            if found is None:
                found = view.kept[key, document] = _follow(view, [document], moves)
            return found

        return from_document
    if walk.start == "here":
        if len(moves) == 1:
            (only,), is_reverse = moves, walk.moves[0].axis in REVERSE

            def one_move(view: NodeView, node: int, _: int, __: int) -> list[int]:
                found = only(view, node)
                return found[::-1] if is_reverse else found

            return one_move
        return lambda view, node, position, size: _follow(view, [node], moves)
    start = work_of(walk.start)
    return lambda view, node, position, size: _follow(view, start(view, node, position, size), moves)


def _follow(view: NodeView, nodes: list[int], moves: list[Callable[[NodeView, int], list[int]]]) -> list[int]:
    for move in moves:
        if len(nodes) == 1:
            nodes = view.sort(move(view, nodes[0]))
        else:
            nodes = view.sort([found for node in nodes for found in move(view, node)])
    return nodes


def _moved(move: Move) -> Callable[[NodeView, int], list[int]]:
    """Where a move leads to from one node, in the order in which its positions count."""
    lead = lead_of(move)
    if not move.conditions:
        return lead
    conditions = [_condition(condition) for condition in move.conditions]

    def moved(view: NodeView, node: int) -> list[int]:
        found = lead(view, node)
        for keep in conditions:
            if not found:
                break
            found = keep(view, found)
        return found

    return moved


def _condition(condition: Formula) -> Callable[[NodeView, list[int]], list[int]]:
    """Of nodes those that pass what stands in brackets."""
    if isinstance(condition, Fixed) and type_of(condition) == "number":
        value = float(condition.value)
        place = int(value) - 1 if value.is_integer() else -1
        return lambda view, nodes: [nodes[place]] if 0 <= place < len(nodes) else []
    if condition == Applied("last"):
        return lambda view, nodes: nodes[-1:]
    work = work_of(condition)
    if type_of(condition) == "number":
        return lambda view, nodes: [
            node for at, node in enumerate(nodes, 1) if work(view, node, at, len(nodes)) == at
        ]
    if not asks_position(condition):
        return lambda view, nodes: [node for node in nodes if work(view, node, 1, 1)]
    return lambda view, nodes: [node for at, node in enumerate(nodes, 1) if work(view, node, at, len(nodes))]


def _filter(nodes: Work, conditions: tuple[Formula, ...]) -> Work:
    kept = [_condition(condition) for condition in conditions]

    def filtered(view: NodeView, node: int, position: int, size: int) -> list[int]:
        found: list[int] = nodes(view, node, position, size)
        for keep in kept:
            found = keep(view, found)
        return found

    return filtered


def _map(nodes: Work, inner: Work) -> Work:
    def mapped(view: NodeView, node: int, position: int, size: int) -> list[int]:
        starts = nodes(view, node, position, size)
        return view.sort([found for start in starts for found in inner(view, start, 1, 1)])

    return mapped


def _gather(formula: NodeSet) -> Work:
    parts, operator = [work_of(part) for part in formula.parts], formula.operator

    def gathered(view: NodeView, node: int, position: int, size: int) -> list[int]:
        first, *others = [part(view, node, position, size) for part in parts]
        if operator == "union":
            return view.sort([each for some in (first, *others) for each in some])
        for other in others:
            known = set(other)
            first = [each for each in first if (each in known) == (operator == "intersect")]
        return list(first)

    return gathered


def _quantify(formula: Quantified) -> Work:
    source, condition = work_of(formula.source), work_of(formula.condition)
    name, is_every = formula.name, formula.is_every

    def quantified(view: NodeView, node: int, position: int, size: int) -> bool:
        nodes, outer = source(view, node, position, size), view.variables.get(name)
        try:
            for each in nodes:
                view.variables[name] = each
                view.spend(1)
                if bool(condition(view, node, position, size)) != is_every:
                    return not is_every
        finally:
            if outer is not None:
                view.variables[name] = outer
        return is_every

    return quantified


# -- functions


def _apply(formula: Applied) -> Work:
    name, arguments = formula.function, [work_of(argument) for argument in formula.arguments]
    if name in _CONVERSIONS:
        return _CONVERSIONS[name](arguments[0], type_of(formula.arguments[0])) if arguments else _of_context(name)
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
        return lambda view, node, position, size: view.string(node)
    return lambda view, node, position, size: view.number(node)


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
        return lambda view, node, position, size: function(view, node)
    (of,) = arguments

    def named(view: NodeView, node: int, position: int, size: int) -> str:
        nodes = of(view, node, position, size)
        return function(view, nodes[0]) if nodes else ""

    return named


def _sum(of: Work) -> Work:
    return lambda view, node, position, size: sum(map(view.number, of(view, node, position, size)), 0.0)


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
    "true": lambda: lambda view, node, position, size: True,
    "false": lambda: lambda view, node, position, size: False,
    "position": lambda: lambda view, node, position, size: float(position),
    "last": lambda: lambda view, node, position, size: float(size),
    "not": lambda of: lambda *at: not of(*at),
    "and": lambda *parts: lambda *at: all(part(*at) for part in parts),
    "or": lambda *parts: lambda *at: any(part(*at) for part in parts),
    "if": _choose,
    "exists": lambda of: lambda *at: bool(of(*at)),
    "empty": lambda of: lambda *at: not of(*at),
    "count": lambda of: lambda *at: float(len(of(*at))),
    "sum": _sum,
    "negative": _negative,
}
