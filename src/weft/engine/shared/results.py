"""Distinct queries as *results*: a state and a node of the shared plan in, the number of the result out."""

from __future__ import annotations

from array import array

import numpy as np

from weft.columns.integers import Ints
from weft.engine.shared.nodes import NOTHING

_NO_RESULT = -1


class Results:
    """The results of a plan: the rows that a state reaches, or those of them at which a node holds."""

    def __init__(self) -> None:
        self.state = array("i")  # by result
        self.node = array("i")  # by result; NOTHING: the state is all there is to it
        self._of_state = array("i")
        self._of_node = array("i")

    def __len__(self) -> int:
        return len(self.state)

    def find(self, state: int, node: int) -> int | None:
        """The result that these rows are, if there is one."""
        column, at = (self._of_state, state) if node == NOTHING else (self._of_node, node)
        return column[at] if at < len(column) and column[at] != _NO_RESULT else None

    def add(self, state: int, node: int) -> int:
        """One more result."""
        result = len(self.state)
        self.state.append(state)
        self.node.append(node)
        column, at = (self._of_state, state) if node == NOTHING else (self._of_node, node)
        if at >= len(column):
            column.extend([_NO_RESULT] * (at + 1 - len(column)))
        column[at] = result
        return result

    def by_state(self, states: int) -> Ints:
        """The result that each state is by itself; below zero where it is none."""
        return _filled(self._of_state, states)

    def by_node(self, nodes: int) -> Ints:
        """The result that each node gives; below zero where it gives none."""
        return _filled(self._of_node, nodes)


def _filled(column: array[int], size: int) -> Ints:
    filled = np.full(size, _NO_RESULT, np.int32)
    filled[: len(column)] = column
    return filled
