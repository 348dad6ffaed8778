"""Matches in, messages out: the constructor's slots are filled from the nodes of the matched documents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any

import numpy as np

from weft.documents.document import Document, Limits
from weft.documents.fragment import Fragments
from weft.documents.local import LocalNodes
from weft.documents.table import NodeTable
from weft.engine.engine import Engine
from weft.engine.messages.factory import Factory
from weft.errors import failure_of
from weft.joins.compile.graph import Definition
from weft.joins.compile.shapes import CompiledJoin
from weft.joins.output.tables import Tables
from weft.joins.output.ways import WayError, Ways
from weft.plans.flwr import RETURNS, Element, Enclosed, Flwr, Slot
from weft.plans.plan import Edge, Link
from weft.plans.recipe import Fill, Recipe, RecipePiece, make_recipe
from weft.plans.xscl import Xscl

NodesOfBlocks = tuple[tuple[int, ...], ...]
#: When, and behind how many documents: what happens at one moment comes of one document.
Turn = tuple[int, float]
_Way = tuple[Definition, tuple[Link, ...]]
_Said = tuple[
    int, tuple[int, ...], NodesOfBlocks
]  # what makes two messages the same: how they are written, and of what
_DOCUMENTS = 256  # that are read at once
_SWEEP = 10_000  # ways that nobody goes any more, before the engine is built anew
_REMEMBERED = 16 * 1024 * 1024  # characters of messages whose fragments are remembered
_LONG = (Fill.COPY, Fill.ATTRIBUTE_VALUE)


@dataclass(frozen=True, slots=True)
class Filled:
    """Where a slot's nodes come from: a block, the place among its output nodes, and a way from there."""

    block: int
    place: int
    way: int | None


@dataclass(frozen=True, slots=True)
class Writing:
    """How the messages of a subscription are written."""

    recipe: Recipe
    slots: tuple[Filled, ...]
    copied: tuple[int, ...]  # the slots whose nodes are written as a whole
    is_node: bool  # a node as it stands: what XPath would give


@dataclass(frozen=True, slots=True)
class MessageRow:
    """A message to be: how it is written, its documents, the output nodes of each, whose it is, and its moment."""

    written: Writing
    documents: tuple[Document, ...]
    nodes: NodesOfBlocks
    number: int
    moment: Turn


@dataclass(frozen=True, slots=True)
class Unwritten:
    """A message that is not made, and why."""

    reason: str


class Outputs:
    """Writes messages. The ways of slots are paths in one automaton, asked only of documents that matched."""

    def __init__(self, limits: Limits, tables: Tables) -> None:
        self._limits, self._tables = limits, tables
        self._engine = Engine()
        self._ways: dict[_Way, int] = {}
        self._keys: dict[int, _Way] = {}
        self._users: Counter[int] = Counter()  # how many slots go each way
        self._next = 0

    def __len__(self) -> int:
        return len(self._ways)

    def written(self, plan: Xscl, compiled: CompiledJoin) -> Writing:
        """How the messages of a query are written."""
        recipe, slots = _recipe(plan)
        filled: list[Filled] = []
        owners = [(at, place) for at, block in enumerate(plan.blocks) for place in range(len(block.variables))]
        try:
            for slot in slots:
                block, variable = owners[slot.variable]
                place = compiled.places[block][variable]
                way = self._way((compiled.definitions[block][place], slot.links)) if slot.links else None
                filled.append(Filled(block, compiled.shape.sides[block].output.index(place), way))
        except BaseException:
            self.remove(filled)
            raise
        copied = tuple(piece[1] for piece in recipe.pieces if isinstance(piece, tuple) and piece[0] in _LONG)
        return Writing(recipe, tuple(filled), copied, plan.select is None and len(filled) == 1)

    def _way(self, key: _Way) -> int:
        way = self._ways.get(key)
        if way is None:
            way = self._next
            self._engine.add(way, Edge(key[0].pattern(), key[1]))
            self._next += 1
            self._ways[key], self._keys[way] = way, key
        self._users[way] += 1
        return way

    def remove(self, slots: Iterable[Filled]) -> None:
        """Let go of what only these slots were filled with."""
        for way in (slot.way for slot in slots if slot.way is not None):
            self._users[way] -= 1
            if not self._users[way]:
                del self._users[way], self._ways[self._keys.pop(way)]
                self._engine.remove(way)
        if self._engine.dead > max(_SWEEP, len(self)):
            self._engine = Engine()
            for way, key in self._keys.items():
                self._engine.add(way, Edge(key[0].pattern(), key[1]))

    def write(self, rows: Sequence[MessageRow]) -> Iterator[str | Unwritten]:
        """The messages, in order; no query has more bytes of one moment than it may, nor have all together."""
        account = Account(self._limits)
        for part, documents in with_documents(rows, lambda row: row.documents):
            page, unread = self._page(part, documents)
            for row in part:
                account.turn_to(row.moment)
                reason = next((unread[id(one)] for one in row.documents if id(one) in unread), None)
                if reason is None and page is not None:
                    yield self._written(row, page, account)
                else:
                    yield Unwritten(reason or "its documents cannot be read together")

    def _written(self, row: MessageRow, page: Page, account: Account) -> str | Unwritten:
        try:
            return account.write(row, page)
        except WayError as error:
            return Unwritten(str(error))
        except Exception as error:  # whatever it is, it is this message's own
            return Unwritten(failure_of(error))

    def _page(self, rows: Sequence[MessageRow], documents: dict[int, Document]) -> tuple[Page | None, dict[int, str]]:
        """The documents of some rows, and why some of them cannot be read, by their identity."""
        unread: dict[int, str] = {}
        try:
            return self._make_page(rows, documents.values()), unread
        except Exception:
            for key, document in documents.items():
                try:
                    self._tables.of([document], alone=True)
                except Exception as error:
                    unread[key] = failure_of(error)
        try:
            return self._make_page(rows, [one for key, one in documents.items() if key not in unread]), unread
        except Exception:
            return None, unread

    def _make_page(self, rows: Sequence[MessageRow], documents: Iterable[Document]) -> Page:
        table, places = self._tables.of(documents)
        is_asked = any(slot.way is not None for row in rows for slot in row.written.slots)
        ways = Ways(self._engine, self._alone, table, self._tables) if is_asked else None
        return Page(table, places, ways)

    def _alone(self, way: int) -> Engine:
        """An engine for one way."""
        engine, key = Engine(), self._keys[way]
        engine.add(way, Edge(key[0].pattern(), key[1]))
        return engine


