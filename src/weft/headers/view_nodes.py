"""Views of configurations in, the node of each document that each selects out: paths by automata, others by the engine.

Each configuration has an automaton of its own, which is followed along its own documents only: so a document costs what
its own views cost, however many configurations there are. Views with tests are all in one engine, and its batch is
matched once. Where all views are paths, documents need no node table: a narrow scan tells where their nodes begin.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from weft.columns.integers import Ints, Longs
from weft.documents.document import Limits
from weft.documents.scan import DocumentOffsets
from weft.documents.table import NodeTable
from weft.engine.engine import Engine
from weft.headers.expressions import expression_of
from weft.headers.header import ABSENT, SEVERAL
from weft.headers.path_automaton import PathAutomaton, TooManyStatesError
from weft.plans.plan import Path, Pattern


class ViewNodes:
    """The views of all configurations: `patterns` has a list for each of them."""

    def __init__(self, patterns: Sequence[Sequence[Pattern]], limits: Limits) -> None:
        self._patterns = patterns
        self._first: list[int] = np.cumsum([0, *map(len, patterns)]).tolist()  # the number of each one's first view
        self._engine: Engine | None = None  # made for the first view that is none of a path alone
        self._limits = limits
        self._automata: list[PathAutomaton | None] = []
        for which, views in enumerate(patterns):
            paths = {at: path for at, view in enumerate(views) if (path := path_of(view)) is not None}
            self._automata.append(PathAutomaton(paths) if paths else None)
            self._add([(self._first[which] + at, view) for at, view in enumerate(views) if at not in paths])
        automata = [each for each in self._automata if each is not None]
        #: Whether paths lead to attributes, or to texts: what a narrow scan must keep.
        self.has_attributes = any(each.has_attributes for each in automata)
        self.has_texts = any(each.has_texts for each in automata)

    def _add(self, views: Sequence[tuple[int, Pattern]]) -> None:
        for number, view in views:
            if self._engine is None:
                self._engine = Engine(limits=self._limits)
            self._engine.add(number, view)

    @property
    def are_paths(self) -> bool:
        """Whether every view is a path and nothing else, which an automaton follows."""
        return self._engine is None

    def select(self, table: NodeTable) -> SelectedNodes:
        """What the views select in a batch."""
        return SelectedNodes(self, table)

    def follow(self, which: int, table: NodeTable, bounds: Ints, nodes: Ints) -> bool:
        """Put the nodes of a configuration's paths into `nodes`, a row for each document with these bounds.

        False if they are the engine's from now on.
        """
        automaton = self._automata[which]
        if automaton is None:
            return True
        try:
            automaton.select(table, bounds, nodes)
        except TooManyStatesError:
            self._give_up(which)
            return False
        return True

    def place(self, which: int, documents: DocumentOffsets, its: list[int]) -> Longs:
        """For some documents of a narrow scan the offset of each path's node, ABSENT or SEVERAL.

        Raises TooManyStatesError if they are the engine's from now on.
        """
        first, end = self.span(which)
        entries, automaton = np.empty((len(its), end - first), np.int64), self._automata[which]
        if automaton is None:
            if first < end:  # another thread has just given up
                raise TooManyStatesError
            return entries
        try:
            automaton.place(documents, its, entries)
        except TooManyStatesError:
            self._give_up(which)
            raise
        return entries

    def _give_up(self, which: int) -> None:
        """There are documents and views for which the engine does better than the automaton."""
        views = enumerate(self._patterns[which], start=self._first[which])
        self._add([(number, view) for number, view in views if path_of(view) is not None])
        self._automata[which] = None

    def match(self, table: NodeTable) -> tuple[dict[int, list[tuple[int, int]]], set[int]]:
        """By document the (view, node) that the engine finds; and of which documents it does not know all."""
        if self._engine is None:
            return {}, set()
        matches = self._engine.match(table)
        found: dict[int, list[tuple[int, int]]] = {}
        for document, number, node in zip(*(column.tolist() for column in matches.nodes()), strict=True):
            found.setdefault(document, []).append((number, node))
        return found, {document for document, _, _ in matches.refused}

    def span(self, which: int) -> tuple[int, int]:
        """From which to before which number the engine has a configuration's views."""
        return self._first[which], self._first[which + 1]


class SelectedNodes:
    """What views select in a batch, worked out for documents when they are asked for."""

    def __init__(self, views: ViewNodes, table: NodeTable) -> None:
        self._views, self._table = views, table
        self._found, self._unknown = views.match(table)

    def of(self, places: Sequence[int], which: int, bounds: Ints) -> Ints:
        """For documents, and each view of a configuration, the node, ABSENT or SEVERAL; `bounds` are theirs."""
        first, end = self._views.span(which)
        nodes = np.empty((len(places), end - first), np.int32)
        nodes.fill(ABSENT)
        if not self._views.follow(which, self._table, bounds, nodes):
            nodes[:] = ABSENT
            self._found, self._unknown = self._views.match(self._table)
        for row, place in enumerate(places) if self._found else ():
            for number, node in self._found.get(place, ()):
                if first <= number < end:
                    nodes[row, number - first] = node if nodes[row, number - first] == ABSENT else SEVERAL
        return nodes

    @property
    def unknown(self) -> set[int]:
        """The documents for which not all was worked out; asked for behind `of`."""
        return self._unknown


def path_of(pattern: Pattern) -> Path | None:
    """The path of a pattern that is one and nothing else."""
    links = expression_of(pattern)
    return tuple(step for link in links for step in link.path) if all(link.test is None for link in links) else None
