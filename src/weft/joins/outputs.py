"""Matches in, messages out: the documents are read again, and the constructor's slots are filled from their nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any

from weft.documents.build import read
from weft.documents.document import Document, Limits
from weft.documents.fragment import Fragments
from weft.documents.local import LocalNodes
from weft.engine.engine import Engine
from weft.engine.factory import Factory
from weft.joins.shapes import Compiled
from weft.joins.witness import lists_query
from weft.plans.flwr import RETURNS, Element, Enclosed, Flwr, Slot
from weft.plans.recipe import Fill, Piece, Recipe, make_recipe
from weft.plans.xscl import Xscl

Nodes = tuple[tuple[int, ...], ...]
_DOCUMENTS = 256  # that are read at once


@dataclass(frozen=True, slots=True)
class Filled:
    """Where a slot's nodes come from: a block, the place among its output nodes, and a way from there."""

    block: int
    place: int
    way: int | None


@dataclass(frozen=True, slots=True)
class Written:
    """How the messages of a subscription are written."""

    recipe: Recipe
    slots: tuple[Filled, ...]
    is_node: bool  # a node as it stands: what XPath would give


@dataclass(frozen=True, slots=True)
class Row:
    """A message to be: how it is written, its documents, and the output nodes of each."""

    written: Written
    documents: tuple[Document, ...]
    nodes: Nodes


class Outputs:
    """Writes messages. The ways of slots are paths in one automaton, asked only of documents that matched."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._engine = Engine()
        self._ways: dict[object, int] = {}

    def written(self, plan: Xscl, compiled: Compiled) -> Written:
        """How the messages of a query are written."""
        recipe, slots = _recipe(plan)
        filled = []
        owners = [(at, place) for at, block in enumerate(plan.blocks) for place in range(len(block.variables))]
        for slot in slots:
            block, variable = owners[slot.variable]
            place = compiled.places[block][variable]
            way = None
            if slot.links:
                key = compiled.definitions[block][place], slot.links
                way = self._ways.get(key)
                if way is None:
                    way = self._ways[key] = len(self._ways)
                    self._engine.add(way, lists_query(*key))
            filled.append(Filled(block, compiled.shape.sides[block].output.index(place), way))
        return Written(recipe, tuple(filled), plan.select is None and len(filled) == 1)

    def write(self, rows: Sequence[Row]) -> Iterator[str]:
        """The messages, in order."""
        for part, documents in with_documents(rows, lambda row: row.documents):
            yield from self._write(part, documents)

    def _write(self, rows: Sequence[Row], documents: dict[int, Document]) -> Iterator[str]:
        table = read(documents.values(), self._limits)
        places = {key: at for at, key in enumerate(documents)}
        local, factory, fragments = LocalNodes(table), Factory(table), Fragments(table)
        below: dict[tuple[int, int], list[int]] = {}
        if self._ways and any(slot.way is not None for row in rows for slot in row.written.slots):
            ways, above, nodes = self._engine.match(table).lists()
            for way, top, node in zip(ways.tolist(), above.tolist(), nodes.tolist(), strict=True):
                below.setdefault((way, top), []).append(node)
        for row in rows:
            lists = []
            for slot in row.written.slots:
                place = places[id(row.documents[slot.block])]
                node = local.node(place, row.nodes[slot.block][slot.place])
                lists.append([node] if slot.way is None else below.get((slot.way, node), []))
            if row.written.is_node:
                yield fragments.text(lists[0][0])
            else:
                yield factory.message(row.written.recipe, [lists])


def with_documents(
    rows: Sequence[Any], documents_of: Callable[[Any], Iterable[Document]]
) -> Iterator[tuple[Sequence[Any], dict[int, Document]]]:
    """Rows in parts that do not speak of too many documents to be read at once, each with these by their identity."""
    start = 0
    while start < len(rows):
        documents: dict[int, Document] = {}
        end = start
        while end < len(rows) and len(documents) < _DOCUMENTS:
            documents.update((id(document), document) for document in documents_of(rows[end]))
            end += 1
        yield rows[start:end], documents
        start = end


def _recipe(plan: Xscl) -> tuple[Recipe, tuple[Slot, ...]]:
    """The recipe of a query's messages; without SELECT it is the output of the block, or all outputs in a new root."""
    blocks = plan.present
    if plan.select is None:
        starts = accumulate((len(block.variables) for block in blocks), initial=0)
        slots = tuple(Slot(start + block.output, ()) for start, block in zip(starts, blocks, strict=False))
        pieces: list[Piece] = [(Fill.COPY, place) for place in range(len(slots))]
        if len(slots) > 1:
            pieces = ["<result>", *pieces, "</result>"]
        return Recipe("", tuple(pieces), "", (), True), slots
    variables = tuple(variable for block in blocks for variable in block.variables)
    around = Element("r", (), (RETURNS,))
    recipe, slots = make_recipe(Flwr("", variables, None, (), Enclosed((plan.select,)), around))
    return replace(recipe, before="", after=""), slots
