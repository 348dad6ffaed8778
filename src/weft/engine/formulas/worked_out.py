"""Formulas in, functions that work them out for a node out."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from weft.engine.formulas.applied import apply
from weft.engine.formulas.axes import lead_of
from weft.engine.formulas.node_view import NodeView, Work
from weft.engine.formulas.relations import related
from weft.plans.formulas import (
    REVERSE,
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
    asks_position,
    type_of,
)

_REMEMBERED = 1 << 14  # formulas, and those in them, that are one wherever they stand


@lru_cache(maxsize=_REMEMBERED)
def work_of(formula: Formula) -> Work:
    """How a formula is worked out; equal formulas in several others are one, and what starts at documents is kept."""
    match formula:
        case Fixed(value):
            return lambda *_: value
        case Walk():
            return _walk(formula)
        case NodeFilter(nodes, conditions):
            return _filter(work_of(nodes), conditions)
        case NodePath(nodes, inner):
            return _map(work_of(nodes), work_of(inner))
        case NodeSet():
            return _gather(formula)
        case VariableNode(name):
            return lambda view, *_: [view.variables[name]]
        case NodeQuantifier():
            return _quantify(formula)
        case Related(operator, left, right, reading):
            return related(operator, work_of(left), work_of(right), (type_of(left), type_of(right)), reading)
        case Applied():
            types = [type_of(argument) for argument in formula.arguments]
            return apply(formula.function, list(map(work_of, formula.arguments)), types)


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
        return lambda view, node, *_: _follow(view, [node], moves)
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
        return lambda _, nodes: [nodes[place]] if 0 <= place < len(nodes) else []
    if condition == Applied("last"):
        return lambda _, nodes: nodes[-1:]
    work = work_of(condition)
    if type_of(condition) == "number":
        return lambda view, nodes: [node for at, node in enumerate(nodes, 1) if work(view, node, at, len(nodes)) == at]
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


def _quantify(formula: NodeQuantifier) -> Work:
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