class Account:
    """The bytes of the messages of one moment. Queries that ask for the same share its text, and it counts once."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._moment: Turn | None = None
        self._spent: Counter[int] = Counter()  # by query
        self._left = 0  # for all
        self._texts: dict[_Said, str] = {}

    def turn_to(self, moment: Turn) -> None:
        """Begin anew with another moment."""
        if moment != self._moment:
            self._moment, self._left = moment, self._limits.max_output_bytes
            self._spent.clear()
            self._texts.clear()

    def write(self, row: MessageRow, page: Page) -> str | Unwritten:
        """The message, if it is within the limits."""
        most, spent = self._limits.max_message_bytes, self._spent[row.number]
        said = id(row.written), tuple(map(id, row.documents)), row.nodes
        text = self._texts.get(said)
        if text is None:
            text = page.write(row, min(most - spent, self._left))
        size = most + 1 if text is None else _size(text)  # behind one that is too long comes none
        self._spent[row.number] += size
        if text is None and self._left < most - spent:
            return Unwritten(f"more than {self._limits.max_output_bytes:,} bytes of messages of one document in all")
        if text is None or spent + size > most:
            return Unwritten(f"more than {most:,} bytes of messages of one document")
        if said not in self._texts:
            self._texts[said] = text
            self._left -= size
        return text


class Page:
    """Some documents, and what slots find in them."""

    def __init__(self, table: NodeTable, places: dict[int, int], ways: Ways | None) -> None:
        self._table, self._places, self._ways = table, places, ways
        self._local, self._fragments = LocalNodes(self._table), Fragments(self._table)
        self._factory = Factory(self._table)
        self._longest = max(map(len, self._table.sources), default=0)
        self._made = 0  # characters since the factory is new

    def write(self, row: MessageRow, room: int) -> str | None:
        """A message, if it has no more bytes than there is room for."""
        if room < 0:
            return None
        lists = []
        for slot in row.written.slots:
            document, node = row.documents[slot.block], row.nodes[slot.block][slot.place]
            place = self._places[id(document)]
            if slot.way is None or self._ways is None:
                lists.append([self._local.node(place, node)])
            else:
                lists.append(self._ways.nodes(slot.way, document, place, node))
        copied = [lists[slot] for slot in row.written.copied]
        if sum(map(len, copied)) * self._longest > room and sum(map(self._weight, copied)) > room:
            return None
        if row.written.is_node:
            text = self._fragments.text(lists[0][0])
        else:
            text = self._factory.message(row.written.recipe, [lists])
            self._made += len(text)
            if self._made > _REMEMBERED:  # the factory remembers all fragments
                self._factory, self._made = Factory(self._table), 0
        return text if _size(text) <= room else None

    def _weight(self, nodes: list[int]) -> int:
        """About how many bytes nodes have: those of the elements among them."""
        elements = np.array(nodes, np.int64)
        elements = elements[elements < self._table.elements]
        return int((self._table.end[elements].astype(np.int64) - self._table.start[elements]).sum())


def _size(text: str) -> int:
    """Bytes in UTF-8."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def _by_identity(documents: Iterable[Document]) -> dict[int, Document]:
    return {id(document): document for document in documents}


def with_documents(
    rows: Sequence[Any], documents_of: Callable[[Any], Iterable[Document]]
) -> Iterator[tuple[Sequence[Any], dict[int, Document]]]:
    """Rows in parts that do not speak of too many documents to be read at once, each with these by their identity."""
    start = 0
    while start < len(rows):
        documents: dict[int, Document] = {}
        end = start
        while end < len(rows) and len(documents) < _DOCUMENTS:
            documents.update(_by_identity(documents_of(rows[end])))
            end += 1
        yield rows[start:end], documents
        start = end


def _recipe(plan: Xscl) -> tuple[Recipe, tuple[Slot, ...]]:
    """The recipe of a query's messages; without SELECT it is the output of the block, or all outputs in a new root."""
    blocks = plan.present
    if plan.select is None:
        starts = accumulate((len(block.variables) for block in blocks), initial=0)
        slots = tuple(Slot(start + block.output, ()) for start, block in zip(starts, blocks, strict=False))
        pieces: list[RecipePiece] = [(Fill.COPY, place) for place in range(len(slots))]
        if len(slots) > 1:
            pieces = ["<result>", *pieces, "</result>"]
        return Recipe("", tuple(pieces), "", (), True), slots
    variables = tuple(variable for block in blocks for variable in block.variables)
    around = Element("r", (), (RETURNS,))
    recipe, slots = make_recipe(Flwr("", variables, None, (), Enclosed((plan.select,)), around))
    return replace(recipe, before="", after=""), slots
