"""Functions on nodes: their names, and the root of their tree."""

from __future__ import annotations

from collections.abc import Callable

from weft.engine.expressions.items import BuiltNode, DynamicError, Items, TreeNode, is_node
from weft.engine.expressions.scope import Run, tree_node


def _node(items: Items, run: Run, name: str) -> TreeNode | None:
    if not items:
        return None
    if len(items) > 1 or not is_node(items[0]):
        raise DynamicError(f"{name}(): expected one node at most, found {len(items)} items")
    if isinstance(items[0], BuiltNode) and items[0].kind in ("text", "comment"):
        return None
    return tree_node(items[0], run)


def _name(run: Run, items: Items) -> Items:
    node = _node(items, run, "name")
    return ["" if node is None else node.tree.tag(node.number)]


def _local_name(run: Run, items: Items) -> Items:
    node = _node(items, run, "local-name")
    return ["" if node is None else node.tree.expanded(node.number).rpartition("}")[2]]


def _namespace_uri(run: Run, items: Items) -> Items:
    node = _node(items, run, "namespace-uri")
    return ["" if node is None else node.tree.expanded(node.number).rpartition("}")[0][1:]]


def _root(run: Run, items: Items) -> Items:
    node = _node(items, run, "root")
    if node is None:
        return []
    number = node.number
    while node.tree.parent[number] >= 0:
        number = node.tree.parent[number]
    return [TreeNode(node.tree, number)]


NODE_FUNCTIONS: dict[str, Callable[..., Items]] = {
    "name": _name,
    "local-name": _local_name,
    "namespace-uri": _namespace_uri,
    "root": _root,
}
