"""Paths: steps from nodes in, the nodes that they lead to out, each once and in document order; with predicates."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from decimal import Decimal

from weft.engine.expressions.atomics import truth
from weft.engine.expressions.items import DynamicError, Item, Items, TreeNode, is_node
from weft.engine.expressions.scope import Run, Scope, evaluates, order_key, tree_node, value
from weft.engine.expressions.trees import DocumentTree, NodeKinds
from weft.plans.expressions import (
    REVERSE_AXES,
    AxisStep,
    ComingDocument,
    ConstantValue,
    ContextItem,
    EachStep,
    Filtered,
    Mapped,
    NodeSets,
    NodeTest,
    QueryExpression,
    Steps,
    TreeRoot,
)

_KINDS = {
    "element": NodeKinds.ELEMENT,
    "attribute": NodeKinds.ATTRIBUTE,
    "text": NodeKinds.TEXT,
    "document": NodeKinds.DOCUMENT,
}


@evaluates(ContextItem)
def context_item(_: ContextItem, scope: Scope) -> Items:
    """The item that is looked at."""
    if scope.item is None:
        raise DynamicError("`.`: there is no item to look at in a function")
    return [scope.item]


@evaluates(ComingDocument)
def coming_document(_: ComingDocument, scope: Scope) -> Items:
    """The document that comes."""
    return [scope.run.document]


@evaluates(TreeRoot)
def tree_root(_: TreeRoot, scope: Scope) -> Items:
    """The root of the tree of the item that is looked at."""
    if scope.item is None:
        raise DynamicError("`/`: there is no item to look at in a function")
    found = tree_node(scope.item, scope.run)
    if found.tree.root:
        raise DynamicError("`/`: an element that was built is in no document")
    return [TreeNode(found.tree, 0)]


@evaluates(Steps)
def steps(expression: Steps, scope: Scope) -> Items:
    """A path; where nothing in it depends on variables or the item that is looked at, it is gone once."""
    run = scope.run
    key = run.prepared.constant_key(expression, scope)
    if key is not None and (known := run.document.tree.memo.get(key)) is not None:
        run.spend(len(known))
        return list(known)
    items = value(expression.start, scope)
    for step in expression.steps:
        if not items:
            break
        items = _each(step.expression, items, scope) if isinstance(step, EachStep) else _along(step, items, scope)
    if key is not None:
        run.document.tree.memo[key] = items
        return list(items)
    return items


def _along(step: AxisStep, items: Items, scope: Scope) -> Items:
    """A step along an axis, tree by tree."""
    run = scope.run
    if len(items) == 1:
        node = tree_node(items[0], run)
        found = _from_one(step, node.tree, node.number, scope)
        return [TreeNode(node.tree, number) for number in found]
    by_tree: dict[int, tuple[DocumentTree, list[int]]] = {}
    for item in items:
        node = tree_node(item, run)
        by_tree.setdefault(node.tree.serial, (node.tree, []))[1].append(node.number)
    made: Items = []
    for serial in sorted(by_tree):
        tree, numbers = by_tree[serial]
        reached: set[int] = set()
        for number in numbers:
            reached.update(_from_one(step, tree, number, scope))
        made += [TreeNode(tree, number) for number in sorted(reached)]
    return made


def _from_one(step: AxisStep, tree: DocumentTree, number: int, scope: Scope) -> list[int]:
    """The nodes that a step leads to from one, in document order."""
    found = _on_axis(step, tree, number)
    scope.run.spend(len(found) + 1)
    if not step.predicates or not found:
        return found
    is_reverse = step.axis in REVERSE_AXES
    if is_reverse:
        found.reverse()
    nodes: Items = [TreeNode(tree, each) for each in found]
    kept = [node.number for node in filtered_by(step.predicates, nodes, scope) if isinstance(node, TreeNode)]
    return kept[::-1] if is_reverse else kept


def _on_axis(step: AxisStep, tree: DocumentTree, number: int) -> list[int]:
    axis, test = step.axis, step.test
    if axis == "descendant" and test.kind == "element":
        return _named_below(tree, number, test.label)
    return _passing(tree, test, _AXES[axis](tree, number))


def _named_below(tree: DocumentTree, number: int, label: str) -> list[int]:
    """The elements below a node that pass a label test, found by their names."""
    names = [-1] if label == "*" else sorted(tree.passing(NodeKinds.ELEMENT, label))
    found: list[int] = []
    for name in names:
        nodes = tree.by_name.get(name, [])
        found += nodes[bisect_left(nodes, number + 1) : bisect_left(nodes, tree.end[number])]
    return sorted(found) if len(names) > 1 else found


def _passing(tree: DocumentTree, test: NodeTest, nodes: list[int]) -> list[int]:
    if test.kind == "node":
        return nodes
    kind, kinds = _KINDS[test.kind], tree.kind
    if test.label == "*":
        return [node for node in nodes if kinds[node] == kind]
    passing, names = tree.passing(kind, test.label), tree.name
    return [node for node in nodes if kinds[node] == kind and names[node] in passing]


def _below(tree: DocumentTree, number: int) -> list[int]:
    return [node for node in range(number + 1, tree.end[number]) if tree.kind[node] != NodeKinds.ATTRIBUTE]


def _above(tree: DocumentTree, number: int) -> list[int]:
    found = []
    while (number := tree.parent[number]) >= 0:
        found.append(number)
    return found[::-1]


def _siblings(tree: DocumentTree, number: int, is_behind: bool) -> list[int]:
    above = tree.parent[number]
    if above < 0 or tree.kind[number] == NodeKinds.ATTRIBUTE:
        return []
    return [node for node in tree.children(above) if (node > number if is_behind else node < number)]


def _behind(tree: DocumentTree, number: int) -> list[int]:
    first = number + 1 if tree.kind[number] == NodeKinds.ATTRIBUTE else tree.end[number]
    return [node for node in range(first, len(tree)) if tree.kind[node] != NodeKinds.ATTRIBUTE]


def _before(tree: DocumentTree, number: int) -> list[int]:
    above = set(_above(tree, number))
    nodes = range(1, number)
    return [node for node in nodes if node not in above and tree.kind[node] != NodeKinds.ATTRIBUTE]


_AXES: dict[str, Callable[[DocumentTree, int], list[int]]] = {
    "self": lambda _, number: [number],
    "child": lambda tree, number: list(tree.children(number)),
    "attribute": lambda tree, number: tree.attributes(number),
    "descendant": _below,
    "descendant-or-self": lambda tree, number: [number, *_below(tree, number)],
    "parent": lambda tree, number: _above(tree, number)[-1:],
    "ancestor": _above,
    "ancestor-or-self": lambda tree, number: [*_above(tree, number), number],
    "following-sibling": lambda tree, number: _siblings(tree, number, True),
    "preceding-sibling": lambda tree, number: _siblings(tree, number, False),
    "following": _behind,
    "preceding": _before,
}


def _each(expression: QueryExpression, items: Items, scope: Scope) -> Items:
    """A step that is an expression, worked out for each node; nodes come in document order."""
    made: Items = []
    for position, item in enumerate(items, 1):
        if not is_node(item):
            raise DynamicError("a step from what is no node")
        made += value(expression, scope.looking_at(item, position, len(items)))
    scope.run.spend(len(made))
    are_nodes = [is_node(item) for item in made]
    if not any(are_nodes):
        return made
    if not all(are_nodes):
        raise DynamicError("a step that leads to nodes and to values")
    return in_order(made, scope.run)


def in_order(nodes: Items, run: Run) -> Items:
    """Nodes in document order, each once."""
    distinct = {order_key(node, run): node for node in nodes}  # type: ignore[arg-type]
    return [distinct[key] for key in sorted(distinct)]


# -- predicates


@evaluates(Filtered)
def filtered(expression: Filtered, scope: Scope) -> Items:
    """A sequence with predicates."""
    return filtered_by(expression.predicates, value(expression.operand, scope), scope)


def filtered_by(predicates: tuple[QueryExpression, ...], items: Items, scope: Scope) -> Items:
    """The items that pass predicates, one predicate after the other."""
    for predicate in predicates:
        at = predicate.value if isinstance(predicate, ConstantValue) else None
        if isinstance(at, int) and not isinstance(at, bool):
            items = items[at - 1 : at] if at > 0 else []
            continue
        size = len(items)
        items = [
            item for position, item in enumerate(items, 1) if _holds(predicate, scope.looking_at(item, position, size))
        ]
    return items


def _holds(predicate: QueryExpression, scope: Scope) -> bool:
    """A predicate that is a number asks for a position."""
    found = value(predicate, scope)
    if len(found) == 1 and isinstance(found[0], int | float | Decimal) and not isinstance(found[0], bool):
        return found[0] == scope.position
    return truth(found)


@evaluates(Mapped)
def mapped(expression: Mapped, scope: Scope) -> Items:
    """`… ! …`: worked out for each item, in their order."""
    items = value(expression.operand, scope)
    made: Items = []
    for position, item in enumerate(items, 1):
        made += value(expression.each, scope.looking_at(item, position, len(items)))
    scope.run.spend(len(made))
    return made


@evaluates(NodeSets)
def node_sets(expression: NodeSets, scope: Scope) -> Items:
    """`union`, `intersect`, `except`."""
    run = scope.run
    left, right = value(expression.left, scope), value(expression.right, scope)
    if not all(map(is_node, left)) or not all(map(is_node, right)):
        raise DynamicError(f"`{expression.operator}`: expected nodes")
    run.spend(len(left) + len(right))
    if expression.operator == "union":
        return in_order(left + right, run)
    others: set[Item | tuple[int, int]] = {order_key(node, run) for node in right}  # type: ignore[arg-type]
    wanted = expression.operator == "intersect"
    kept: Items = [node for node in left if (order_key(node, run) in others) == wanted]  # type: ignore[arg-type]
    return in_order(kept, run)
