"""Bindings and recipes in, messages out: the paper's message factory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import partial

import numpy as np

from weft.documents.document import Limits
from weft.documents.escaping import escape_attribute, escape_text
from weft.documents.fragment import Fragments
from weft.documents.table import NodeTable
from weft.engine.messages.budget import Budget, size_of
from weft.plans.recipe import Atom, Fill, Recipe

Lists = list[list[int]]


class Factory:
    """Writes the messages of a batch; a node that goes into many is made XML once."""

    def __init__(self, table: NodeTable, budget: Budget | None = None) -> None:
        self._table, self.budget = table, budget or Budget(table, Limits())
        self._fragments = Fragments(table)
        self._texts: dict[int, str] = {}

    def has_room(self, document: int, subscription: int, groups: int, entries: int) -> bool:
        """Whether a message of so many groups and nodes can be within the limits; if not, it is refused."""
        limits = self.budget.limits
        if groups > limits.max_messages:
            self.budget.refuse_many(document, subscription, groups)
            return False
        if entries > (most := self.budget.most_entries):
            self.budget.refuse(document, subscription, f"{entries} nodes to return, more than {most}")
            return False
        return True

    def make(self, document: int, subscription: int, recipe: Recipe, groups: list[Lists], entries: int) -> str | None:
        """A message from its groups, with so many nodes in their lists; nothing where it is refused."""
        budget = self.budget
        if recipe.keys and not self._can_order(document, subscription, recipe, groups):
            return None
        room, largest = budget.room(document), budget.largest[document]
        if len(groups) * recipe.constant + entries * recipe.repeats * largest <= room:
            text = self.message(recipe, groups)
            budget.left[document] -= size_of(text)
            return text
        measured = self._measured(recipe, self._in_order(recipe, groups), room)
        if measured is None:
            budget.refuse_large(document, subscription, room < budget.limits.max_message_bytes)
            return None
        budget.left[document] -= size_of(measured)
        return measured

    def message(self, recipe: Recipe, groups: list[Lists]) -> str:
        """A whole message from its groups, each a list of nodes for each slot."""
        ordered = self._in_order(recipe, groups) if recipe.keys else groups
        return self._plain(recipe, ordered) if recipe.is_plain else "".join(self._pieces(recipe, ordered))

    def _measured(self, recipe: Recipe, groups: list[Lists], room: int) -> str | None:
        """A message that may be too large: its copies are added up before they are made, all else as it is written."""
        copied = Counter(piece[1] for piece in recipe.pieces if isinstance(piece, tuple) and piece[0] is Fill.COPY)
        sizes, least = self.budget.all_sizes, len(groups) * len(recipe.pieces)  # a piece has some character, mostly
        for lists in groups if copied else ():
            for slot, times in copied.items():
                least += times * sum([sizes[node] for node in lists[slot]])
            if least > room:
                return None
        written, total = [], 0
        for text in self._pieces(recipe, groups):
            total += size_of(text)
            if total > room:
                return None
            written.append(text)
        return "".join(written)

    def _plain(self, recipe: Recipe, groups: list[Lists]) -> str:
        """Constant text and copies: most messages, so in few steps."""
        written, copy = [recipe.before], self._copy
        for lists in groups:
            for piece in recipe.pieces:
                if isinstance(piece, str):
                    written.append(piece)
                elif isinstance(piece, tuple):
                    written += [copy(node) for node in lists[piece[1]]]
        written.append(recipe.after)
        return "".join(written)

    def _pieces(self, recipe: Recipe, groups: list[Lists]) -> Iterator[str]:
        """Any message, piece by piece."""
        yield recipe.before
        after_atom = False  # whether an atomic value came last, to which another one keeps a space
        declared: set[str] = set()
        for lists in groups:
            declared.clear()
            for piece in recipe.pieces:
                if isinstance(piece, str):
                    yield piece
                    after_atom = False
                elif isinstance(piece, Atom):
                    yield f" {piece.text}" if after_atom else piece.text
                    after_atom = True
                elif isinstance(piece, tuple):
                    fill, nodes = piece[0], lists[piece[1]]
                    if fill is Fill.ATTRIBUTES:
                        yield self._attributes(nodes, declared)
                        continue
                    if fill is Fill.COPY:
                        yield from map(self._copy, nodes)
                        after_atom = after_atom and not nodes
                    else:
                        yield from self._atomic(fill, nodes, after_atom)
                        after_atom = after_atom or fill is Fill.COUNT
                else:
                    after_atom = False
                declared.clear()  # the start tag is closed
        yield recipe.after

    def _atomic(self, fill: Fill, nodes: list[int], after_atom: bool) -> Iterator[str]:
        """A count, or the values of nodes in an attribute."""
        if fill is not Fill.ATTRIBUTE_VALUE:
            yield f" {len(nodes)}" if after_atom and fill is Fill.COUNT else str(len(nodes))
            return
        for at, node in enumerate(nodes):
            value = escape_attribute(self._table.string_value(node))
            yield f" {value}" if at else value

    def _copy(self, node: int) -> str:
        text = self._texts.get(node)
        if text is None:
            is_element = node < self._table.elements
            text = self._fragments.text(node) if is_element else escape_text(self._table.string_value(node))
            self._texts[node] = text
        return text

    def _attributes(self, nodes: list[int], declared: set[str]) -> str:
        """Attributes as they stood, with declarations that are not there yet; of several with one name the first."""
        by_name: dict[int, str] = {}
        for node in nodes:
            name = int(self._table.attribute_name[node - self._table.elements])
            if name in by_name:
                continue
            declaration = self._fragments.declaration(node)
            by_name[name] = ("" if declaration in declared else declaration) + " " + self._fragments.text(node)
            declared.add(declaration)
        return "".join(by_name.values())

    def _in_order(self, recipe: Recipe, groups: list[Lists]) -> list[Lists]:
        """Stable, by the last key first; nothing comes before everything."""
        ordered = list(groups)
        for slot, descending in reversed(recipe.keys):
            ordered.sort(key=partial(self._key, slot), reverse=descending)
        return ordered

    def _can_order(self, document: int, subscription: int, recipe: Recipe, groups: list[Lists]) -> bool:
        """Whether the values to sort by can be held; if not, the message is refused."""
        nodes = np.array([lists[slot][0] for lists in groups for slot, _ in recipe.keys if lists[slot]], np.int32)
        most = self.budget.limits.max_message_bytes
        if self._table.most_characters(nodes) <= most or (total := int(self._table.lengths(nodes).sum())) <= most:
            return True
        self.budget.refuse(document, subscription, f"values of {total} characters to sort by, more than {most}")
        return False

    def _key(self, slot: int, lists: Lists) -> tuple[bool, str]:
        nodes = lists[slot]
        return (True, self._table.string_value(nodes[0])) if nodes else (False, "")
