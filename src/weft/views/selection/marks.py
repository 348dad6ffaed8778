"""Pieces of answers in, what tells them apart at their source out: the views that have their nodes, or lie around them.

A source knows nothing of parts. To ask it for some pieces of a query only, these must differ from the others by a
*mark*: being in a view, or lying in a view's nodes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations

from weft.documents.kind import Kind
from weft.plans.plan import Combine, Pattern, Selection, Step
from weft.views.parts import Signature
from weft.views.selection.minimal import PartPiece

_INSIDE = (Step("*", True), Step("*", True, Kind.ATTRIBUTE), Step("text()", True, Kind.TEXT))


@dataclass(frozen=True, slots=True)
class Mark:
    """Whether nodes are in a view; or, with `is_around`, are or lie in its nodes. `homes` are the parts of the view."""

    view: str
    is_around: bool
    homes: frozenset[Signature]

    def of(self, piece: PartPiece) -> bool | None:
        """Whether all nodes of a piece have it, or none; None if that is not known."""
        if not self.is_around:
            return self.view in piece.signature
        if self.view in piece.signature or self.view in piece.home:
            return True
        return None if piece.home in self.homes else False

    def selection(self, own: Selection, kinds: Collection[Kind] = tuple(Kind)) -> Selection:
        """All nodes of these kinds that have it."""
        inside = inside_of(own, kinds) if self.is_around else None
        return Combine("union", (own, *inside)) if inside else own


def marks_of(
    query: str,
    pieces: Iterable[PartPiece],
    selections: Mapping[str, Selection],
    homes: Mapping[str, frozenset[Signature]],
) -> list[Mark]:
    """What may tell pieces of a query apart: the views that are known, by the parts that their nodes lie in."""
    near = {view for piece in pieces for view in piece.signature | piece.home} & homes.keys()
    marks = [Mark(view, False, homes[view]) for view in sorted(near - {query})]
    return marks + [Mark(view, True, homes[view]) for view in sorted(near) if inside_of(selections[view])]


def are_apart(
    query: str,
    pieces: Collection[PartPiece],
    selections: Mapping[str, Selection],
    homes: Mapping[str, frozenset[Signature]],
) -> bool:
    """Whether each piece of a query can be asked for without the others: any two differ by a mark."""
    by_signature: dict[Signature, list[PartPiece]] = {}
    for piece in pieces:
        by_signature.setdefault(piece.signature, []).append(piece)
    return all(
        any({mark.of(one), mark.of(other)} == {True, False} for mark in marks_of(query, alike, selections, homes))
        for alike in by_signature.values()
        for one, other in combinations(alike, 2)
    )


def kinds_of(selection: Selection) -> frozenset[Kind]:
    """The kinds of nodes that a selection may have."""
    match selection:
        case Pattern(_, path):
            return frozenset({path[-1].kind if path else Kind.ELEMENT})
        case Combine("union", parts):
            return frozenset().union(*map(kinds_of, parts))
    return kinds_of(selection.parts[0])


def inside_of(selection: Selection, kinds: Collection[Kind] = tuple(Kind)) -> tuple[Selection, ...] | None:
    """What lies in the nodes of a selection; None if that cannot be asked for. Nothing lies in attributes and texts."""
    steps = [step for step in _INSIDE if step.kind in kinds]
    match selection:
        case Pattern(_, path, None) if path and path[-1].kind is Kind.ELEMENT:
            return tuple(Pattern(selection.parent, (*path, step)) for step in steps)
        case Pattern(_, path) if path and path[-1].kind is not Kind.ELEMENT:
            return ()
        case Pattern():
            return tuple(Pattern(selection, (step,)) for step in steps)
        case Combine("union", parts):
            found = [inside_of(part, kinds) for part in parts]
            return None if None in found else tuple(each for inside in found for each in inside or ())
    return None
