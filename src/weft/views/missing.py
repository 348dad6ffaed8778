"""A query and those of its parts that are not stored in, what to ask a source for out: it may give more than these."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from weft.documents.kind import Kind
from weft.plans.plan import Combine, Pattern, Selection, Step

_INSIDE = (Step("*", True), Step("*", True, Kind.ATTRIBUTE), Step("text()", True, Kind.TEXT))


def missing_of(query: str, signatures: Iterable[Sequence[str]], selections: Mapping[str, Selection]) -> Selection:
    """The nodes of a query in the parts with these signatures: topmost nodes, and what lies in topmost ones.

    A part is named by the queries that its topmost nodes are answers of; what lies in these may be answers of others.
    """
    own, wanted = selections[query], list[Selection]()
    for signature in signatures:
        if tuple(signature) == (query,):
            return own  # its nodes may lie in each other, and all of them are asked for
        common = _joined("intersect", [selections[name] for name in signature])
        if query in signature:
            wanted.append(common)
        wanted += [_joined("intersect", [own, each]) for each in _inside(common)]
    return _joined("union", wanted) if wanted else own


def _inside(selection: Selection) -> list[Selection]:
    """What lies in the nodes of a selection, and perhaps more; nothing lies in attributes and texts."""
    match selection:
        case Pattern(_, path, None) if path and path[-1].kind is Kind.ELEMENT:
            return [Pattern(selection.parent, (*path, step)) for step in _INSIDE]
        case Pattern(_, path) if path and path[-1].kind is not Kind.ELEMENT:
            return []
        case Pattern():
            return [Pattern(selection, (step,)) for step in _INSIDE]
        case Combine("union", parts):
            return [each for part in parts for each in _inside(part)]
        case Combine(_, parts):
            return _inside(parts[0])


def _joined(operator: str, parts: Sequence[Selection]) -> Selection:
    if len(parts) == 1:
        return parts[0]
    return Combine("union" if operator == "union" else "intersect", tuple(parts))
