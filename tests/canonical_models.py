"""Containment of small tree patterns by enumeration, as its definition says: no code of Weft is used here.

A pattern is a spine of steps, the last of which selects. Without `not` it is enough to look at canonical models (Miklau
and Suciu 2002): the narrow pattern as a tree, with `z` for each `*`, and with each `//` drawn out by up to one more
node `z` than the wide pattern has stars in a row. With `not` all trees of some size are tried.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from itertools import product

_OTHER = "z"  # which no pattern names


@dataclass(frozen=True)
class PatternStep:
    """A step to a child, or with `is_deep` to a descendant: a label or `*`, and what must, or must not, be below."""

    label: str
    is_deep: bool
    tests: tuple[tuple[bool, tuple[PatternStep, ...]], ...] = ()  # each with whether it must not hold


Spine = tuple[PatternStep, ...]


@dataclass(eq=False)
class TreeNode:
    """A node of a document, which itself is a node without a label."""

    label: str
    children: list[TreeNode] = field(default_factory=list)


def write(spine: Spine, is_inside: bool = False) -> str:
    """A pattern as XPath."""
    parts = []
    for at, step in enumerate(spine):
        axis = "//" if step.is_deep else "/"
        parts.append((".//" if step.is_deep else "") if is_inside and not at else axis)
        parts.append(step.label)
        for is_not, inner in step.tests:
            parts.append(f"[not({write(inner, True)})]" if is_not else f"[{write(inner, True)}]")
    return "".join(parts)


def selected(context: TreeNode, spine: Spine) -> set[TreeNode]:
    """The nodes that a pattern selects from a node on."""
    if not spine:
        return {context}
    step, *rest = spine
    return {
        node
        for reached in (_below(context) if step.is_deep else context.children)
        if step.label in ("*", reached.label)
        and all(bool(selected(reached, inner)) is not is_not for is_not, inner in step.tests)
        for node in selected(reached, tuple(rest))
    }


def _below(node: TreeNode) -> Iterator[TreeNode]:
    for child in node.children:
        yield child
        yield from _below(child)


# -- without `not`


def is_contained(narrow: Spine, wide: Spine) -> bool:
    """Whether the wide pattern selects all that the narrow one selects, in every document."""
    longest = _most_stars(wide) + 1
    return all(result in selected(document, wide) for document, result in _models(narrow, longest))


def _most_stars(spine: Spine) -> int:
    """At least as many as stars that follow each other by child steps."""
    return sum((step.label == "*") + sum(_most_stars(inner) for _, inner in step.tests) for step in spine)


def _models(narrow: Spine, longest: int) -> Iterator[tuple[TreeNode, TreeNode]]:
    """The canonical models with their results. A document has one root: only what goes down from there is drawn out."""
    for lengths in product(range(longest + 1), repeat=_deep_steps(narrow)):
        document, left = TreeNode(""), iter(lengths)
        yield document, _draw(document, narrow, left)


def _deep_steps(spine: Spine) -> int:
    return sum(step.is_deep + sum(_deep_steps(inner) for _, inner in step.tests) for step in spine)


def _draw(under: TreeNode, spine: Spine, lengths: Iterator[int]) -> TreeNode:
    for step in spine:
        for _ in range(next(lengths) if step.is_deep else 0):
            under = _grown(under, _OTHER)
        under = _grown(under, _OTHER if step.label == "*" else step.label)
        for _, inner in step.tests:
            _draw(under, inner, lengths)
    return under


def _grown(under: TreeNode, label: str) -> TreeNode:
    under.children.append(TreeNode(label))
    return under.children[-1]


# -- with `not`


@cache
def small_documents(most: int, labels: str) -> tuple[TreeNode, ...]:
    """All documents of up to so many nodes with these labels."""
    return tuple(TreeNode("", [_copied(root)]) for size in range(1, most + 1) for root in _trees(size, labels))


def _copied(tree: TreeNode) -> TreeNode:
    """The same with nodes of its own."""
    return TreeNode(tree.label, [_copied(each) for each in tree.children])


@cache
def _trees(size: int, labels: str) -> tuple[TreeNode, ...]:
    return tuple(TreeNode(label, list(below)) for label in labels for below in _forests(size - 1, labels))


@cache
def _forests(size: int, labels: str) -> tuple[tuple[TreeNode, ...], ...]:
    """Trees beside each other; in which order matters to no pattern, but all orders do no harm."""
    if not size:
        return ((),)
    return tuple(
        (first, *others)
        for of_first in range(1, size + 1)
        for first in _trees(of_first, labels)
        for others in _forests(size - of_first, labels)
    )


def counterexample(narrow: Spine, wide: Spine, most: int, labels: str) -> TreeNode | None:
    """A document of up to so many nodes in which the narrow pattern selects what the wide one does not."""
    for document in small_documents(most, labels):
        if not selected(document, narrow) <= selected(document, wide):
            return document
    return None


# -- patterns


@cache
def patterns(nodes: int, labels: str, with_not: bool = False) -> tuple[Spine, ...]:
    """All patterns of so many nodes, but for the order of what is beside each other."""
    found: dict[Spine, None] = {}
    for own, is_deep in product(labels, (False, True)):
        for tested in range(nodes):
            for tests in _tests(tested, labels, with_not):
                step = PatternStep(own, is_deep, tests)
                rest = patterns(nodes - 1 - tested, labels, with_not) if nodes - 1 - tested else ((),)
                found |= dict.fromkeys((step, *each) for each in rest)
    return tuple(found)


def _tests(nodes: int, labels: str, with_not: bool) -> list[tuple[tuple[bool, Spine], ...]]:
    if not nodes:
        return [()]
    found = []
    for of_first in range(1, nodes + 1):
        for inner, is_not in product(patterns(of_first, labels, with_not), (False, True) if with_not else (False,)):
            found += [((is_not, inner), *others) for others in _tests(nodes - of_first, labels, with_not)]
    return found
