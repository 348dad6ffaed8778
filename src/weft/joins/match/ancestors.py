"""Nodes of variables in, edges out: pairs of a node and the one above it that it was reached from.

Most ways from a variable to one below it are child steps, or begin with one `//`. Then nothing has to be asked for: the
node above is so many steps up, or any further one that the variable above holds; what stands between has passed its
tests, or the node below would not be there.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from weft.columns.integers import Flags, Ints, Longs, contains
from weft.documents.table import NodeTable
from weft.plans.plan import Link, Step


@dataclass(frozen=True, slots=True)
class Climb:
    """How to get up: so many steps, and with `further` on to any node above that."""

    steps: int
    further: bool


def climb_of(links: tuple[Link, ...]) -> Climb | None:
    """How to get from the end of links back to where they start, if that is all there is to it."""
    steps: list[Step] = [step for link in links for step in link.path]
    if not steps or any(step.deep for step in steps[1:]):
        return None
    return Climb(len(steps), steps[0].deep)


class Ancestors:
    """The edges that are found by climbing, by the variable below."""

    def __init__(self) -> None:
        self._users: Counter[int] = Counter()  # how many edges there are, by the steps that they climb
        self._climbs: dict[int, tuple[int, int, Climb]] = {}  # by edge: the variable above, the one below, and how
        size = 64
        self._edge: Ints = np.full(size, -1, np.int32)  # by the variable below, as the next two
        self._above: Ints = np.full(size, -1, np.int32)
        self._steps: Ints = np.zeros(size, np.int32)
        self._further: Flags = np.zeros(size, bool)

    def __bool__(self) -> bool:
        return bool(self._climbs)

    def __contains__(self, edge: object) -> bool:
        return edge in self._climbs

    def add(self, edge: int, above: int, below: int, climb: Climb) -> None:
        """Take in an edge."""
        while below >= self._edge.size:
            for name in ("_edge", "_above", "_steps", "_further"):
                column = getattr(self, name)
                setattr(self, name, np.concatenate([column, np.full_like(column, -1 if name == "_edge" else 0)]))
        self._climbs[edge] = above, below, climb
        self._users[climb.steps] += 1
        self._edge[below], self._above[below] = edge, above
        self._steps[below], self._further[below] = climb.steps, climb.further

    def remove(self, edge: int) -> tuple[int, int]:
        """Let an edge go; the variables above and below come back."""
        above, below, climb = self._climbs.pop(edge)
        self._users[climb.steps] -= 1
        if not self._users[climb.steps]:
            del self._users[climb.steps]
        self._edge[below] = -1
        return above, below

    def find(
        self, table: NodeTable, variable: Ints, node: Ints, most: int, refused: dict[int, str] | None = None
    ) -> tuple[Ints, Ints, Ints]:
        """(edge, node above, node below) of all variables with their nodes.

        Where there would be more than the most, MemoryError is raised; or the edges with most of them are left out, and
        told in `refused`.
        """
        known = variable < self._edge.size
        edge = self._edge[variable] if known.all() else np.where(known, self._edge[np.where(known, variable, 0)], -1)
        rows = np.flatnonzero(edge >= 0)
        if not rows.size:
            return edge[rows], node[rows], node[rows]
        below, edge = node[rows], edge[rows]
        above, steps = below, self._steps[variable[rows]]
        for step in range(max(self._users)):
            above = np.where(steps > step, table.parent[above], above)
        further = np.flatnonzero(self._further[variable[rows]])
        if not further.size:
            return edge, above, below
        exact = np.flatnonzero(~self._further[variable[rows]])
        top = self._above[variable[rows[further]]].astype(np.int64) << 32
        keys = np.sort(variable.astype(np.int64) << 32 | node)
        first = edge[exact], above[exact], below[exact]
        more = _climb(table, keys, top, (edge[further], above[further], below[further]), most, refused)
        return tuple(np.concatenate(both) for both in zip(first, more, strict=True))  # type: ignore[return-value]


def _climb(
    table: NodeTable,
    held: Longs,
    top: Longs,
    edges: tuple[Ints, Ints, Ints],
    most: int,
    refused: dict[int, str] | None,
) -> tuple[Ints, Ints, Ints]:
    """Edges from all nodes further up that their variable holds; `top` and a node are a key of what is held."""
    edge, above, below = edges
    found = []
    while edge.size:
        there = contains(held, top | above)
        found.append((edge[there], above[there], below[there]))
        if (made := sum(part[0].size for part in found)) > most:
            reason = f"{made} combinations at once, more than {most}"
            if refused is None:
                raise MemoryError(reason)
            largest = int(np.bincount(np.concatenate([part[0] for part in found])).argmax())
            refused[largest] = f"MemoryError: {reason}"
            kept = [part[0] != largest for part in found]
            found = [(one[some], two[some], three[some]) for (one, two, three), some in zip(found, kept, strict=True)]
            above = np.where(edge == largest, -1, above)
        above = np.where(above >= 0, table.parent[above], -1)
        inside = above >= 0
        edge, above, below, top = edge[inside], above[inside], below[inside], top[inside]
    first, second, third = (np.concatenate([edge[:0], *(part[column] for part in found)]) for column in range(3))
    return first, second, third
