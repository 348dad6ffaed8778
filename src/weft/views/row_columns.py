"""Nodes of a node table in; where they stand, their paths, values and fragments out, as columns that Arrow has.

A batch has many nodes, so nothing is done for each of them in Python that can be done for all at once.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from weft.columns.integers import Flags, Ints, Longs
from weft.documents.fragment import Fragments
from weft.documents.offsets import attribute_offset, text_offsets
from weft.documents.table import NodeTable
from weft.plans.numbers import number

_CLOSED, _SLASH = ord(">"), ord("/")
_NUMERIC = np.isin(np.arange(256), list(b"0123456789.- \t\r\n"))  # what a number may begin with
_END_TAG = len("</")
PATH_TYPE = pa.list_(pa.field("element", pa.string(), nullable=False))


class RowColumns:
    """The columns of a table's nodes, for any of them in their order."""

    def __init__(self, table: NodeTable) -> None:
        self._table = table
        self._fragments = Fragments(table)
        self._texts: dict[int, list[int]] = {}  # the offsets of the texts right inside elements

    @cached_property
    def _whole(self) -> bytes:
        """All sources, one behind the other."""
        sources = self._table.sources
        return sources[0] if len(sources) == 1 else b"".join(sources)

    @cached_property
    def _base(self) -> Longs:
        """Where each source begins among them."""
        sizes = np.array([0, *map(len, self._table.sources)], np.int64)
        return np.cumsum(sizes)[:-1]

    def offsets(self, nodes: Ints) -> Longs:
        """Where nodes begin in the sources of their documents."""
        table, is_element = self._table, nodes < self._table.elements
        found = np.empty(nodes.size, np.int64)
        found[is_element] = table.start[nodes[is_element]]
        found[~is_element] = [self._offset(node) for node in nodes[~is_element].tolist()]
        return found

    def lengths(self, nodes: Ints) -> Longs:
        """The bytes that elements have there; 0 for all else."""
        is_element = nodes < self._table.elements
        rows, found = nodes[is_element], np.zeros(nodes.size, np.int64)
        found[is_element] = self._ends(rows) - self._table.start[rows]
        return found

    def paths(self, nodes: Ints) -> pa.Array:
        """The names from the root to each: few paths are distinct."""
        levels, above = [], nodes
        while above.size:  # up to the roots, each ancestor once a level
            parents, at = np.unique(self._table.parent[above], return_inverse=True)
            has_none = int(parents[0] < 0)
            levels.append((self._names(above), at - has_none))
            above = parents[has_none:]
        known: list[list[str]] = []
        codes = np.zeros(0, np.int64)
        width = 2 * len(self._table.names) + 1
        for names, at in reversed(levels):
            parent = np.append(codes, -1)[at]  # -1, the last, where there is none
            pairs, codes = np.unique((parent + 1) * width + names, return_inverse=True)
            before, last = (each.tolist() for each in np.divmod(pairs, width))
            known = [[*(known[one - 1] if one else ()), self._name(two)] for one, two in zip(before, last, strict=True)]
        return pa.array(known, PATH_TYPE).take(pa.array(codes))

    def values(self, nodes: Ints) -> tuple[pa.Array, pa.Array]:
        """Their string-values, and these as numbers: null where elements are inside, and where it is no number."""
        table = self._table
        is_null = self._has_elements(nodes)
        is_attribute = (nodes >= table.elements) & (nodes < table.first_text)
        is_plain = ~is_null & ~is_attribute
        starts, ends = np.zeros(nodes.size, np.int64), np.zeros(nodes.size, np.int64)
        starts[is_plain], ends[is_plain] = table.spans(nodes[is_plain])
        if is_attribute.any():
            own = nodes[is_attribute] - table.elements
            base = table.characters.size
            starts[is_attribute] = table.attribute_value_start[own] + base
            ends[is_attribute] = table.attribute_value_start[own + 1] + base
        data = self._characters
        made = gathered(data, starts, ends, is_null)
        numbers = np.full(nodes.size, np.nan)
        first = np.frombuffer(data, np.uint8)
        filled = np.flatnonzero(ends > starts)
        for at in filled[_NUMERIC[first[starts[filled]]]].tolist():
            numbers[at] = number(data[starts[at] : ends[at]].decode("utf-8"))
        return made, pa.array(numbers, pa.float64(), mask=np.isnan(numbers))

    def fragments(self, nodes: Ints) -> pa.Array:
        """What they are as XML."""
        table = self._table
        if table.namespaces or (nodes >= table.elements).any():
            return pa.array([self._fragments.text(node) for node in nodes.tolist()], pa.string())
        base = self._base[table.document[nodes]]
        return gathered(self._whole, base + table.start[nodes], base + self._ends(nodes))

    @cached_property
    def _characters(self) -> bytes:
        """All texts, then the values of all attributes."""
        return self._table.characters.tobytes() + self._table.attribute_characters.tobytes()

    def _has_elements(self, nodes: Ints) -> Flags:
        is_element = nodes < self._table.elements
        found = np.zeros(nodes.size, bool)
        found[is_element] = self._table.last[nodes[is_element]] > nodes[is_element]
        return found

    def _ends(self, rows: Ints) -> Longs:
        """Where elements end: behind their end tags, or behind `/>`, which has no end tag (see Fragments)."""
        table, base = self._table, self._base[self._table.document[rows]]
        whole = np.frombuffer(self._whole, np.uint8)
        end = table.end[rows] + base
        is_empty = (table.last[rows] == rows) & (table.text_first[rows] == table.text_last[rows])
        is_empty &= (whole[end - 2] == _SLASH) & (whole[end - 1] == _CLOSED)
        tags, which = np.unique(table.tag[rows], return_inverse=True)
        sizes = np.array([len(table.tags[tag].encode("utf-8")) for tag in tags.tolist()], np.int64)
        close = np.where(is_empty, end - 1, end + _END_TAG + sizes[which])
        for at in np.flatnonzero(whole[close] != _CLOSED).tolist():  # white space stands behind the name
            close[at] = self._whole.index(b">", int(close[at]))
        found: Longs = close + 1 - base
        return found

    def _names(self, nodes: Ints) -> Longs:
        """The last names of paths to nodes, as numbers: 0 for a text, then elements' names, then attributes'."""
        table, found = self._table, np.zeros(nodes.size, np.int64)
        is_element = nodes < table.elements
        found[is_element] = table.name[nodes[is_element]] + 1
        if not is_element.all():
            is_attribute = ~is_element & (nodes < table.first_text)
            names = table.attribute_name[nodes[is_attribute] - table.elements]
            found[is_attribute] = names + len(table.names) + 1
        return found

    def _name(self, number: int) -> str:
        names = self._table.names
        if number == 0:
            return "text()"
        return names[number - 1] if number <= len(names) else f"@{names[number - 1 - len(names)]}"

    def _offset(self, node: int) -> int:
        """Where an attribute or a text begins."""
        table = self._table
        owner = int(table.parent[node])
        source, start = table.sources[int(table.document[owner])], int(table.start[owner])
        if node < table.first_text:
            return attribute_offset(source, start, table.tags[table.attribute_tag[node - table.elements]])
        if owner not in self._texts:
            self._texts[owner] = text_offsets(source, start)
        before, last = table.text_first[owner] + table.first_text, node + 1  # all of them are inside the owner
        own = np.count_nonzero(table.parent[before:last] == owner)
        return self._texts[owner][own - 1]


def gathered(data: bytes, starts: Longs, ends: Longs, is_null: NDArray[np.bool_] | None = None) -> pa.Array:
    """Slices of UTF-8 as an array of strings.

    >>> gathered(b"abc", np.array([0, 1]), np.array([2, 2])).to_pylist()
    ['ab', 'b']
    """
    joined = b"".join([data[start:end] for start, end in zip(starts.tolist(), ends.tolist(), strict=True)])
    places = np.append(0, np.cumsum(ends - starts))
    made = pa.LargeStringArray.from_buffers(starts.size, pa.py_buffer(places), pa.py_buffer(joined)).cast(pa.string())
    return made if is_null is None or not is_null.any() else pc.if_else(pa.array(is_null), None, made)
