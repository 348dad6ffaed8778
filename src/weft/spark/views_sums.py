"""What a task found of views' parts in its documents, as sums that travel to the driver: no rows, a line of JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np

from weft.views.parts import Classes, part_id
from weft.views.selection.minimal import PartPiece, Parts, join_parts, parts_of

_TOLD = 20  # documents that could not be read, which are told with their reasons
_NONE = Parts((), {})


@dataclass(frozen=True, slots=True)
class PartSums:
    """Of some documents: their parts, in which of them which views have nested nodes, and what could not be read.

    `sampled` bytes of fragments would take `written` bytes on disk.
    """

    parts: Parts = _NONE
    nested: frozenset[tuple[str, str]] = frozenset()  # of part and view
    documents: int = 0
    rejected: int = 0
    reasons: tuple[str, ...] = ()
    sampled: int = 0
    written: float = 0.0

    @property
    def ratio(self) -> float:
        """Bytes on disk for a byte of fragments."""
        return self.written / self.sampled if self.sampled else 1.0

    def to_json(self) -> str:
        """One line, which `sums_from_json` reads."""
        pieces = [
            {**asdict(piece), "signature": sorted(piece.signature), "home": sorted(piece.home)}
            for piece in self.parts.pieces
        ]
        sums = {name: getattr(self, name) for name in ("documents", "rejected", "reasons", "sampled", "written")}
        return json.dumps({"pieces": pieces, "sizes": self.parts.sizes, "nested": sorted(self.nested), **sums})


def sums_from_json(line: str) -> PartSums:
    """Sums as `to_json` gave them."""
    found = json.loads(line)
    pieces = tuple(
        PartPiece(**{**each, "signature": frozenset(each["signature"]), "home": frozenset(each["home"])})
        for each in found.pop("pieces")
    )
    nested = frozenset((part, view) for part, view in found.pop("nested"))
    return PartSums(Parts(pieces, found.pop("sizes")), nested, **{**found, "reasons": tuple(found["reasons"])})


def sums_of(classes: Classes, documents: int, reasons: Sequence[str]) -> PartSums:
    """The sums of some documents, given their nodes, and why others could not be read."""
    is_nested = classes.is_nested
    pairs = np.stack([classes.number[is_nested], classes.number[classes.around[is_nested]]], axis=1)
    nested = {
        (part_id(classes.source, classes.signatures[home]), view)
        for number, home in np.unique(pairs, axis=0).tolist()
        for view in classes.signatures[number]
    }
    return PartSums(parts_of(classes), frozenset(nested), documents, len(reasons), tuple(reasons[:_TOLD]))


def join_sums(several: Iterable[PartSums]) -> PartSums:
    """The sums of all documents."""
    each = list(several)
    return PartSums(
        join_parts(sums.parts for sums in each),
        frozenset().union(*(sums.nested for sums in each)),
        sum(sums.documents for sums in each),
        sum(sums.rejected for sums in each),
        tuple(reason for sums in each for reason in sums.reasons)[:_TOLD],
        sum(sums.sampled for sums in each),
        sum(sums.written for sums in each),
    )


def in_order(sums: PartSums) -> PartSums:
    """The same whichever task was the first: what is chosen must not depend on it."""
    pieces = sorted(sums.parts.pieces, key=lambda piece: (sorted(piece.home), sorted(piece.signature)))
    sizes = dict(sorted(sums.parts.sizes.items()))
    return replace(sums, parts=Parts(tuple(pieces), sizes), reasons=tuple(sorted(sums.reasons)))
