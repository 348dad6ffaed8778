"""Documents that were read in, as a node table or by a narrow scan; where the views of a configuration begin out."""

from __future__ import annotations

from collections.abc import Sequence

from weft.documents.scan import DocumentOffsets
from weft.documents.source import read_source
from weft.documents.table import NodeTable
from weft.headers.document_bounds import FIRST, document_bounds
from weft.headers.header import PLAIN, SEVERAL, UTF8
from weft.headers.places import NodePlaces, PlacedNodes, offset_as_given
from weft.headers.view_nodes import ViewNodes


class OffsetsFromNodes:
    """Those of the documents of a node table, by the nodes that the views select."""

    def __init__(self, views: ViewNodes, table: NodeTable) -> None:
        self._selected, self._places, self._bounds = views.select(table), NodePlaces(table), document_bounds(table)
        self.documents = table.documents
        names = table.names
        self.roots = [names[root] for root in table.name.take(self._bounds[:, FIRST]).tolist()]

    def of(self, which: int, its: list[int], given: Sequence[bytes], views: int) -> PlacedNodes:
        """The places of a configuration's views in some documents, whose bytes are given."""
        bounds = self._bounds if len(its) == len(self.documents) else self._bounds[its]
        nodes = self._selected.of(its, which, bounds)
        if views < nodes.shape[1]:  # behind them stand families: whether there is anything else
            nodes[:, views:][nodes[:, views:] >= 0] = SEVERAL
        return self._places.of(its, bounds, given, nodes)

    @property
    def unknown(self) -> set[int]:
        """The documents for which not all was worked out; asked for behind `of`."""
        return self._selected.unknown


class OffsetsFromPaths:
    """Those of the documents of a narrow scan, read off the paths of names that they have: all views are paths."""

    unknown: frozenset[int] = frozenset()  # documents for which not all is worked out

    def __init__(self, views: ViewNodes, scanned: DocumentOffsets) -> None:
        self._views, self._scanned = views, scanned
        self.documents = scanned.documents
        names = scanned.names.names
        self.roots = [names[root] for root, _, _ in scanned.roots]

    def of(self, which: int, its: list[int], given: Sequence[bytes], _: int) -> PlacedNodes:
        """The places of a configuration's views in some documents, whose bytes are given.

        Raises TooManyStatesError where they must be looked for in a node table.
        """
        roots, sources = self._scanned.roots, self._scanned.sources
        placed = PlacedNodes(
            self._views.place(which, self._scanned, its),
            [roots[place][1] for place in its],
            [UTF8 if roots[place][2] else PLAIN | UTF8 for place in its],
        )
        for at, (place, data) in enumerate(zip(its, given, strict=True)):
            if sources[place] is not data and sources[place] != data:
                self._place_as_given(placed, at, place, data)
        return placed

    def _place_as_given(self, placed: PlacedNodes, at: int, place: int, data: bytes) -> None:
        """Tell where the nodes of a document in another encoding are in its bytes."""
        source = read_source(self.documents[place])

        def given(offset: int) -> int:
            return offset if offset < 0 else offset_as_given(source, data, offset)

        placed.entries[at] = list(map(given, placed.entries[at].tolist()))
        placed.roots[at] = max(given(placed.roots[at]), 0)
        placed.flags[at] &= PLAIN | UTF8 * (source.encoding is None)
