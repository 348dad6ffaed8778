"""A node table in; for each element the namespace declarations out that it uses and that stand outside it."""

from __future__ import annotations

from itertools import count

import numpy as np

from weft.columns.integers import Ints, Longs
from weft.documents.table import NodeTable


class Scopes:
    """Which declaration each name of a batch goes by.

    A *use* is an element or an attribute whose name goes by a declaration of an element around it. The uses stand in
    document order, so those inside an element are a run.
    """

    def __init__(self, table: NodeTable) -> None:
        self._last = table.last
        self._rows = [row for row, _, _ in table.namespaces]
        declared_at = np.array(self._rows, np.int64)
        numbers = _numbered(table)
        width = table.elements + 1
        keys, found = _changes(self._rows, table.last[declared_at], _prefixes(table, numbers), width)
        rows, prefixes = _names(table, numbers)
        at = np.searchsorted(keys, prefixes * width + rows, side="right") - 1
        by = np.where((at >= 0) & (keys[at] // width == prefixes), found[at], -1)
        is_declared = np.array([uri is not None for _, _, uri in table.namespaces])
        is_use = (by >= 0) & is_declared[by] & (declared_at[by] < rows)
        order = np.argsort(rows[is_use], kind="stable")
        self._uses: Longs = by[is_use][order]
        self._before = _places_before(self._uses)
        self._first = np.searchsorted(rows[is_use][order], np.arange(width))

    def missing(self, row: int) -> list[int]:
        """The declarations, as they come in the table, that an element uses and that are not inside it."""
        first, end = int(self._first[row]), int(self._first[self._last[row] + 1])
        if first == end:
            return []
        declared_at = self._rows
        if end - first == 1:
            use = int(self._uses[first])
            return [use] if declared_at[use] < row else []
        is_first = self._before[first:end] < first
        return sorted(use for use in self._uses[first:end][is_first].tolist() if declared_at[use] < row)


def _numbered(table: NodeTable) -> dict[str, int]:
    """The declared prefixes, "" for the default namespace, as numbers; `xml` needs no declaration."""
    numbers: dict[str, int] = {}
    for _, prefix, _ in table.namespaces:
        numbers.setdefault(prefix or "", len(numbers))
    numbers.pop("xml", None)
    return numbers


def _prefixes(table: NodeTable, numbers: dict[str, int]) -> list[int]:
    return [numbers.get(prefix or "", -1) for _, prefix, _ in table.namespaces]


def _changes(rows: list[int], lasts: Ints, prefixes: list[int], width: int) -> tuple[Longs, Longs]:
    """Where prefixes change their declaration: sorted keys of prefix and row, and what it is from there, -1 if none.

    They do so at the element that has a declaration, and behind it, back to the one around.
    """
    changes: dict[int, int] = {}
    around: dict[int, list[int]] = {prefix: [] for prefix in prefixes}
    ends = (lasts + 1).tolist()

    def close(prefix: int, before: int) -> None:
        stack = around[prefix]
        while stack and ends[stack[-1]] <= before:
            end = ends[stack.pop()]
            changes[prefix * width + end] = stack[-1] if stack else -1

    for row, prefix, number in zip(rows, prefixes, count(), strict=False):
        close(prefix, row)
        changes[prefix * width + row] = number
        around[prefix].append(number)
    for prefix in around:
        close(prefix, width)
    keys = np.fromiter(changes, np.int64, len(changes))
    order = np.argsort(keys)
    return keys[order], np.fromiter(changes.values(), np.int64, len(changes))[order]


def _names(table: NodeTable, numbers: dict[str, int]) -> tuple[Longs, Longs]:
    """The rows and prefixes of all names that have one; an attribute without one is in no namespace."""
    of_element, of_attribute = np.full(len(table.tags), -1, np.int64), np.full(len(table.tags), -1, np.int64)
    for at in np.unique(np.concatenate([table.tag, table.attribute_tag])).tolist():
        prefix, colon, _ = table.tags[at].rpartition(":")
        of_element[at] = numbers.get(prefix, -1)
        of_attribute[at] = of_element[at] if colon else -1
    rows = np.concatenate([np.arange(table.elements), table.parent[table.elements : table.first_text]])
    prefixes = np.concatenate([of_element[table.tag], of_attribute[table.attribute_tag]])
    is_known = prefixes >= 0
    return rows[is_known], prefixes[is_known]


def _places_before(uses: Longs) -> Longs:
    """For each use the place of the one before it that goes by the same declaration, -1 if it is the first."""
    before = np.full(uses.size, -1, np.int64)
    order = np.argsort(uses, kind="stable")
    is_same = uses[order[1:]] == uses[order[:-1]]
    before[order[1:][is_same]] = order[:-1][is_same]
    return before
