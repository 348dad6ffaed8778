"""A document of a node table in, its tree out as lists: the nodes in document order, with their kinds, names and ends.

Node 0 is the document; an element's attributes stand right behind it, before what it contains.
"""

from __future__ import annotations

from enum import IntEnum
from itertools import count
from typing import Any

import numpy as np

from weft.columns.integers import Ints
from weft.columns.kept import kept_property
from weft.documents.escaping import escape_text
from weft.documents.fragment import Fragments
from weft.documents.kind import Kind
from weft.documents.table import NodeTable
from weft.plans.names import passes

_serials = count(1)


class NodeKinds(IntEnum):
    """What a node of a tree is."""

    DOCUMENT = 0
    ELEMENT = 1
    ATTRIBUTE = 2
    TEXT = 3


class DocumentTree:
    """The nodes of one document, by number in document order."""

    def __init__(self, table: NodeTable, document: int, fragments: Fragments, is_built: bool = False) -> None:
        """What a query has built has no document node above it."""
        self._table, self._fragments = table, fragments
        self.serial = 0 if not is_built else next(_serials)
        self.root = 1 if is_built else 0
        ranges = table.ranges[:, document : document + 2]
        self._ranges: list[list[int]] = ranges.tolist()
        numbers = [end - start for start, end in self._ranges]
        nodes = np.concatenate([np.arange(start, end, dtype=np.int32) for start, end in self._ranges])
        in_order = np.argsort(table.order[nodes])
        self._places = np.empty(nodes.size, np.int32)  # of elements, attributes and texts, one kind behind the other
        self._places[in_order] = np.arange(1, nodes.size + 1, dtype=np.int32)
        rows, attributes = (slice(start, end) for start, end in self._ranges[:2])
        before = table.elements
        names = [table.name[rows], table.attribute_name[attributes.start - before : attributes.stop - before]]
        names.append(np.full(numbers[2], -1, np.int32))
        above = table.parent[nodes] - rows.start
        parents = np.where(above >= 0, self._places[np.maximum(above, 0)], 0)
        ends = self._places + 1
        ends[: numbers[0]] += self._sizes(nodes[: numbers[0]])
        self.node: list[int] = [-1, *nodes[in_order].tolist()]  # of the table
        self.kind: list[int] = [0, *np.repeat((1, 2, 3), numbers)[in_order].tolist()]
        self.name: list[int] = [-1, *np.concatenate(names)[in_order].tolist()]
        self.parent: list[int] = [-1, *parents[in_order].tolist()]
        self.end: list[int] = [nodes.size + 1, *ends[in_order].tolist()]
        if is_built:
            self.parent[1] = -1
        self._values: dict[int, str] = {}
        self._children: dict[int, list[int]] = {}
        self.memo: dict[int, Any] = {}  # what several queries ask for, by what they call it
        self._passing: dict[tuple[int, str], frozenset[int]] = {}

    def place_of(self, node: int) -> int:
        """The number here of a node of the table."""
        before = 0
        for start, end in self._ranges:
            if start <= node < end:
                return int(self._places[before + node - start])
            before += end - start
        raise KeyError(node)

    def _sizes(self, rows: Ints) -> Ints:
        """How many nodes are in each element, attributes too."""
        table = self._table
        starts, _ = table.by_parent[Kind.ATTRIBUTE]
        last = table.last[rows]
        attributes = starts[last + np.int64(1)] - starts[rows]
        sizes = last - rows + attributes + table.text_last[rows] - table.text_first[rows]
        return np.asarray(sizes, np.int32)

    def __len__(self) -> int:
        return len(self.kind)

    # -- ways

    def children(self, node: int) -> list[int]:
        """The elements and texts in a node."""
        found = self._children.get(node)
        if found is None:
            found = self._children[node] = []
            kind, end, at, last = self.kind, self.end, node + 1, self.end[node]
            while at < last:
                if kind[at] == NodeKinds.ATTRIBUTE:
                    at += 1
                else:
                    found.append(at)
                    at = end[at]
        return found

    def attributes(self, node: int) -> list[int]:
        """The attributes of a node."""
        if self.kind[node] != NodeKinds.ELEMENT:
            return []
        found, kind = [], self.kind
        for at in range(node + 1, self.end[node]):
            if kind[at] != NodeKinds.ATTRIBUTE:
                break
            found.append(at)
        return found

    @kept_property
    def by_name(self) -> dict[int, list[int]]:
        """The elements that have each name; and below zero all elements."""
        found: dict[int, list[int]] = {-1: []}
        for node, (kind, name) in enumerate(zip(self.kind, self.name, strict=True)):
            if kind == NodeKinds.ELEMENT:
                found.setdefault(name, []).append(node)
                found[-1].append(node)
        return found

    @kept_property
    def _names_of(self) -> dict[int, set[int]]:
        """The names that elements, attributes and texts have."""
        found: dict[int, set[int]] = {kind: set() for kind in range(len(NodeKinds))}
        for kind, name in set(zip(self.kind, self.name, strict=True)):
            found[kind].add(name)
        return found

    def passing(self, kind: NodeKinds, label: str) -> frozenset[int]:
        """The names in this tree that pass a label test."""
        found = self._passing.get((kind, label))
        if found is None:
            names, here = self._table.names, self._names_of[kind]
            if label != "*":
                here = {name for name in here if passes(label, names[name])}
            found = self._passing[kind, label] = frozenset(here)
        return found

    # -- values

    def value(self, node: int) -> str:
        """The string-value of a node."""
        found = self._values.get(node)
        if found is None:
            of_table = self.node[1 if node == 0 else node]
            found = self._values[node] = self._table.string_value(of_table)
        return found

    def expanded(self, node: int) -> str:
        """The name of an element or attribute, `{uri}local`."""
        return self._table.names[self.name[node]] if self.name[node] >= 0 else ""

    def tag(self, node: int) -> str:
        """The name of an element or attribute, as it is written."""
        at, table = self.node[node], self._table
        if self.kind[node] == NodeKinds.ELEMENT:
            return str(table.tags[table.tag[at]])
        if self.kind[node] == NodeKinds.ATTRIBUTE:
            return str(table.tags[table.attribute_tag[at - table.elements]])
        return ""

    def xml(self, node: int) -> str:
        """A node as it stands in another element; of an attribute as it stands in a start tag, with its prefix."""
        if self.kind[node] == NodeKinds.DOCUMENT:
            return self.xml(1)
        at = self.node[node]
        if self.kind[node] == NodeKinds.TEXT:
            return escape_text(self.value(node))
        if self.kind[node] == NodeKinds.ATTRIBUTE:
            return f"{self._fragments.declaration(at)} {self._fragments.text(at)}"
        return self._fragments.text(at)

    def shown(self, node: int) -> str:
        """A node as a result by itself is shown."""
        return self._fragments.text(self.node[node or 1])
