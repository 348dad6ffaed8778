"""Recipes in, the same as columns out: what very many messages are written by together."""

from __future__ import annotations

from array import array
from dataclasses import dataclass

import numpy as np

from weft.columns.integers import Flags, Ints, Longs
from weft.columns.ragged import Ragged
from weft.columns.runs import GrowingRuns
from weft.plans.recipe import Fill, Recipe


@dataclass(frozen=True, slots=True)
class RecipeColumns:
    """Recipes by number. Of those that are plain each has three runs of pieces: what comes before all groups, once for
    each group, and behind. Pieces are constants, or below zero ~slot."""

    constant: Longs  # bytes that are the same in each group, at most
    repeats: Longs  # how often a slot is filled, at most
    is_plain: Flags
    has_order: Flags
    key_slots: Ragged  # to order groups by
    is_descending: Ints  # beside these
    pieces: Ragged  # by recipe and run
    constants: list[bytes]  # only ever longer: entries stay


class RecipeTable:
    """The recipes of an index. They are only added: to add one costs no more where there are many."""

    def __init__(self) -> None:
        self.recipes: list[Recipe] = []
        self._known: dict[Recipe, int] = {}
        self._constants: dict[str, int] = {}
        self._texts: list[bytes] = []
        self._constant, self._repeats, self._is_plain = array("q"), array("q"), array("b")
        self._keys, self._descending, self._pieces = GrowingRuns(), GrowingRuns(), GrowingRuns()
        self._frozen: RecipeColumns | None = None

    def add(self, recipe: Recipe) -> int:
        """The number of a recipe."""
        number = self._known.get(recipe)
        if number is None:
            self._frozen = None
            number = self._known[recipe] = len(self.recipes)
            self.recipes.append(recipe)
            self._constant.append(recipe.constant)
            self._repeats.append(recipe.repeats)
            self._is_plain.append(recipe.is_plain)
            self._keys.add(slot for slot, _ in recipe.keys)
            self._descending.add(descending for _, descending in recipe.keys)
            for run in ((recipe.before,), recipe.pieces if recipe.is_plain else (), (recipe.after,)):
                self._pieces.add(self._piece(piece) for piece in run if isinstance(piece, str | tuple))
        return number

    def frozen(self) -> RecipeColumns:
        """The recipes as they are now."""
        if self._frozen is None:
            keys = self._keys.frozen()
            self._frozen = RecipeColumns(
                constant=np.array(self._constant, np.int64),
                repeats=np.array(self._repeats, np.int64),
                is_plain=np.array(self._is_plain, bool),
                has_order=np.diff(keys.starts) > 0,
                key_slots=keys,
                is_descending=self._descending.entries(),
                pieces=self._pieces.frozen(),
                constants=self._texts,
            )
        return self._frozen

    def _piece(self, piece: str | tuple[Fill, int]) -> int:
        if isinstance(piece, tuple):
            return ~piece[1]
        number = self._constants.get(piece)
        if number is None:
            number = self._constants[piece] = len(self._texts)
            self._texts.append(piece.encode("utf-8", "surrogatepass"))
        return number
