"""The nodes of a source in, out what the manifest tells of each part: how many there are for which views."""

from __future__ import annotations

from collections.abc import Sequence

from weft.views.parts import Classes, Signature
from weft.views.selection.minimal import parts_of
from weft.views.store.manifest import PieceEntry


def pieces_of(classes: Classes) -> dict[Signature, tuple[PieceEntry, ...]]:
    """By part its pieces."""
    found: dict[Signature, list[PieceEntry]] = {}
    for piece in parts_of(classes).pieces:
        entry = PieceEntry(tuple(sorted(piece.signature)), piece.nodes, piece.bytes)
        found.setdefault(piece.home, []).append(entry)
    return {home: tuple(entries) for home, entries in found.items()}


def join_pieces(known: Sequence[PieceEntry], new: Sequence[PieceEntry]) -> tuple[PieceEntry, ...]:
    """The pieces of a part with those of nodes that have come."""
    found = {each.signature: each for each in known}
    for each in new:
        before = found.get(each.signature, PieceEntry(each.signature, 0, 0))
        found[each.signature] = PieceEntry(each.signature, before.nodes + each.nodes, before.bytes + each.bytes)
    return tuple(found.values())
