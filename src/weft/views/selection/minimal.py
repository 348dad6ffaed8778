"""The minimal view set of a workload (M' of figure 6): answers of sources in, their parts and pieces with sizes out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from weft.plans.plan import Combine, Selection
from weft.views.parts import Classes, Signature, classify, part_id
from weft.views.workload import Workload


@dataclass(frozen=True, slots=True)
class PartPiece:
    """The nodes of a source that are in the answers of the same queries and lie in the same part.

    `nodes` is how many, `bytes` what their fragments have, as a source would send them.
    """

    source: str
    signature: Signature
    home: Signature
    nodes: int
    bytes: int

    @property
    def part(self) -> str:
        """The id of the part that it lies in."""
        return part_id(self.source, self.home)


@dataclass(frozen=True, slots=True)
class Parts:
    """All pieces of a workload's answers, and the size of each part: the bytes of its topmost fragments."""

    pieces: tuple[PartPiece, ...]
    sizes: Mapping[str, int]

    def required(self, query: str) -> frozenset[str]:
        """The parts that a query's answer is made of: those of its topmost nodes, and the homes of its nested ones."""
        return frozenset(piece.part for piece in self.pieces if query in piece.signature)

    def homes(self) -> dict[str, dict[str, frozenset[Signature]]]:
        """By source and query the parts that its nodes lie in."""
        found: dict[str, dict[str, set[Signature]]] = {}
        for piece in self.pieces:
            for name in piece.signature:
                found.setdefault(piece.source, {}).setdefault(name, set()).add(piece.home)
        return {source: {name: frozenset(each) for name, each in by.items()} for source, by in found.items()}

    def frequencies(self, workload: Workload) -> dict[str, float]:
        """Step 2 of figure 6: a query gives each of the l parts that it requires 1/l of its frequency."""
        found = dict.fromkeys(self.sizes, 0.0)
        for query in workload.queries:
            required = self.required(query.name)
            for part in required:
                found[part] += query.frequency / len(required)
        return found


def find_parts(workload: Workload, answers: Mapping[str, Sequence[pa.Table]]) -> Parts:
    """The minimal view set for a workload, from what each source answered: the rows of each query, in their order."""
    names = [query.name for query in workload.queries]
    return join_parts(
        parts_of(classify(source, dict(zip(names, rows, strict=True)))) for source, rows in answers.items()
    )


def parts_of(classes: Classes) -> Parts:
    """The parts that the nodes of some documents of a source make up."""
    bytes_of = pc.binary_length(classes.nodes["fragment"]).to_numpy()
    sizes: dict[str, int] = {}
    for home, places in classes.homes().items():
        topmost = places[~classes.is_nested[places]]
        sizes[part_id(classes.source, home)] = int(bytes_of[topmost].sum())
    return Parts(tuple(_pieces(classes, bytes_of)), sizes)


def join_parts(several: Iterable[Parts]) -> Parts:
    """What several have together, each of other documents: no node lies in two, so that all that is counted adds up."""
    pieces: dict[tuple[str, Signature, Signature], PartPiece] = {}
    sizes: dict[str, int] = {}
    for parts in several:
        for piece in parts.pieces:
            key = piece.source, piece.signature, piece.home
            known = pieces.get(key)
            pieces[key] = piece if known is None else _sum(known, piece)
        for part, size in parts.sizes.items():
            sizes[part] = sizes.get(part, 0) + size
    return Parts(tuple(pieces.values()), sizes)


def _sum(one: PartPiece, other: PartPiece) -> PartPiece:
    return replace(one, nodes=one.nodes + other.nodes, bytes=one.bytes + other.bytes)


def _pieces(classes: Classes, bytes_of: np.ndarray) -> list[PartPiece]:
    """The pieces of a source, by signature and home."""
    pairs = classes.number * len(classes.signatures) + classes.number[classes.around]
    found, number = np.unique(pairs, return_inverse=True)
    counts, sizes = np.bincount(number), np.bincount(number, bytes_of)
    return [
        PartPiece(
            classes.source,
            classes.signatures[int(pair) // len(classes.signatures)],
            classes.signatures[int(pair) % len(classes.signatures)],
            int(counts[at]),
            int(sizes[at]),
        )
        for at, pair in enumerate(found)
    ]


def definition(signature: Signature, workload: Workload, parts: Parts) -> Selection:
    """What a part with this signature is as a query: in all of its queries' answers, and in none of the others'.

    Of the others only those count that have nodes in common with all of these today: to ask a source it may give more.
    """
    selections = {query.name: query.selection for query in workload.queries}
    inside = tuple(selections[name] for name in sorted(signature))
    others = _others(signature, parts)
    within = Combine("intersect", inside) if len(inside) > 1 else inside[0]
    return Combine("except", (within, *(selections[name] for name in others))) if others else within


def definition_text(signature: Signature, workload: Workload, parts: Parts) -> str:
    """The same for people, in XPath with the queries as they were written."""
    texts = {query.name: query.text for query in workload.queries}
    inside = sorted(signature)
    others = _others(signature, parts)
    several = len(inside) + len(others) > 1
    within = " intersect ".join(f"({texts[name]})" if several else texts[name] for name in inside)
    return " except ".join([within, *(f"({texts[name]})" for name in others)])


def _others(signature: Signature, parts: Parts) -> list[str]:
    """The queries that have nodes in common with all of these."""
    larger = (piece.signature for piece in parts.pieces if signature < piece.signature)
    return sorted(frozenset().union(*larger) - signature)
