"""A batch of documents as columns of integers, and the ways from node to node.

Elements, attributes and texts are *nodes*; a node is one integer in the whole batch: elements first (their row),
then attributes, then texts, each in document order. `parent` is right for all three.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from weft.columns.integers import Ints, Longs, expand
from weft.columns.kept import kept_property
from weft.documents.document import Document
from weft.documents.document_column import source_sizes
from weft.documents.kind import Kind
from weft.documents.names import NameTable
from weft.documents.strings import Characters, Strings
from weft.errors import DocumentError

_MOST_BELOW = 1 << 23  # nodes below others, counted for each of these: elements nested in elements have very many
_MOST_HELD = 1 << 27  # characters of values that are held at once
_WIDEST = 4  # bytes of a character


@dataclass(frozen=True)
class NodeTable:
    """A batch of documents as columns. Rows are elements in document order, document after document."""

    documents: Sequence[Document]
    sources: Sequence[bytes]
    rejected: tuple[DocumentError, ...]
    name_table: NameTable  # shared by batches, and growing: a number means the same in all tables that have it
    # one entry an element
    document: Ints
    name: Ints
    tag: Ints
    parent: Ints  # the element's parent row, -1 for a root; then the owners of attributes and of texts
    last: Ints  # last row of the subtree
    depth: Ints  # 1 for a root
    start: Longs  # byte offset of the start tag in the document's source
    end: Longs  # byte offset where the end tag starts, or of the end of an empty-element tag
    text_first: Ints  # the subtree's texts are texts[text_first:text_last]
    text_last: Ints
    event: Ints  # position in the batch's event order
    # one entry an attribute
    attribute_name: Ints
    attribute_tag: Ints
    attribute_characters: Characters  # all attribute values in UTF-8, one behind the other
    attribute_value_start: Longs  # where each begins in them; one entry more, for the end of the last
    # one entry a text
    text_event: Ints
    characters: Characters  # all character data in UTF-8, decoded, one text behind the other
    text_start: Longs  # where each begins in them; one entry more, for the end of the last
    # declared namespaces: row, prefix, uri (None undeclares the default)
    namespaces: tuple[tuple[int, str | None, str | None], ...]

    @property
    def names(self) -> list[str]:
        """Expanded names, `{uri}local`: the columns `name` and `attribute_name` point here."""
        return self.name_table.names

    @property
    def tags(self) -> list[str]:
        """Names as written, `prefix:local`: the columns `tag` and `attribute_tag` point here."""
        return self.name_table.tags

    @kept_property
    def element_names(self) -> list[int]:
        """The numbers of the names that elements of this batch have; the name table may have very many others."""
        return _distinct(self.name)

    @kept_property
    def attribute_names(self) -> list[int]:
        """The numbers of the names that attributes of this batch have."""
        return _distinct(self.attribute_name)

    @kept_property
    def texts(self) -> Strings:
        """The texts, each made when it is asked for."""
        return Strings(self.characters, self.text_start)

    @kept_property
    def attribute_values(self) -> Strings:
        """The values of attributes, each made when it is asked for."""
        return Strings(self.attribute_characters, self.attribute_value_start)

    @property
    def elements(self) -> int:
        """How many elements there are: nodes below it are elements."""
        return len(self.name)

    @property
    def first_text(self) -> int:
        """The node of the first text."""
        return len(self.name) + len(self.attribute_name)

    @property
    def nodes(self) -> int:
        """How many nodes there are in all."""
        return len(self.parent)

    @kept_property
    def node_document(self) -> Ints:
        """The document of every node."""
        return np.concatenate([self.document, self.document[self.parent[self.elements :]]])

    @kept_property
    def ranges(self) -> Ints:
        """For elements, attributes and texts, a row each: where every document's nodes begin, and the end."""
        roots = np.searchsorted(self.document, np.arange(len(self.documents) + 1))
        owners = self.parent[self.elements : self.first_text]
        ranges = np.empty((3, roots.size), np.int32)
        ranges[0], ranges[1] = roots, self.elements + np.searchsorted(owners, roots)
        ranges[2] = self.first_text + np.append(self.text_first, self.nodes - self.first_text)[roots]
        return ranges

    @kept_property
    def order(self) -> Longs:
        """A key for every node that puts nodes of all kinds in document order."""
        width = int(self.attribute_name.size) + 1
        event = self.event.astype(np.int64) * width
        owners = self.parent[self.elements : self.first_text]
        attribute = event[owners] + np.arange(1, owners.size + 1)
        # An attribute's rank among all attributes is below `width`, so it stays before the next event.
        return np.concatenate([event, attribute, self.text_event.astype(np.int64) * width])

    @kept_property
    def _open_rows(self) -> tuple[Longs, Longs]:
        """Rows by depth, and keys that find the row open at a depth."""
        by_depth = np.argsort(self.depth, kind="stable")
        return by_depth, self.depth[by_depth].astype(np.int64) * self.elements + by_depth

    def at_depth(self, nodes: Ints, depths: Ints) -> Ints:
        """The ancestor of each node at a depth above its own."""
        rows = np.where(nodes < self.elements, nodes, self.parent[nodes])
        by_depth, keys = self._open_rows
        found = np.searchsorted(keys, depths.astype(np.int64) * self.elements + rows, side="right") - 1
        return by_depth[found].astype(np.int32)

    def ancestors(self, nodes: Ints, ups: Ints) -> Ints:
        """The ancestor of each node so many levels up."""
        nodes = nodes.copy()
        for level in range(int(ups.max(initial=0))):
            nodes = np.where(ups > level, self.parent[nodes], nodes)
        return nodes

    @kept_property
    def by_parent(self) -> dict[Kind, tuple[Longs, Ints]]:
        """For each kind its nodes by their parents, and where each parent's nodes begin."""
        bounds = {Kind.ELEMENT: (0, self.elements), Kind.ATTRIBUTE: (self.elements, self.first_text)}
        bounds[Kind.TEXT] = (self.first_text, self.nodes)
        result = {}
        for kind, (first, end) in bounds.items():
            parents = self.parent[first:end]
            order = np.argsort(parents, kind="stable")
            starts = np.searchsorted(parents[order], np.arange(self.elements + 1))
            result[kind] = starts, (order + first).astype(np.int32)
        return result

    def reach(self, rows: Ints, kind: Kind, deep: bool) -> tuple[Longs, Ints]:
        """All nodes of a kind that a step leads to from rows: (position in the input, node)."""
        rows = rows[rows < self.elements] if rows.size and rows.max() >= self.elements else rows
        starts, nodes = self.by_parent[kind]
        if not deep:
            which, inside = expand(starts[rows], starts[rows + np.int64(1)])
            return which, nodes[inside]
        which, inside = expand(*self.span_below(rows, kind), _MOST_BELOW)
        return which, inside.astype(np.int32)

    def span_below(self, rows: Ints, kind: Kind) -> tuple[Longs, Longs]:
        """From which node to before which one the nodes of a kind lie that are below elements."""
        if kind is Kind.ELEMENT:
            return rows + np.int64(1), self.last[rows] + np.int64(1)
        if kind is Kind.ATTRIBUTE:
            starts, _ = self.by_parent[kind]
            return starts[rows] + self.elements, starts[self.last[rows] + np.int64(1)] + self.elements
        first = np.int64(self.first_text)
        return self.text_first[rows] + first, self.text_last[rows] + first

    def string_value(self, node: int) -> str:
        """XPath's string-value of a node."""
        if node < self.elements:
            return self.texts.joined(self.text_first[node], self.text_last[node])
        if node < self.first_text:
            return self.attribute_values[node - self.elements]
        return self.texts[node - self.first_text]

    @kept_property
    def _characters_before(self) -> Longs:
        """The characters of all texts before each."""
        if self.texts.is_ascii:
            return self.text_start
        begins = (self.characters & 0xC0) != 0x80  # a byte that does not go on with the character before
        return np.append(0, np.cumsum(np.add.reduceat(begins, self.text_start[:-1], dtype=np.int64)))

    def lengths(self, nodes: Ints) -> Longs:
        """The characters of the string-values of nodes."""
        sizes = np.zeros(nodes.size, np.int64)
        is_element, is_text = nodes < self.elements, nodes >= self.first_text
        before, rows, texts = self._characters_before, nodes[is_element], nodes[is_text] - self.first_text
        sizes[is_element] = before[self.text_last[rows]] - before[self.text_first[rows]]
        sizes[is_text] = before[texts + 1] - before[texts]
        attributes = nodes[~is_element & ~is_text] - self.elements
        sizes[~is_element & ~is_text] = [len(self.attribute_values[at]) for at in attributes.tolist()]
        return sizes

    def most_characters(self, nodes: Ints) -> int:
        """More than the string-values of nodes, each of them once, have in all: known without looking at them."""
        rows = nodes[nodes < self.elements]
        return int((self.end[rows] - self.start[rows]).sum()) + sum(source_sizes(self.sources))

    def spans(self, nodes: Ints) -> tuple[Longs, Longs]:
        """Where the string-values of elements and texts begin and end in `characters`."""
        is_element = nodes < self.elements
        rows, texts = nodes[is_element], nodes[~is_element] - self.first_text
        first, last = np.empty(nodes.size, np.int64), np.empty(nodes.size, np.int64)
        first[is_element], last[is_element] = self.text_first[rows], self.text_last[rows]
        first[~is_element], last[~is_element] = texts, texts + 1
        return self.text_start[first], self.text_start[last]

    def string_values(self, nodes: Ints, longest: int | None = None) -> list[str]:
        """The string-values of many nodes, those of elements cut to a length if one is given.

        Raises MemoryError, before any memory is spent, where they are too much to be held.
        """
        is_attribute = (nodes >= self.elements) & (nodes < self.first_text)
        if is_attribute.any():
            values = [""] * nodes.size
            own = np.flatnonzero(is_attribute)
            for at, attribute in zip(own.tolist(), (nodes[own] - self.elements).tolist(), strict=True):
                values[at] = self.attribute_values[attribute]
            others = np.flatnonzero(~is_attribute)
            for at, value in zip(others.tolist(), self.string_values(nodes[others], longest), strict=True):
                values[at] = value
            return values
        starts, ends = self.spans(nodes)
        if longest is not None:
            is_cut = (nodes < self.elements) & (ends - starts > longest)
            ends = np.where(is_cut, np.minimum(ends, starts + _WIDEST * longest), ends)
        elif self.most_characters(nodes) > _MOST_HELD and (total := int(self.lengths(nodes).sum())) > _MOST_HELD:
            raise MemoryError(f"values of {total} characters at once, more than {_MOST_HELD}")
        values = list(map(self.texts.between, starts.tolist(), ends.tolist()))
        if longest is not None:
            for at in np.flatnonzero(is_cut).tolist():
                values[at] = values[at][:longest]
        return values


def _distinct(numbers: Ints) -> list[int]:
    """Numbers that a column has, each once; they are small."""
    found: list[int] = np.flatnonzero(np.bincount(numbers)).tolist()
    return found
