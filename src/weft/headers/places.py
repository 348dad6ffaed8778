"""Nodes of documents that were read in, where they begin in the bytes as given out."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple
from xml.parsers import expat

import numpy as np

from weft.columns.integers import Ints, Longs
from weft.documents.doctype import find_doctype
from weft.documents.offsets import attribute_offset, text_offset
from weft.documents.source import SourceBytes, read_source
from weft.documents.table import NodeTable
from weft.headers.document_bounds import END, FIRST
from weft.headers.header import HIDDEN, PLAIN, UTF8
from weft.kernel import place_nodes


class PlacedNodes(NamedTuple):
    """Of documents: a row of their nodes' offsets in their bytes, HIDDEN where what stands there does not say all.

    `roots` are the offsets of their roots, 0 where these are hidden, `flags` PLAIN and UTF8 as headers have them:
    slices of the document mean what they say, and its bytes are read as they are.
    """

    entries: Longs
    roots: list[int]
    flags: list[int]


class NodePlaces:
    """Where the nodes of a batch's documents begin in their bytes, as given."""

    def __init__(self, table: NodeTable) -> None:
        self._table, self.documents = table, table.documents
        self._columns = table.start, table.parent, table.attribute_tag, table.text_first
        self._declaring = [row for row, _, _ in table.namespaces]  # rows that declare namespaces, in their order

    def of(self, places: Sequence[int], bounds: Ints, given: Sequence[bytes], nodes: Ints) -> PlacedNodes:
        """Nodes of documents, a row for each, whose bounds and bytes are given; what is no node stays as it is."""
        sources = [self._table.sources[place] for place in places]  # in UTF-8, and rewritten where it had to be
        offsets = np.empty(nodes.shape, np.int64)
        unplaced = place_nodes(sources, nodes.ravel(), self._columns, self._table.tags, offsets.ravel())
        placed = PlacedNodes(offsets, self._table.start.take(bounds[:, FIRST]).tolist(), self._flags(bounds))
        for at, (source, data) in enumerate(zip(sources, given, strict=True)):
            if source is not data and source != data:
                _RereadDocument(self._table, places[at], bounds[at].tolist(), data).place(
                    nodes[at].tolist(), placed, at
                )
            elif unplaced:
                self._look_inside(source, nodes[at], offsets[at])
        return placed

    def _flags(self, bounds: Ints) -> list[int]:
        """Of documents that are read as they are."""
        declaring = self._declaring
        if not declaring:
            return [PLAIN | UTF8] * len(bounds)
        within = bounds[:, FIRST : END + 1].tolist()
        return [
            UTF8 | PLAIN * (bisect_right(declaring, first) == bisect_right(declaring, end - 1)) for first, end in within
        ]

    def _look_inside(self, source: bytes, nodes: Ints, offsets: Longs) -> None:
        """Find what the kernel did not find."""
        for at in np.flatnonzero(offsets < HIDDEN).tolist():
            offsets[at] = _offset_inside(self._table, source, int(nodes[at]))


def _offset_inside(table: NodeTable, source: bytes, node: int, start: int | None = None) -> int:
    """The offset of an attribute or text; `start` is that of its element, if it is not the table's."""
    owner = int(table.parent[node])
    start = int(table.start[owner]) if start is None else start
    if node < table.first_text:
        return attribute_offset(source, start, table.tags[table.attribute_tag[node - table.elements]])
    before = table.parent[table.first_text + int(table.text_first[owner]) : node] == owner
    return text_offset(source, start, int(np.count_nonzero(before)))


class _RereadDocument:
    """A document whose bytes are not those that were scanned: of another encoding, or rewritten for its DOCTYPE."""

    def __init__(self, table: NodeTable, place: int, bounds: Sequence[int], data: bytes) -> None:
        self._table, self._data = table, data
        self._first, end = bounds[FIRST], bounds[END]
        self._source = source = read_source(table.documents[place])
        self._starts: list[int] | None = None  # of the elements, where the source was rewritten
        self._is_faithful = True  # slices of the document mean what they say
        if source.data != table.sources[place]:
            self._starts = _start_tags(source, end - self._first)
            self._is_faithful = self._starts is not None

    def place(self, nodes: list[int], placed: PlacedNodes, at: int) -> None:
        """Tell where these nodes are, as one of several documents."""
        placed.entries[at] = [self._offset(node) if node >= 0 else node for node in nodes]
        placed.roots[at] = max(self._offset(self._first), 0)
        placed.flags[at] &= PLAIN * self._is_faithful
        placed.flags[at] |= UTF8 * (self._source.encoding is None)

    def _offset(self, node: int) -> int:
        if not self._is_faithful:
            return HIDDEN
        is_element = node < self._table.elements
        owner = node if is_element else int(self._table.parent[node])
        start = int(self._table.start[owner]) if self._starts is None else self._starts[owner - self._first]
        offset = start if is_element else _offset_inside(self._table, self._source.data, node, start)
        return offset_as_given(self._source, self._data, offset)


def offset_as_given(source: SourceBytes, given: bytes, offset: int) -> int:
    """The offset in a document's bytes of one in its UTF-8; HIDDEN if characters there have no place of their own."""
    if source.encoding is None:
        return offset
    text = source.data[:offset].decode("utf-8")
    size = len(text.encode(source.encoding))
    try:
        return size if given[:size].decode(source.encoding) == text else HIDDEN
    except UnicodeDecodeError:
        return HIDDEN


def _start_tags(source: SourceBytes, number: int) -> list[int] | None:
    """The start tags of a document that was rewritten; None if its DOCTYPE changes what they mean."""
    doctype = find_doctype(source)
    if doctype is not None and doctype.has_subset:
        return None
    starts: list[int] = []
    parser = expat.ParserCreate("utf-8")
    parser.StartElementHandler = lambda *_: starts.append(parser.CurrentByteIndex)
    parser.Parse(source.data, True)
    return starts if len(starts) == number else None
