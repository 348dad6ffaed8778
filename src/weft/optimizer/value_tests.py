"""Nodes and a test on their values in, which of them pass out; whole numbers and plain texts without making strings."""

from __future__ import annotations

import numpy as np

from weft.columns.integers import Flags, Ints, Longs
from weft.documents.strings import Characters
from weft.documents.table import NodeTable
from weft.plans.comparisons import HOLDS, holds
from weft.plans.plan import Value

_MOST_DIGITS = 9
_ZERO, _NINE = 48, 57


class Values:
    """The values of one node table."""

    def __init__(self, table: NodeTable) -> None:
        self._table = table
        self._data: dict[bool, bytes] = {}  # the characters, of attributes or of texts

    def passing(self, nodes: Ints, test: Value) -> Flags:
        """Which nodes, all of one kind, pass a test on their value."""
        if not nodes.size:
            return np.zeros(0, bool)
        if isinstance(test.constant, float):
            return self._compare(nodes, test)
        if isinstance(test.constant, str) and test.operator in _TEXT_TESTS:
            characters, starts, ends = self._spans(nodes)
            constant = test.constant.encode("utf-8", "surrogatepass")
            if test.operator == "contains":
                return self._contains(nodes, constant, starts, ends)
            return _stands(test.operator, characters, starts, ends, constant)
        return self._one_by_one(nodes, test)

    def _one_by_one(self, nodes: Ints, test: Value) -> Flags:
        return np.array([holds(test, value) for value in self._table.string_values(nodes)], bool)

    def _spans(self, nodes: Ints) -> tuple[Characters, Longs, Longs]:
        """Where the values begin and end, and in what."""
        table = self._table
        if self._are_attributes(nodes):
            at, starts = nodes - table.elements, table.attribute_value_start
            return table.attribute_characters, starts[at], starts[at + np.int64(1)]
        return table.characters, *table.spans(nodes)

    def _are_attributes(self, nodes: Ints) -> bool:
        return bool(self._table.elements <= nodes[0] < self._table.first_text)

    def _compare(self, nodes: Ints, test: Value) -> Flags:
        """Values of a few digits as numbers; all others as the language reads them."""
        characters, starts, ends = self._spans(nodes)
        numbers, is_plain = plain_numbers(characters, starts, ends)
        passed = np.asarray(HOLDS[test.operator](numbers, test.constant), bool)
        if not is_plain.all():
            others = np.flatnonzero(~is_plain)
            passed[others] = self._one_by_one(nodes[others], test)
        return passed

    def _contains(self, nodes: Ints, constant: bytes, starts: Longs, ends: Longs) -> Flags:
        is_attribute = self._are_attributes(nodes)
        data = self._data.get(is_attribute)
        if data is None:
            table = self._table
            data = (table.attribute_characters if is_attribute else table.characters).tobytes()
            self._data[is_attribute] = data
        find = data.find
        found = [find(constant, start, end) >= 0 for start, end in zip(starts.tolist(), ends.tolist(), strict=True)]
        return np.array(found, bool)


_TEXT_TESTS = ("contains", "=", "starts-with", "ends-with")


def _stands(operator: str, characters: Characters, starts: Longs, ends: Longs, constant: bytes) -> Flags:
    """Which spans are a text, or begin or end with it."""
    size = len(constant)
    is_long = ends - starts == size if operator == "=" else ends - starts >= size
    places = np.flatnonzero(is_long)
    begins = ends[places] - size if operator == "ends-with" else starts[places]
    for offset, byte in enumerate(constant):
        if not places.size:
            break
        kept = characters[begins + offset] == byte
        places, begins = places[kept], begins[kept]
    passed = np.zeros(starts.size, bool)
    passed[places] = True
    return passed


def plain_numbers(characters: Characters, starts: Longs, ends: Longs) -> tuple[Longs, Flags]:
    """The values that are a few digits and nothing else as numbers, and which are."""
    sizes = ends - starts
    is_plain = (sizes > 0) & (sizes <= _MOST_DIGITS)
    numbers = np.zeros(starts.size, np.int64)
    for offset in range(int(sizes[is_plain].max(initial=0))):
        here = np.flatnonzero(is_plain & (sizes > offset))
        digits = characters[starts[here] + offset]
        is_digit = (digits >= _ZERO) & (digits <= _NINE)
        is_plain[here[~is_digit]] = False
        numbers[here] = numbers[here] * 10 + (digits.astype(np.int64) - _ZERO)
    return numbers, is_plain
