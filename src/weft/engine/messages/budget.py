"""Limits and a batch in, what each document may still bring out; what would be more is refused, and told why."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from weft.columns.integers import Flags, Ints, Longs
from weft.columns.kept import kept_property
from weft.documents.document import Limits
from weft.documents.document_column import source_sizes
from weft.documents.table import NodeTable

_LEAST = 8  # bytes of a copied node
_ESCAPED = 6  # bytes that a character may be written as
_GROWTH = 8  # a fragment is at most so much larger than its source, with all its declarations and escapes


class Budget:
    """What is left for each document of a batch.

    Nothing is measured where it cannot matter: a few fragments of a small document are within every limit.
    """

    def __init__(self, table: NodeTable, limits: Limits) -> None:
        self.limits, self._table = limits, table
        self.refused: dict[tuple[int, int], str] = {}  # by document and subscription
        self.unknown: set[tuple[int, int]] = set()  # those of them that may match or not
        self.left = [limits.max_output_bytes] * len(table.documents)
        self._spent: dict[int, list[tuple[int, Callable[[], int]]]] = {}  # by document
        self.largest = [_GROWTH * size for size in source_sizes(table.sources)]  # a fragment of each document can be

    def room(self, document: int) -> int:
        """The bytes that a query may still make of a document."""
        return min(self.limits.max_message_bytes, self.left[document])

    @property
    def most_entries(self) -> int:
        """The nodes that a message may have: there are shorter ones than this, but not millions of them."""
        return max(self.limits.max_messages, self.limits.max_message_bytes // _LEAST)

    def spend(self, document: int, most: int, size: Callable[[], int]) -> None:
        """A document brings out no more than so many bytes; `size` tells how many it is, if that matters."""
        self.left[document] -= most
        self._spent.setdefault(document, []).append((most, size))

    def settle(self, document: int) -> None:
        """Know to the byte what is left for a document."""
        for most, size in self._spent.pop(document, ()):
            self.left[document] += most - size()

    def refuse(self, document: int, subscription: int, reason: str) -> None:
        """A subscription gets nothing of a document; the first reason counts."""
        self.refused.setdefault((document, subscription), reason)

    def refuse_unknown(self, document: int, subscription: int, reason: str) -> None:
        """Whether a subscription matches a document was not worked out: it counts as no match."""
        self.unknown.add((document, subscription))
        self.refuse(document, subscription, reason)

    def is_known(self, document: Ints, subscription: Ints) -> Flags:
        """Which pairs were worked out."""
        known = np.ones(document.size, bool)
        if self.unknown:
            width = np.int64(1) << 32
            keys = np.array([at * int(width) + number for at, number in self.unknown], np.int64)
            known = ~np.isin(document * width + subscription, keys)
        return known

    def refuse_many(self, document: int, subscription: int, number: int) -> None:
        """It would be too many messages."""
        reason = f"{number} nodes or bindings, more than {self.limits.max_messages}"
        self.refuse(document, subscription, reason)

    def refuse_large(self, document: int, subscription: int, in_all: bool) -> None:
        """It would be too many bytes: for one query, or with all that the document has brought out before."""
        if in_all:
            reason = f"more than {self.limits.max_output_bytes} bytes from one document in all"
        else:
            reason = f"more than {self.limits.max_message_bytes} bytes from one document"
        self.refuse(document, subscription, reason)

    def most_sizes(self, nodes: Ints) -> Longs:
        """More than each of these nodes can have in a message, however it is written there."""
        table = self._table
        sizes: Longs = np.full(nodes.size, self.declared + self._tag, np.int64)
        is_element = nodes < table.elements
        rows = nodes[is_element]
        sizes[is_element] += _ESCAPED * (self._following[table.last[rows]] - table.start[rows])
        sizes[~is_element] += _ESCAPED * self._lengths[nodes[~is_element] - table.elements]
        return sizes

    def sizes(self, nodes: Ints) -> Longs:
        """The least that the fragments of nodes have in bytes: known from their places in the source."""
        table = self._table
        sizes: Longs = np.zeros(nodes.size, np.int64)
        is_element = nodes < table.elements
        rows = nodes[is_element]
        sizes[is_element] = table.end[rows] - table.start[rows]
        sizes[~is_element] = self._lengths[nodes[~is_element] - table.elements]
        return sizes

    @kept_property
    def all_sizes(self) -> list[int]:
        """The same for all nodes of the batch, one by one."""
        sizes: list[int] = self.sizes(np.arange(self._table.nodes, dtype=np.int32)).tolist()
        return sizes

    @kept_property
    def _following(self) -> Longs:
        """Where the next element after each row begins in the source, or the source ends: a row's end is before."""
        table = self._table
        ends = np.array(source_sizes(table.sources), np.int64)[table.document]
        is_inside = np.append(table.document[1:] == table.document[:-1], np.zeros(min(table.elements, 1), bool))
        following = np.append(table.start[1:], 0) if table.elements else table.start
        return np.where(is_inside, following, ends)

    @kept_property
    def _tag(self) -> int:
        """More than the name of an attribute has, with what stands around its value."""
        return 8 + 4 * max(map(len, self._table.tags), default=0)

    @kept_property
    def _lengths(self) -> Longs:
        """The bytes of attribute values, then of texts."""
        return np.concatenate([np.diff(self._table.attribute_value_start), np.diff(self._table.text_start)])

    @kept_property
    def declared(self) -> int:
        """The bytes that declarations may add to a fragment."""
        parts = ((prefix or "", uri or "") for _, prefix, uri in self._table.namespaces)
        return _GROWTH * sum(len(prefix) + len(uri) + 10 for prefix, uri in parts)


def size_of(text: str) -> int:
    """The bytes of a text in UTF-8."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
