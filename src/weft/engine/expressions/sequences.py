"""Functions on sequences: which items, in which order, and how many."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import starmap

from weft.engine.expressions.atomics import at_most_one, atoms, cast, key_of
from weft.engine.expressions.comparing import comparable
from weft.engine.expressions.items import DynamicError, Item, Items, SingleValue, TreeNode, Untyped, is_node
from weft.engine.expressions.scope import Run, tree_node
from weft.engine.expressions.trees import NodeKinds


def _distinct_values(run: Run, items: Items) -> Items:
    distinct: dict[tuple[str, object], SingleValue] = {}
    for single in atoms(items, run):
        distinct.setdefault(key_of(single), single)
    return list(distinct.values())


def _of_size(name: str, least: int, most: int | None) -> Callable[[Run, Items], Items]:
    def checked(_: Run, items: Items) -> Items:
        if len(items) < least or (most is not None and len(items) > most):
            raise DynamicError(f"{name}(): found {len(items)} items")
        return items

    return checked


def _position(items: Items, run: Run, what: str) -> float:
    """A number that counts items, rounded as XQuery does it."""
    single = at_most_one(items, run, what)
    if single is None:
        raise DynamicError(f"{what}: expected a number, found nothing")
    number = cast(single, "double")
    assert isinstance(number, float)
    return math.floor(number + 0.5) if math.isfinite(number) else number


def _subsequence(run: Run, items: Items, start: Items, length: Items | None = None) -> Items:
    first = _position(start, run, "subsequence()")
    end = math.inf if length is None else first + _position(length, run, "subsequence()")
    return [item for place, item in enumerate(items, 1) if first <= place < end]


def _index_of(run: Run, items: Items, wanted: Items) -> Items:
    single = _typed(_exactly_one(wanted, run, "index-of()"))
    return [place for place, each in enumerate(atoms(items, run), 1) if _is_equal(_typed(each), single)]


def _exactly_one(items: Items, run: Run, what: str) -> SingleValue:
    single = at_most_one(items, run, what)
    if single is None:
        raise DynamicError(f"{what}: expected one item, found none")
    return single


def _typed(single: SingleValue) -> SingleValue:
    return str(single) if isinstance(single, Untyped) else single


def _is_equal(one: SingleValue, other: SingleValue) -> bool:
    try:
        left, right = comparable(one, other)
    except DynamicError:
        return False
    return left == right


def _whole(items: Items, run: Run, what: str) -> int:
    single = _exactly_one(items, run, what)
    if isinstance(single, Untyped):
        single = cast(single, "integer")
    if not isinstance(single, int) or isinstance(single, bool):
        raise DynamicError(f"{what}: expected a whole number")
    return single


def _insert_before(run: Run, items: Items, place: Items, more: Items) -> Items:
    at = max(_whole(place, run, "insert-before()"), 1) - 1
    return [*items[:at], *more, *items[at:]]


def _remove(run: Run, items: Items, place: Items) -> Items:
    at = _whole(place, run, "remove()")
    return [item for here, item in enumerate(items, 1) if here != at]


# -- deep-equal


def _deep_equal(run: Run, one: Items, other: Items) -> Items:
    run.spend(len(one) + len(other))
    if len(one) != len(other):
        return [False]
    return [all(_equal_items(left, right, run) for left, right in zip(one, other, strict=True))]


def _equal_items(one: Item, other: Item, run: Run) -> bool:
    if is_node(one) != is_node(other):
        return False
    if is_node(one):
        return _equal_nodes(tree_node(one, run), tree_node(other, run), run)
    left, right = _typed(one), _typed(other)  # type: ignore[arg-type]
    both = (left, right)
    if all(isinstance(each, float) and math.isnan(each) for each in both):
        return True
    return _is_equal(left, right)


def _equal_nodes(one: TreeNode, other: TreeNode, run: Run) -> bool:
    run.spend(1)
    if one.kind != other.kind or one.tree.expanded(one.number) != other.tree.expanded(other.number):
        return False
    if one.kind in (NodeKinds.ATTRIBUTE, NodeKinds.TEXT):
        return one.value == other.value
    left, right = ([TreeNode(each.tree, node) for node in each.tree.children(each.number)] for each in (one, other))
    same = _attributes(one) == _attributes(other) and len(left) == len(right)
    return same and all(starmap(_equal_nodes, ((a, b, run) for a, b in zip(left, right, strict=True))))


def _attributes(node: TreeNode) -> dict[str, str]:
    tree = node.tree
    return {tree.expanded(each): tree.value(each) for each in tree.attributes(node.number)}


SEQUENCE_FUNCTIONS: dict[str, Callable[..., Items]] = {
    "distinct-values": _distinct_values,
    "zero-or-one": _of_size("zero-or-one", 0, 1),
    "exactly-one": _of_size("exactly-one", 1, 1),
    "one-or-more": _of_size("one-or-more", 1, None),
    "reverse": lambda _, items: items[::-1],
    "unordered": lambda _, items: items,
    "head": lambda _, items: items[:1],
    "tail": lambda _, items: items[1:],
    "subsequence": _subsequence,
    "index-of": _index_of,
    "insert-before": _insert_before,
    "remove": _remove,
    "deep-equal": _deep_equal,
    "data": lambda run, items: list(atoms(items, run)),
}
