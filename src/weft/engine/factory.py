"""Bindings and recipes in, messages out: the paper's message factory."""

from __future__ import annotations

from functools import partial

from weft.documents.fragment import Fragments
from weft.documents.rewrite import escape_attribute, escape_text
from weft.documents.table import NodeTable
from weft.plans.recipe import Fill, Recipe

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
        returns = recipe.between.join("".join(self._return(recipe, lists)) for lists in ordered)
        return f"{recipe.before}{returns}{recipe.after}"

    def _return(self, recipe: Recipe, lists: Lists) -> list[str]:
        written = []
        for piece in recipe.pieces:
            if isinstance(piece, str):
                written.append(piece)
                continue
            fill, slot = piece
            nodes = lists[slot]
            if fill is Fill.COPY:
                written += [self._copy(node) for node in nodes]
            elif fill is Fill.COUNT:
                written.append(str(len(nodes)))
            elif fill is Fill.ATTRIBUTE_VALUE:
                written.append(escape_attribute(" ".join(map(self._table.string_value, nodes))))
            else:
                written.append(self._attributes(nodes))
        return written

    def _copy(self, node: int) -> str:
        text = self._texts.get(node)
        if text is None:
            is_element = node < self._table.elements
            text = self._fragments.text(node) if is_element else escape_text(self._table.string_value(node))
            self._texts[node] = text
        return text

    def _attributes(self, nodes: list[int]) -> str:
        """Attributes as they stood; of several with one name the first."""
        by_name: dict[int, str] = {}
        for node in nodes:
            name = int(self._table.attribute_name[node - self._table.elements])
            if name not in by_name:
                by_name[name] = " " + self._fragments.attribute(node)
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
