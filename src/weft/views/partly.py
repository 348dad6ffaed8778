"""A known query of which a source's parts are stored in part: what is there, and what to ask the source for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from weft.plans.plan import Selection
from weft.plans.write import write_xpath
from weft.views.missing import remainder_of
from weft.views.selection.costs import LOCAL_BYTE_SECONDS
from weft.views.selection.minimal import PartPiece
from weft.views.sources.rates import Rates
from weft.views.store.manifest import Manifest, PartEntry, ViewEntry

_MOST_TEXT = 16_000  # characters of a query that a source is asked
_MOST_COMPARED = 100_000  # pieces by the views that may tell them apart


@dataclass(frozen=True, slots=True)
class PartlyStored:
    """The parts of a view that are stored at a source, of so many; and the rest as a query, None if there is none.

    In bytes: what the rest has, what is stored, and the query as a whole.
    """

    view: ViewEntry
    stored: tuple[str, ...]
    required: int
    rest: Selection | None = None
    rest_bytes: int = 0
    stored_bytes: int = 0
    whole_bytes: int = 0

    def is_worth(self, rates: Rates) -> bool:
        """Whether to ask for the rest only: what is stored must be read here, the rest found and sent by the source.

        Where rates are not known, it is if that is fewer bytes.
        """
        if self.rest is None:
            return False
        apart, together = rates.seconds(self.rest_bytes), rates.seconds(self.whole_bytes)
        if apart is None or together is None:
            return self.rest_bytes < self.whole_bytes
        return apart + self.stored_bytes * LOCAL_BYTE_SECONDS < together

    def told(self) -> str:
        """For people, which of its parts are there."""
        return f"from {len(self.stored)} of {self.required} parts of {self.view.name}"


def find_partly(manifest: Manifest, view: ViewEntry, source: str) -> PartlyStored | None:
    """The known transformation: which parts merge to a query of the workload, and how to ask for the others only."""
    name, parts = view.name, manifest.required(view.name, source)
    stored = tuple(part.id for part in parts if part.files is not None)
    if not stored or not view.is_kept:
        return None
    there = _pieces(name, (part for part in parts if part.files is not None))
    missing = _pieces(name, (part for part in parts if part.files is None))
    near = {each for piece in (*there, *missing) for each in piece.signature | piece.home}
    known = [each for each in near if all(part.pieces is not None for part in manifest.required(each, source))]
    if name not in known or len(known) * len((*there, *missing)) > _MOST_COMPARED:
        return PartlyStored(view, stored, len(parts))
    homes = {each: frozenset(frozenset(part.signature) for part in manifest.required(each, source)) for each in known}
    rest = remainder_of(name, missing, there, {each: manifest.view_of[each].selection for each in known}, homes)
    is_short = len(write_xpath(rest.selection)[0]) <= _MOST_TEXT
    sizes = _bytes((*missing, *rest.again)), _bytes(there), _bytes((*missing, *there))
    return PartlyStored(view, stored, len(parts), rest.selection if is_short else None, *sizes)


def _pieces(view: str, parts: Iterable[PartEntry]) -> list[PartPiece]:
    """The pieces of a view in parts."""
    return [
        PartPiece(part.source, frozenset(piece.signature), frozenset(part.signature), piece.nodes, piece.bytes)
        for part in parts
        for piece in part.pieces or ()
        if view in piece.signature
    ]


def _bytes(pieces: Iterable[PartPiece]) -> int:
    return sum(piece.bytes for piece in pieces)
