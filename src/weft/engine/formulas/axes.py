"""Nodes in, those that the axes of XPath lead to from each out, in the order in which positions count them."""

from __future__ import annotations

from weft.documents.kind import Kind
from weft.engine.formulas.node_view import AxisLead, NodeView, keep_kind
from weft.plans.formulas import FormulaAxis, Move
from weft.plans.plan import Label


def lead_of(move: Move) -> AxisLead:
    """Where a move leads to, its conditions aside."""
    if move.kind is Kind.ELEMENT and (quick := _QUICK.get(move.axis)) is not None:
        return quick(move.label)
    axis = _AXES[move.axis]
    kind, label = move.kind, move.label
    if kind is None or kind is Kind.TEXT or label == "*":
        return lambda view, node: keep_kind(view, axis(view, node, kind), kind)

    def named(view: NodeView, node: int) -> list[int]:
        passing, names = view.passing.of(label), view.names
        return [each for each in keep_kind(view, axis(view, node, kind), kind) if passing[names[each]]]

    return named


# -- the axes that most paths go: elements by name


def _child_elements(label: Label) -> AxisLead:
    def lead(view: NodeView, node: int) -> list[int]:
        if node < 0:
            return _named(view, [view.roots[~node]], label)
        if node >= view.elements:
            return []
        last, names, passing = view.last, view.names, view.passing.of(label)
        at, end, found = node + 1, last[node], []
        visits = 1
        while at <= end:
            if passing[names[at]]:
                found.append(at)
            at = last[at] + 1
            visits += 1
        view.spend(visits)
        return found

    return lead


def _elements_below(label: Label) -> AxisLead:
    def lead(view: NodeView, node: int) -> list[int]:
        if node >= view.elements:
            return []
        first = node + 1 if node >= 0 else view.roots[~node]
        end = view.last[node if node >= 0 else first] + 1
        view.spend(end - first)
        names, passing = view.names, view.passing.of(label)
        return [at for at in range(first, end) if passing[names[at]]]

    return lead


def _named(view: NodeView, nodes: list[int], label: Label) -> list[int]:
    passing = view.passing.of(label)
    return [node for node in nodes if passing[view.names[node]]]


_QUICK = {"child": _child_elements, "descendant": _elements_below}

# -- all axes, for all kinds: elements and texts, and what more the kind asks for


def _children(view: NodeView, node: int, kind: Kind | None) -> list[int]:
    if node < 0:
        return [view.roots[~node]]
    if node >= view.elements:
        return []
    texts = view.texts.get(node, []) if kind is not Kind.ELEMENT else []
    if kind is Kind.TEXT:
        view.spend(len(texts) + 1)
        return texts
    found, at, end = [], node + 1, view.last[node]
    while at <= end:
        found.append(at)
        at = view.last[at] + 1
    view.spend(len(found) + len(texts) + 1)
    return view.sort([*found, *texts]) if texts else found


def _descendants(view: NodeView, node: int, kind: Kind | None) -> list[int]:
    if node >= view.elements:
        return []
    top = node if node >= 0 else view.roots[~node]
    elements = range(node + 1 if node >= 0 else top, view.last[top] + 1) if kind is not Kind.TEXT else ()
    texts = range(view.text_first[top], view.text_last[top]) if kind is not Kind.ELEMENT else ()
    view.spend(len(elements) + len(texts))
    return view.sort([*elements, *texts]) if elements and texts else [*elements, *texts]


def _descendants_or_self(view: NodeView, node: int, kind: Kind | None) -> list[int]:
    return [node, *_descendants(view, node, kind)]


def _attributes(view: NodeView, node: int, _: Kind | None) -> list[int]:
    found = view.attributes.get(node, [])
    view.spend(len(found))
    return found


def _self(_: NodeView, node: int, __: Kind | None) -> list[int]:
    return [node]


def _parent(view: NodeView, node: int, _: Kind | None) -> list[int]:
    return [view.parents[node]] if node >= 0 else []


def _ancestors(view: NodeView, node: int, _: Kind | None) -> list[int]:
    found = []
    while node >= 0:
        node = view.parents[node]
        found.append(node)
    view.spend(len(found))
    return found


def _ancestors_or_self(view: NodeView, node: int, kind: Kind | None) -> list[int]:
    return [node, *_ancestors(view, node, kind)]


def _siblings(view: NodeView, node: int, kind: Kind | None) -> list[int]:
    """The children of the parent, in document order; attributes and roots have none beside them."""
    if node < 0 or view.elements <= node < view.first_text or view.parents[node] < 0:
        return []
    return _children(view, view.parents[node], kind)


def _following_siblings(view: NodeView, node: int, kind: Kind | None) -> list[int]:
    siblings = _siblings(view, node, kind)
    return siblings[_place(view, siblings, node, 1) :]


def _preceding_siblings(view: NodeView, node: int, kind: Kind | None) -> list[int]:
    siblings = _siblings(view, node, kind)
    return siblings[: _place(view, siblings, node, 0)][::-1]


def _place(view: NodeView, nodes: list[int], node: int, behind: int) -> int:
    """How many nodes come before one, or with 1 up to it."""
    order, own = view.order, view.order[node]
    return sum(1 for each in nodes if order[each] < own + behind)


def _following(view: NodeView, node: int, kind: Kind | None) -> list[int]:
    """All that begins behind the end of a node; what lies in the element of an attribute comes behind that."""
    found: list[int] = []
    if view.elements <= node < view.first_text:
        node = view.parents[node]
        found = _descendants(view, node, kind)
    while node >= 0:
        for sibling in _following_siblings(view, node, None):
            found += keep_kind(view, _descendants_or_self(view, sibling, kind), kind)
        node = view.parents[node]
    return found


def _preceding(view: NodeView, node: int, kind: Kind | None) -> list[int]:
    """All that ends before a node begins, the nearest first."""
    found: list[int] = []
    while node >= 0:
        for sibling in _preceding_siblings(view, node, None):
            found += keep_kind(view, _descendants_or_self(view, sibling, kind), kind)[::-1]
        node = view.parents[node]
    return found


_AXES = {
    "child": _children,
    "descendant": _descendants,
    "descendant-or-self": _descendants_or_self,
    "attribute": _attributes,
    "self": _self,
    "parent": _parent,
    "ancestor": _ancestors,
    "ancestor-or-self": _ancestors_or_self,
    "following-sibling": _following_siblings,
    "preceding-sibling": _preceding_siblings,
    "following": _following,
    "preceding": _preceding,
}
assert set(_AXES) == set(FormulaAxis.__args__), "every axis leads somewhere"  # type: ignore[attr-defined]
