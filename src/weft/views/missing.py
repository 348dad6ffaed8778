"""A query and which of its pieces are stored in, out what to ask the source for: the others, as far as marks tell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from weft.plans.plan import Combine, Selection
from weft.views.parts import Signature
from weft.views.selection.marks import Mark, kinds_of, marks_of
from weft.views.selection.minimal import PartPiece

_SPLITS = 4  # one in the other: each may double what is written


@dataclass(frozen=True, slots=True)
class Remainder:
    """What to ask a source for, and the stored pieces that come along."""

    selection: Selection
    again: tuple[PartPiece, ...] = ()


def remainder_of(
    query: str,
    missing: Sequence[PartPiece],
    stored: Sequence[PartPiece],
    selections: Mapping[str, Selection],
    homes: Mapping[str, frozenset[Signature]],
) -> Remainder:
    """A query without the nodes that are stored: all that is missing, and no more than cannot be told apart from it.

    `homes` are the parts that the nodes of a view lie in, for the views of which that is known.
    """
    marks = marks_of(query, (*missing, *stored), selections, homes)
    own = selections[query]
    kinds = kinds_of(own)
    marked = {mark: mark.selection(selections[mark.view], kinds) for mark in marks}
    return _Narrowing(marked).of(own, missing, stored, _SPLITS)


@dataclass(frozen=True, slots=True)
class _Narrowing:
    marks: Mapping[Mark, Selection]  # with the nodes that have them

    def of(self, asked: Selection, missing: Sequence[PartPiece], stored: Sequence[PartPiece], splits: int) -> Remainder:
        """What is asked, without the stored pieces: first by marks that all of what is missing has, or none."""
        kept, without = [asked], list[Selection]()
        while (found := self._best(missing, stored)) is not None:
            mark, has_it = found
            (kept if has_it else without).append(self.marks[mark])
            stored = [piece for piece in stored if mark.of(piece) is not (not has_it)]
        narrowed = _combined("except", [_combined("intersect", kept), *without])
        dividing = self._dividing(missing, stored) if splits else None
        if dividing is None:
            return Remainder(narrowed, tuple(stored))
        return self._split(narrowed, dividing, missing, stored, splits)

    def _best(self, missing: Sequence[PartPiece], stored: Sequence[PartPiece]) -> tuple[Mark, bool] | None:
        """The mark that parts most of the stored pieces from all that is missing, and whether that has it."""
        best, most = None, 0
        for mark in self.marks:
            found = {mark.of(piece) for piece in missing}
            if len(found) != 1 or (has_it := found.pop()) is None:
                continue
            parted = sum(1 + piece.bytes for piece in stored if mark.of(piece) is (not has_it))
            if parted > most:
                best, most = (mark, has_it), parted
        return best

    def _dividing(self, missing: Sequence[PartPiece], stored: Sequence[PartPiece]) -> Mark | None:
        """The mark that parts most pairs of what is missing and what is stored."""
        best, most = None, 0
        for mark in self.marks:
            one, other = [mark.of(piece) for piece in missing], [mark.of(piece) for piece in stored]
            parted = one.count(True) * other.count(False) + one.count(False) * other.count(True)
            if parted > most:
                best, most = mark, parted
        return best

    def _split(
        self, asked: Selection, mark: Mark, missing: Sequence[PartPiece], stored: Sequence[PartPiece], splits: int
    ) -> Remainder:
        """What has the mark, and what does not, each by itself; what may have it is in both."""
        found = []
        for operator, excluded in (("intersect", False), ("except", True)):
            its_own = [piece for piece in missing if mark.of(piece) is not excluded]
            others = [piece for piece in stored if mark.of(piece) is not excluded]
            found.append(self.of(_combined(operator, [asked, self.marks[mark]]), its_own, others, splits - 1))
        again = dict.fromkeys(piece for each in found for piece in each.again)
        return Remainder(_combined("union", [each.selection for each in found]), tuple(again))


def _combined(operator: str, parts: Sequence[Selection]) -> Selection:
    if len(parts) == 1:
        return parts[0]
    match operator:
        case "intersect":
            return Combine("intersect", tuple(parts))
        case "except":
            return Combine("except", tuple(parts))
    return Combine("union", tuple(parts))
