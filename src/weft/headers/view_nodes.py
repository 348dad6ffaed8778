"""Views in, for each document of a batch the nodes that they select out: paths by an automaton, others by engine."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from weft.columns.integers import Flags, Ints, Longs
from weft.documents.document import Limits
from weft.documents.table import NodeTable
from weft.engine.engine import Engine
from weft.headers.expressions import expression_of
from weft.headers.path_automaton import PathAutomaton, TooManyStatesError
from weft.plans.plan import Path, Pattern

#: Instead of a node, where a view selects several.
MANY = -1


class ViewNodes:
    """The views of all configurations, by number."""

    def __init__(self, patterns: Sequence[Pattern], limits: Limits) -> None:
        self._patterns, self._limits = patterns, limits
        paths = {number: path for number, pattern in enumerate(patterns) if (path := path_of(pattern)) is not None}
        self._split(paths)

    def _split(self, paths: Mapping[int, Path]) -> None:
        self._paths = PathAutomaton(paths)
        self._engine = Engine(limits=self._limits)
        for number, pattern in enumerate(self._patterns):
            if number not in paths:
                self._engine.add(number, pattern)

    def select(self, table: NodeTable) -> SelectedNodes:
        """What all views select in a batch."""
        try:
            found = [self._paths.select(table)]
        except TooManyStatesError:  # documents and views for which the engine does better, so from now on it does
            self._split({})
            found = []
        unknown: Iterable[int] = ()
        if len(self._engine):
            matches = self._engine.match(table)
            _, number, node = matches.nodes()
            found.append((number, node))
            unknown = (document for document, _, _ in matches.refused)
        none = np.zeros(0, np.int32)
        numbers, nodes = (np.concatenate([none, *(part[column] for part in found)]) for column in (0, 1))
        return SelectedNodes(table, numbers, nodes, len(self._patterns), set(unknown))


class SelectedNodes:
    """For each document the views that select something, by number, each once: with its node, or MANY.

    `owners` are the rows of the elements that nodes are or belong to. Of the documents in `unknown` it was not worked
    out what some view selects.
    """

    def __init__(self, table: NodeTable, numbers: Ints, nodes: Ints, views: int, unknown: set[int]) -> None:
        self.unknown = unknown
        rows = np.where(nodes < table.elements, nodes, table.parent[nodes])
        document = table.document[rows]
        keys: Longs = document.astype(np.int64) * max(views, 1) + numbers
        order = np.argsort(keys, kind="stable")
        keys = keys[order]
        is_first: Flags = np.append(True, keys[1:] != keys[:-1])[: keys.size]
        is_last: Flags = np.append(keys[1:] != keys[:-1], True)[: keys.size]
        firsts = order[is_first]
        self.starts: list[int] = np.searchsorted(document[firsts], np.arange(len(table.documents) + 1)).tolist()
        self.numbers: list[int] = numbers[firsts].tolist()
        self.nodes: list[int] = np.where(is_last[is_first], nodes[firsts], MANY).tolist()
        self.owners: list[int] = rows[firsts].tolist()


def path_of(pattern: Pattern) -> Path | None:
    """The path of a pattern that is one and nothing else."""
    links = expression_of(pattern)
    return tuple(step for link in links for step in link.path) if all(link.test is None for link in links) else None
