"""Bindings and recipes in, messages out: the paper's message factory."""

from __future__ import annotations

from functools import partial

from weft.documents.fragment import Fragments
from weft.documents.rewrite import escape_attribute, escape_text
from weft.documents.table import NodeTable
from weft.plans.recipe import Atom, Fill, Recipe

Lists = list[list[int]]


class Factory:
    """Writes the messages of a batch; a node that goes into many is made XML once."""

    def __init__(self, table: NodeTable) -> None:
        self._table = table
        self._fragments = Fragments(table)
        self._texts: dict[int, str] = {}

    def message(self, recipe: Recipe, groups: list[Lists]) -> str:
        """A whole message from its groups, each a list of nodes for each slot."""
        ordered = self._in_order(recipe, groups) if recipe.keys else groups
        if recipe.is_plain:
            return self._plain(recipe, ordered)
        written = [recipe.before]
        after_atom = False
        for lists in ordered:
            after_atom = self._return(recipe, lists, written, after_atom)
        return "".join([*written, recipe.after])

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

    def _return(self, recipe: Recipe, lists: Lists, written: list[str], after_atom: bool) -> bool:
        """Write one return; says whether an atomic value came last, to which another one keeps a space."""
        declared: set[str] = set()
        for piece in recipe.pieces:
            if isinstance(piece, str):
                written.append(piece)
                after_atom = False
            elif isinstance(piece, tuple):
                fill, slot = piece
                nodes = lists[slot]
                if fill is Fill.COPY:
                    if nodes:
                        written += map(self._copy, nodes)
                        after_atom = False
                elif fill is Fill.COUNT:
                    written.append(f" {len(nodes)}" if after_atom else str(len(nodes)))
                    after_atom = True
                elif fill is Fill.ATTRIBUTE_COUNT:
                    written.append(str(len(nodes)))
                elif fill is Fill.ATTRIBUTE_VALUE:
                    written.append(escape_attribute(" ".join(map(self._table.string_value, nodes))))
                else:
                    written.append(self._attributes(nodes, declared))
                    continue
            elif isinstance(piece, Atom):
                written.append(f" {piece.text}" if after_atom else piece.text)
                after_atom = True
            else:
                after_atom = False
            if declared:  # the start tag is closed
                declared.clear()
        return after_atom

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

    def _key(self, slot: int, lists: Lists) -> tuple[bool, str]:
        nodes = lists[slot]
        return (True, self._table.string_value(nodes[0])) if nodes else (False, "")
