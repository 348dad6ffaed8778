"""Nodes of a batch in, what it takes to write them out: stretches of their sources, for which no node table is kept."""

from __future__ import annotations

import numpy as np

from weft.columns.integers import Ints, Longs
from weft.columns.kept import kept_property
from weft.documents.escaping import escape_attribute, escape_text
from weft.documents.fragment import declaration
from weft.documents.scopes import Scopes
from weft.documents.strings import Strings
from weft.documents.table import NodeTable
from weft.kernel.stretches import Stretches, element_ends

_SPECIAL = b"&<>\r"  # what character data has written in another way


class Excerpts:
    """Nodes by their places among those that were given, each written when it is read.

    An element is a stretch of its source, with the declarations put in that it needs. Texts and attributes are a copy:
    as they are shown (`name="value"` for an attribute), or, `escaped`, as they stand inside another element.
    """

    def __init__(self, table: NodeTable, nodes: Ints, escaped: bool = False) -> None:
        rows, places = nodes[nodes < table.elements], np.flatnonzero(nodes < table.elements)
        others = np.flatnonzero(nodes >= table.elements)
        own, ends = _written(table, nodes[others], escaped)
        self._buffers = [*table.sources, own]
        self._buffer = np.full(nodes.size, len(table.sources), np.int32)
        self._start, self._end = np.zeros(nodes.size, np.int64), np.zeros(nodes.size, np.int64)
        self._start[others], self._end[others] = np.append(0, ends[:-1])[: ends.size], ends
        self._buffer[places] = table.document[rows]
        self._start[places] = table.start[rows]
        childless = (table.last[rows] == rows) & (table.text_first[rows] == table.text_last[rows])
        self._end[places] = element_ends(table.sources, table.document[rows], table.end[rows], childless)
        self._declaring = _Declaring(table, rows, places, nodes.size) if table.namespaces else None

    def sizes(self, numbers: Ints) -> Longs:
        """The bytes of some."""
        return self.stretches.sizes(numbers)

    def joined(self, numbers: Ints) -> tuple[bytearray, Longs]:
        """Some of them in UTF-8, one behind the other, and where each ends."""
        return self.stretches.joined(numbers)

    def strings(self, numbers: Ints) -> list[str]:
        """Some of them as strings."""
        return self.stretches.strings(numbers)

    @kept_property
    def stretches(self) -> Stretches:
        """All of them; which declarations they need is found out when they are first read."""
        inserted, place, written = np.zeros(self._buffer.size, np.int32), self._start, [b""]
        if self._declaring is not None:
            place = self._start + self._declaring.heads
            written += self._declaring.put_in(inserted)
        return Stretches(self._buffers, (self._buffer, self._start, self._end), (inserted, place), written)


class _Declaring:
    """Which declarations elements need that stand outside them."""

    def __init__(self, table: NodeTable, rows: Ints, places: Longs, size: int) -> None:
        self._scopes, self._namespaces = Scopes(table), table.namespaces
        self._rows, self._places = rows, places
        tags = table.tag[rows]
        sizes = {tag: 1 + len(table.tags[tag].encode()) for tag in np.unique(tags).tolist()}
        self.heads = np.zeros(size, np.int64)  # up to where a start tag has its name
        self.heads[places] = [sizes[tag] for tag in tags.tolist()]

    def put_in(self, inserted: Ints) -> list[bytes]:
        """Put down by node what is put in, from 1; what that is comes back."""
        numbers: dict[tuple[int, ...], int] = {(): 0}
        missing = self._scopes.missing
        inserted[self._places] = [numbers.setdefault(tuple(missing(row)), len(numbers)) for row in self._rows.tolist()]
        return ["".join(declaration(*self._namespaces[at][1:]) for at in each).encode() for each in numbers if each]


class CopiedValues:
    """The string-values of nodes, which are sorted and distinct."""

    def __init__(self, table: NodeTable, nodes: Ints) -> None:
        self._nodes = nodes
        data, ends = _joined_values(table, nodes)
        self._values = Strings(np.frombuffer(data, np.uint8), np.append(0, ends))

    def of(self, nodes: Ints) -> list[str]:
        """Those of some of the nodes."""
        return [self._values[at] for at in np.searchsorted(self._nodes, nodes).tolist()]


def _written(table: NodeTable, nodes: Ints, escaped: bool) -> tuple[bytes, Longs]:
    """Texts and attributes one behind the other, and where each ends."""
    data, ends = _joined_values(table, nodes)
    is_special = any(byte in data for byte in _SPECIAL) if escaped else bool((nodes < table.first_text).any())
    if not is_special:
        return bytes(data), ends
    values = Strings(np.frombuffer(data, np.uint8), np.append(0, ends))
    texts = map(escape_text, values) if escaped else _shown(table, nodes.tolist(), values)
    written = [text.encode("utf-8", "surrogatepass") for text in texts]
    return b"".join(written), np.cumsum(np.fromiter(map(len, written), np.int64, len(written)))


def _joined_values(table: NodeTable, nodes: Ints) -> tuple[bytearray, Longs]:
    """The string-values of nodes in UTF-8, one behind the other, and where each ends."""
    if not nodes.size:
        return bytearray(), np.zeros(0, np.int64)
    attribute = np.flatnonzero((nodes >= table.elements) & (nodes < table.first_text))
    others = np.flatnonzero((nodes < table.elements) | (nodes >= table.first_text))
    buffer, start, end = np.zeros(nodes.size, np.int32), *(np.zeros(nodes.size, np.int64) for _ in range(2))
    start[others], end[others] = table.spans(nodes[others])
    at = nodes[attribute] - table.elements
    buffer[attribute] = 1
    start[attribute], end[attribute] = table.attribute_value_start[at], table.attribute_value_start[at + 1]
    buffers = [table.characters.tobytes(), table.attribute_characters.tobytes()]
    values = Stretches(buffers, (buffer, start, end), (np.zeros(nodes.size, np.int32), start), [b""])
    return values.joined(np.arange(nodes.size, dtype=np.int32))


def _shown(table: NodeTable, nodes: list[int], values: Strings) -> list[str]:
    """Texts as they are, attributes with their names."""
    tags, tag = table.tags, table.attribute_tag
    return [
        value if node >= table.first_text else f'{tags[tag[node - table.elements]]}="{escape_attribute(value)}"'
        for node, value in zip(nodes, values, strict=True)
    ]
