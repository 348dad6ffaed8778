"""Edges between states of the NFA as columns, and what follows from the states: their steps from the top down."""

from __future__ import annotations

from array import array
from collections.abc import Generator

import numpy as np

from weft.columns.integers import Flags, Ints
from weft.columns.ragged import Ragged
from weft.engine.paths.states import States
from weft.engine.shared.nodes import NOTHING


class Edges:
    """Paths from one state to another; as a state has one way in, there is one path between two.

    A *walk* is an edge that is only ever walked down: its path is not in the NFA, so its steps are kept.
    """

    def __init__(self) -> None:
        self.above, self.below = array("i"), array("i")  # both NOTHING: a walk
        self.walks: dict[int, tuple[int, ...]] = {}

    def __len__(self) -> int:
        return len(self.above)

    def add(self, above: int, below: int) -> int:
        """One more edge; its number comes back."""
        self.above.append(above)
        self.below.append(below)
        return len(self.above) - 1

    def add_walk(self, steps: tuple[int, ...]) -> int:
        """One more walk, by the codes of its steps."""
        self.walks[len(self.above)] = steps
        return self.add(NOTHING, NOTHING)


class FrozenEdges:
    """The edges as arrays; `in_steps` makes them."""

    above: Ints
    below: Ints
    steps: Ragged  # by edge the codes of its steps, from the top down
    length: Ints
    is_deep: Flags
    up: Ints  # how far up an edge begins; 0: that differs

    @classmethod
    def in_steps(cls, edges: Edges, states: States) -> Generator[None, None, FrozenEdges]:
        """The edges as they are now; neither they nor the states may change between the steps."""
        made = cls()
        made.above = np.array(edges.above, np.int32)
        made.below = np.array(edges.below, np.int32)
        yield
        made.steps = yield from made._find_steps(edges, states)
        made.length = np.diff(made.steps.starts).astype(np.int32)
        deep = np.append(0, np.cumsum(made.steps.entries & 1))
        yield
        made.is_deep = deep[made.steps.starts[1:]] > deep[made.steps.starts[:-1]]
        is_up = (made.above != NOTHING) & ~made.is_deep
        made.up = np.where(is_up, made.length, 0).astype(np.int32)
        yield
        return made

    def contexts(self, climbed: Ints | None) -> Ints:
        """The states above deep edges; of those that are gone up, if these are given."""
        is_met = self.is_deep & (self.above != NOTHING)
        return np.unique(self.above[is_met] if climbed is None else self.above[climbed][is_met[climbed]])

    def _find_steps(self, edges: Edges, states: States) -> Generator[None, None, Ragged]:
        """All edges at once, step by step up from where they end."""
        if not len(edges):
            return Ragged(self.above, self.above, 0)
        step, up = np.array(states.step, np.int32), np.array(states.above, np.int32)
        edge, at = np.arange(len(edges), dtype=np.int32), self.below
        length = np.zeros(len(edges), np.int64)
        levels: list[tuple[Ints, Ints]] = []
        yield
        while edge.size:
            is_below = at != self.above[edge]
            edge, at = edge[is_below], at[is_below]
            levels.append((edge, step[at]))
            length[edge] += 1
            at = up[at]
            yield
        for walk, steps in edges.walks.items():
            length[walk] = len(steps)
        starts = np.append(0, np.cumsum(length))
        entries = np.zeros(int(starts[-1]), np.int32)
        for level, (edge, codes) in enumerate(levels, start=1):
            entries[starts[edge + 1] - level] = codes
            yield
        for walk, steps in edges.walks.items():
            entries[starts[walk] : starts[walk + 1]] = steps
        return Ragged.of_runs(starts, entries)
