"""A batch in whose witnesses there is too much in, the witnesses of all that is sound in it out.

What is too much, or fails, is confined first to a document, by reading the documents one by one, then to a variable or
an edge, by asking for fewer and fewer of them. So only the queries that ask for it miss the document.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from weft.columns.integers import Ints
from weft.documents.document import Limits
from weft.documents.gather import select
from weft.documents.table import NodeTable
from weft.engine.matches import Matches
from weft.errors import failure_of
from weft.joins.match.witness import NO_EDGES, FirstStage, Most, NodeColumns, Witnesses, take, weights

_MOST_CULPRITS = 32  # if a document fails more variables and edges than this, the fault is its own
_FREE_EDGES = 100_000  # of one document, however few messages are allowed
_FREE_BYTES = 16 * 1024 * 1024  # of its values, however short messages must be
_MOST_ROWS = 1 << 24  # of one document, when they are asked for in parts


@dataclass(slots=True)
class FirstRead:
    """The witnesses of a batch; whom which documents cost theirs, and which have none, by their places, and why."""

    witnesses: Witnesses
    refused: list[tuple[int, dict[int, str]]] = field(default_factory=list)  # by number of the first stage
    rejected: list[tuple[int, str]] = field(default_factory=list)


def read_confined(stage: FirstStage, table: NodeTable, limits: Limits) -> FirstRead:
    """The witnesses of a batch, without what is too much."""
    try:
        return FirstRead(stage.read(table, _most(limits)))
    except Exception:
        made = FirstRead(_no_witnesses())
    parts = []
    for place in range(len(table.documents)):
        try:
            alone = _Alone(stage, select(table, [place]), limits)
            parts.append((alone.read(), 0))
        except Exception as error:  # whatever it is, it is this document's own
            parts.append((made.witnesses, 0))
            made.rejected.append((place, f"{failure_of(error)}: not joined"))
            continue
        if alone.refused:
            made.refused.append((place, alone.refused))
    made.witnesses = take(parts)
    return made


class _Alone:
    """One document, and the variables and edges that it has too much of."""

    def __init__(self, stage: FirstStage, table: NodeTable, limits: Limits) -> None:
        self._stage, self._table, self._limits = stage, table, limits
        self.refused: dict[int, str] = {}

    def read(self) -> Witnesses:
        """The witnesses without these."""
        stage, most = self._stage, _most(self._limits)
        try:
            return stage.read(self._table, most)
        except Exception:
            nodes = self._light(self._nodes(), most)
        edges = self._divide(stage.edges_from(np.unique(nodes[1]).tolist()), lambda some: some.edges(most.edges))
        return stage.witnesses(self._table, nodes, edges, most, self.refused)

    def _nodes(self) -> NodeColumns:
        try:
            return _whole(self._stage.match_all(self._table), lambda matches: matches.nodes())
        except Exception:
            return self._divide(self._stage.variables(), lambda some: some.nodes())

    def _light(self, nodes: NodeColumns, most: Most) -> NodeColumns:
        """The nodes without those of the variables with the longest values, if these are too long in all."""
        valued = np.flatnonzero(self._stage.is_valued(nodes[1]))
        weight = weights(self._table, nodes[2][valued], most.bytes)
        variables, place = np.unique(nodes[1][valued], return_inverse=True)
        sizes = np.bincount(place, weight, variables.size)
        order = np.argsort(sizes, kind="stable")
        heavy = order[np.cumsum(sizes[order]) > most.bytes]
        for variable, size in zip(variables[heavy].tolist(), sizes[heavy].tolist(), strict=True):
            self.refused[variable] = f"values of {int(size):,} bytes in one document"
        keep = ~np.isin(nodes[1], variables[heavy])
        return nodes[0][keep], nodes[1][keep], nodes[2][keep]

    def _divide(self, numbers: Sequence[int], answer: Callable[[Matches], NodeColumns]) -> NodeColumns:
        """What is found for parts of the numbers; which of them fail alone is noted."""
        parts, rows, waiting = [NO_EDGES], 0, [numbers]
        while waiting:
            some = waiting.pop()
            if not some:
                continue
            try:
                parts.append(_whole(self._stage.match_some(self._table, some), answer))
                rows += parts[-1][0].size
            except Exception as error:
                if len(some) > 1:
                    middle = len(some) // 2
                    waiting += [some[middle:], some[:middle]]
                    continue
                self.refused[some[0]] = failure_of(error)
            if len(self.refused) > _MOST_CULPRITS or rows > _MOST_ROWS:
                raise MemoryError("too many nodes and edges for all queries together")
        first, second, third = (np.concatenate([part[column] for part in parts]) for column in range(3))
        return first, second, third


def _whole(matches: Matches, answer: Callable[[Matches], NodeColumns]) -> NodeColumns:
    """An answer from which nothing is missing: witnesses that are not known would make wrong matches."""
    found = answer(matches)
    if matches.refused:
        raise MemoryError(matches.refused[0][2].removeprefix("MemoryError: "))
    return found


def _most(limits: Limits) -> Most:
    return Most(max(limits.max_messages, _FREE_EDGES), max(limits.max_output_bytes, _FREE_BYTES))


def _no_witnesses() -> Witnesses:
    none: Ints = np.zeros(0, np.int32)
    return Witnesses(none, none, none, np.zeros(0, np.int64), none, none, none, none)
