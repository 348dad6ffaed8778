"""Nodes of a document that was read in, where they begin in its bytes as given out."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from xml.parsers import expat

import numpy as np

from weft.documents.doctype import find_doctype
from weft.documents.offsets import attribute_offset, text_offset
from weft.documents.source import SourceBytes, read_source
from weft.documents.table import NodeTable
from weft.headers.header import HIDDEN


class NodePlaces:
    """Where the nodes of one document begin in its bytes, as given; HIDDEN where what stands there does not say all.

    `declaring` are the rows of the batch that declare namespaces, in their order.
    """

    def __init__(self, table: NodeTable, place: int, root: int, data: bytes, declaring: Sequence[int]) -> None:
        self._table, self.root, self.data = table, root, data
        self._source = table.sources[place]  # in UTF-8, before anything is rewritten
        self._encoding: str | None = None
        self._starts: list[int] | None = None  # of the elements, where the source was rewritten
        self.is_faithful = True  # slices of the document mean what they say
        last = int(table.last[root])
        if self._source is not data and self._source != data:
            source = read_source(table.documents[place])
            self._encoding = source.encoding
            if source.data != self._source:
                self._starts = _start_tags(source, last - root + 1)
                self._source, self.is_faithful = source.data, self._starts is not None
        self.is_plain = self.is_faithful and bisect_right(declaring, root) == bisect_right(declaring, last)
        self.is_utf8 = self._encoding is None

    def of(self, node: int, owner: int) -> int:
        """The offset of a node that is, or belongs to, an element."""
        start, table = self._start(owner), self._table
        if node < table.elements or start < 0:
            return self._given(start)
        if node < table.first_text:
            name = table.tags[table.attribute_tag[node - table.elements]]
            return self._given(attribute_offset(self._source, start, name))
        before = table.parent[table.first_text + int(table.text_first[owner]) : node] == owner
        return self._given(text_offset(self._source, start, int(np.count_nonzero(before))))

    def _start(self, row: int) -> int:
        """The offset of an element in the source, before it was rewritten."""
        if not self.is_faithful:
            return HIDDEN
        return int(self._table.start[row]) if self._starts is None else self._starts[row - self.root]

    def _given(self, offset: int) -> int:
        """The offset in the bytes as given of one in UTF-8; HIDDEN if characters there have no place of their own."""
        if self._encoding is None or offset < 0:
            return offset
        text = self._source[:offset].decode("utf-8")
        given = len(text.encode(self._encoding))
        try:
            return given if self.data[:given].decode(self._encoding) == text else HIDDEN
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
