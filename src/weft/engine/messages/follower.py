"""Chains and rows in, the lists of nodes that they lead to out: each looked up once, whichever queries ask for it."""

from __future__ import annotations

import numpy as np

from weft.columns.integers import Flags, Ints, Longs, distinct
from weft.engine.evaluation.evaluate import Evaluation
from weft.engine.messages.shapes import Shapes
from weft.engine.shared.nodes import NOTHING

_SPARSE = 32  # places of a table for each key, from which on a sort is cheaper


class Follower:
    """Follows chains for a batch: all of them together, link by link (the paper's shared GroupBy)."""

    def __init__(self, evaluation: Evaluation, shapes: Shapes) -> None:
        self._evaluation, self._shapes = evaluation, shapes

    def document_of(self, rows: Ints) -> Ints:
        """The documents of rows."""
        return np.asarray(self._evaluation.table.node_document[rows], np.int32)

    def holds(self, nodes: Ints, rows: Ints) -> Flags:
        """Which nodes of the shared plan hold at which rows."""
        return self._evaluation.holds(nodes, rows)

    def lists(self, chains: Ints, rows: Ints) -> tuple[Longs, Longs, Ints]:
        """For rows, each with its chain: where its list starts and ends in the nodes that come last."""
        width = max(self._evaluation.table.nodes, 1)
        keys = chains * np.int64(width) + rows
        size = (int(chains.max(initial=-1)) + 1) * width
        if size <= _SPARSE * keys.size:  # few combinations: look them up in a table instead of sorting
            marks = np.zeros(size, bool)
            marks[keys] = True
            wanted = np.flatnonzero(marks)
            places = np.empty(size, np.int32)
            places[wanted] = np.arange(wanted.size, dtype=np.int32)
            place = places[keys]
        else:
            wanted = distinct(keys)
            place = np.searchsorted(wanted, keys)
        with self._evaluation.profile("GroupBy"):
            origin, nodes = self._follow((wanted // width).astype(np.int32), (wanted % width).astype(np.int32))
        starts = np.searchsorted(origin, np.arange(wanted.size + 1))
        return starts[place], starts[place + 1], nodes

    def _follow(self, chains: Ints, rows: Ints) -> tuple[Longs, Ints]:
        """(position in the input, node), sorted by position, then in document order."""
        edges, links = self._shapes.edges, self._shapes.nodes
        first = edges.starts[chains]
        lengths = edges.starts[chains + np.int64(1)] - first
        origin, at = np.arange(rows.size), rows
        done: list[tuple[Longs, Ints]] = []
        for number in range(int(lengths.max(initial=0)) + 1):
            ends = lengths[origin] == number
            done.append((origin[ends], at[ends]))
            origin, at = origin[~ends], at[~ends]
            if not origin.size:
                break
            entry = first[origin] + number
            step, below = self._evaluation.navigation.down(edges.entries[entry], at)
            origin, at = origin[step], below
            if number:  # a node may be reached in more than one way
                origin, at = self._once(origin, at)
            origin, at = self._passing(origin, at, links[first[origin] + number])
        origin = np.concatenate([some for some, _ in done])
        nodes = np.concatenate([some for _, some in done])
        order = np.argsort(origin, kind="stable")
        return origin[order], nodes[order]

    def _once(self, origin: Longs, at: Ints) -> tuple[Longs, Ints]:
        keys = distinct(origin * np.int64(self._evaluation.table.nodes) + at)
        return keys // self._evaluation.table.nodes, (keys % self._evaluation.table.nodes).astype(np.int32)

    def _passing(self, origin: Longs, at: Ints, nodes: Ints) -> tuple[Longs, Ints]:
        """What is left where nodes of the shared plan must hold."""
        asked = np.flatnonzero(nodes != NOTHING)
        if not asked.size:
            return origin, at
        keep = np.ones(at.size, bool)
        keep[asked] = self.holds(nodes[asked], at[asked])
        return origin[keep], at[keep]
