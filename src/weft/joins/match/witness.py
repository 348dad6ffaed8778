"""Definitions of variables and node tables in, witnesses out: which nodes each variable has in each document.

This is the first stage. Every definition is a path in one shared automaton; an edge between two variables is looked up
only in documents that have both. Nothing is asked of a document that it does not touch.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from weft.columns.flags import CountedNumbers
from weft.columns.integers import Flags, Ints, Longs
from weft.documents.dtd import Dtd
from weft.documents.local import LocalNodes
from weft.documents.table import NodeTable
from weft.engine.engine import Engine
from weft.engine.matches import Matches
from weft.engine.paths.bounds import Bounds
from weft.joins.compile.graph import Definition
from weft.joins.match.ancestors import Ancestors, climb_of
from weft.joins.match.derived import derive
from weft.joins.match.streams import StreamsOfVariables
from weft.joins.match.value_codes import ValueCodes
from weft.plans.plan import Edge, Link, Pattern
from weft.plans.xscl import Derivation

_NONE = np.zeros(0, np.int32)
NO_EDGES = _NONE, _NONE, _NONE
NodeColumns = tuple[Ints, Ints, Ints]
_SWEEP = 10_000  # results that nobody asks for any more, before the engine is built anew
#: A variable, or an edge from one.
_WitnessKey = Definition | tuple[Definition, tuple[Link, ...]]


@dataclass(frozen=True, slots=True)
class Most:
    """How much may be made at once: edges, and bytes of values."""

    edges: int = 1 << 22
    bytes: int = 1 << 28


@dataclass(frozen=True, slots=True)
class Witnesses:
    """The witnesses of a batch, sorted by document, then variable or edge, then document order.

    Nodes have their numbers within their documents. `value` is the code of a node's string-value, -1 where nobody
    compares it.
    """

    document: Ints
    variable: Ints
    node: Ints
    value: Longs
    edge_document: Ints
    edge: Ints
    above: Ints
    below: Ints


def take(parts: Sequence[tuple[Witnesses, int]]) -> Witnesses:
    """Documents of some batches as one batch: the witnesses of the n-th part are those of document n."""
    names = ("variable", "node", "value"), ("edge", "above", "below")
    columns: dict[str, list[Ints | Longs]] = {name: [] for name in ("document", "edge_document", *sum(names, ()))}
    for at, (batch, document) in enumerate(parts):
        for key, (of_document, copied) in zip(
            ("document", "edge_document"), ((batch.document, names[0]), (batch.edge_document, names[1])), strict=True
        ):
            rows = slice(*np.searchsorted(of_document, [document, document + 1]))
            columns[key].append(np.full(rows.stop - rows.start, at, np.int32))
            for name in copied:
                columns[name].append(getattr(batch, name)[rows])
    joined = {
        name: np.concatenate([np.zeros(0, np.int64 if name == "value" else np.int32), *some])
        for name, some in columns.items()
    }
    return Witnesses(**joined)


def weights(table: NodeTable, nodes: Ints, enough: int) -> Longs:
    """About how many bytes the string-values of elements have; exactly only where it may be more than enough.

    Values of other nodes are no longer than their document, those of elements that lie in each other are.
    """
    found = np.zeros(nodes.size, np.int64)
    places = np.flatnonzero(nodes < table.elements)
    rows = nodes[places]
    found[places] = table.end[rows].astype(np.int64) - table.start[rows]
    if found.sum() > enough:
        found[places] = table.text_start[table.text_last[rows]] - table.text_start[table.text_first[rows]]
    return found


class FirstStage:
    """All definitions and edges that anybody asks for; each is counted, and gone when nobody does any more."""

    def __init__(self, bounds: Bounds | None = None, dtd: Dtd | None = None) -> None:
        self._make_engine = partial(Engine, bounds, dtd)
        self._engine = self._make_engine()
        self.values = ValueCodes()
        self._numbers: dict[_WitnessKey, int] = {}  # of definitions and edges in the engine
        self._keys: dict[int, _WitnessKey] = {}
        self._asked: dict[int, int] = {}  # how many ask for each
        self._valued = CountedNumbers()  # and for its values
        self._streams = StreamsOfVariables()
        self._derived: dict[int, tuple[Derivation, ...]] = {}  # what the values of variables go through
        self._edges: set[int] = set()  # that the engine is asked for
        self._ancestors = Ancestors()
        self._next = 0

    def __len__(self) -> int:
        return len(self._numbers)

    def add_variable(self, definition: Definition, valued: bool) -> int:
        """The number of a variable; with `valued` the values of its nodes are asked for too."""
        number = self._add(definition, definition.stream)
        if valued:
            self._valued.add(number)
        return number

    def add_edge(self, definition: Definition, links: tuple[Link, ...]) -> int:
        """The number of an edge: from the nodes of a definition to those that the links lead to from them."""
        key = definition, links
        climb = climb_of(links)
        if climb is None:
            number = self._add(key, definition.stream)
            self._edges.add(number)
            return number
        number = self._numbers.get(key, -1)
        if number < 0:
            ends = (
                self.add_variable(definition, False),
                self.add_variable(Definition(definition.stream, definition, links), False),
            )
            number = self._number(key)
            self._ancestors.add(number, *ends, climb)
        self._asked[number] = self._asked.get(number, 0) + 1
        return number

    def remove(self, number: int, valued: bool = False) -> None:
        """One fewer asks for a variable or an edge."""
        if valued:
            self._valued.remove(number)
        self._asked[number] -= 1
        if self._asked[number]:
            return
        del self._asked[number]
        del self._numbers[self._keys.pop(number)]
        if number in self._ancestors:
            for end in self._ancestors.remove(number):
                self.remove(end)
            return
        self._edges.discard(number)
        self._derived.pop(number, None)
        self._engine.remove(number)
        if self._engine.dead > max(_SWEEP, len(self)):
            self._rebuild()

    def _rebuild(self) -> None:
        """A new engine without what nobody asks for any more."""
        self._engine = self._make_engine()
        for number, key in self._keys.items():
            if number not in self._ancestors:
                self._engine.add(number, _asked(key))

    def _add(self, key: _WitnessKey, stream: str) -> int:
        number = self._numbers.get(key)
        if number is None:
            self._engine.add(self._next, _asked(key))
            number = self._number(key)
            self._streams.add(number, stream)
            if isinstance(key, Definition) and key.derived:
                self._derived[number] = key.derived
        self._asked[number] = self._asked.get(number, 0) + 1
        return number

    def _number(self, key: _WitnessKey) -> int:
        """A new number."""
        number = self._next
        self._next += 1
        self._numbers[key] = number
        self._keys[number] = key
        return number

    def read(self, table: NodeTable, most: Most | None = None) -> Witnesses:
        """The witnesses of a batch; raises MemoryError where they would be more than the most."""
        most = most or Most()
        matches = self._engine.match(table)
        nodes = matches.nodes()
        edges = matches.edges(most.edges) if self._edges else NO_EDGES
        if matches.refused:  # witnesses that are not known would make wrong matches
            raise MemoryError(matches.refused[0][2].removeprefix("MemoryError: "))
        return self.witnesses(table, nodes, edges, most)

    def witnesses(
        self,
        table: NodeTable,
        nodes: NodeColumns,
        edges: NodeColumns,
        most: Most,
        refused: dict[int, str] | None = None,
    ) -> Witnesses:
        """What the engine found as witnesses: (document, number, node) and (number, node above, node below).

        Raises MemoryError where they would be more than the most; edges are left out instead with `refused`.
        """
        document, variable, node = self._streams.select(table, *nodes)
        value = np.full(node.size, -1, np.int64)
        valued = self.is_valued(variable)
        compared = node[valued]
        if compared.size * max(map(len, table.sources), default=0) > most.bytes:
            size = int(weights(table, compared, most.bytes).sum())
            if size > most.bytes:
                raise MemoryError(f"values of {size} bytes at once, more than {most.bytes}")
        value[valued] = self.values.code(self._texts(table, variable[valued], compared))
        edge, above, below = NO_EDGES
        if self._ancestors:
            edge, above, below = self._ancestors.find(table, variable, node, most.edges, refused)
        if edges[0].size:
            _, more, *ends = self._streams.select(table, table.node_document[edges[1]], *edges)
            edge, above, below = (
                np.concatenate(both) for both in zip((edge, above, below), (more, *ends), strict=True)
            )
        edge_document = table.node_document[above]
        if edge_document.size and (edge_document[1:] < edge_document[:-1]).any():
            order = np.argsort(edge_document, kind="stable")
            edge_document, edge, above, below = (each[order] for each in (edge_document, edge, above, below))
        local = LocalNodes(table).local if len(table.documents) > 1 else np.asarray
        return Witnesses(document, variable, local(node), value, edge_document, edge, local(above), local(below))

    def _texts(self, table: NodeTable, variables: Ints, nodes: Ints) -> Sequence[str | None]:
        """What is compared of nodes: their string-values, or what is made of these."""
        texts: list[str | None] = list(table.string_values(nodes))
        if self._derived:
            for at, variable in enumerate(variables.tolist()):
                if variable in self._derived:
                    texts[at] = derive(texts[at] or "", self._derived[variable])
        return texts

    def is_valued(self, variables: Ints) -> Flags:
        """Of which variables the values are asked for."""
        return self._valued.has(variables)

    def match_all(self, table: NodeTable) -> Matches:
        """What the engine finds in a batch, of all that is asked for."""
        return self._engine.match(table)

    def match_some(self, table: NodeTable, numbers: Sequence[int]) -> Matches:
        """The same of some variables or edges, with an engine of their own."""
        engine = self._make_engine()
        for number in numbers:
            engine.add(number, _asked(self._keys[number]))
        return engine.match(table)

    def variables(self) -> list[int]:
        """The numbers of all variables."""
        return sorted(number for number, key in self._keys.items() if isinstance(key, Definition))

    def edges_from(self, variables: Iterable[int]) -> list[int]:
        """The numbers of the edges that may begin at some of these variables."""
        there = set(variables)
        found = []
        for number in self._edges:
            key = self._keys[number]
            top = self._numbers.get(key[0]) if isinstance(key, tuple) else None
            if top is None or top in there:
                found.append(number)
        return sorted(found)


def _asked(key: _WitnessKey) -> Pattern | Edge:
    """What the engine is asked for."""
    if isinstance(key, Definition):
        return key.pattern()
    definition, links = key
    return Edge(definition.pattern(), links)
