"""FLWR subscriptions in, their shapes and forms out: what those that differ in constant tags alone have in common.

A *form* is a shape and a recipe: the subscriptions of a form get the same message, which is written once.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from weft.columns.integers import Flags, Ints
from weft.columns.ragged import Ragged
from weft.documents.document import Document
from weft.engine.messages.building import Building
from weft.engine.messages.recipes import RecipeTable
from weft.engine.messages.shapes import ShapeTable
from weft.kernel.subscribers import Subscribers

_ANY, _UNKNOWN = -1, -2  # the stream of a document that names none, or one that nobody asks for
_EDGE = -1  # in the place of a recipe: there are no messages


class BuiltQueries:
    """The FLWR subscriptions of an index."""

    def __init__(self) -> None:
        # By subscription; of numbers alone, as all that there is of each: the collector walks none of it.
        self._form_of: dict[int, int] = {}
        self.shapes, self.recipes = ShapeTable(), RecipeTable()
        self._forms: dict[tuple[int, int], int] = {}  # by shape and recipe
        self._shape_of_form, self._recipe_of_form = array("i"), array("i")
        self._wanted = array("i")  # by shape, how many subscriptions have it
        self.subscribers = Subscribers()  # by form
        self.streams: dict[int, str] = {}  # of the subscriptions that name one
        self.inexact: dict[int, int] = {}  # shapes of subscriptions that only bindings tell the matches of
        self._columns: tuple[Ragged, Ints] | None = None
        self._streams: tuple[dict[str, int], Ints, Ints] | None = None
        self._numbers: Ints | None = None

    def __len__(self) -> int:
        return len(self._form_of)

    def __contains__(self, subscription: object) -> bool:
        return subscription in self._form_of

    def add(self, subscription: int, result: int, building: Building) -> None:
        """Take a subscription in."""
        shape = self.shapes.add(result, building)
        recipe = _EDGE if building.recipe is None else self.recipes.add(building.recipe)
        form = self._forms.get((shape, recipe))
        if form is None:
            form = self._forms[shape, recipe] = self.subscribers.new()
            self._shape_of_form.append(shape)
            self._recipe_of_form.append(recipe)
            self._wanted.extend([0] * (shape + 1 - len(self._wanted)))
            self._columns = None
        self._numbers = None
        self._wanted[shape] += 1
        self.subscribers.add(form, subscription)
        self._form_of[subscription] = form
        if building.stream:
            self.streams[subscription] = building.stream
            self._streams = None
        if not building.is_exact:
            self.inexact[subscription] = shape

    def remove(self, subscription: int) -> bool:
        """Let a subscription go; a form without any stays. Whether its results were its answer comes back."""
        form = self._form_of.pop(subscription)
        self.subscribers.remove(form, subscription)
        self._wanted[self._shape_of_form[form]] -= 1
        self._numbers = None
        if self.streams.pop(subscription, None) is not None:
            self._streams = None
        return self.inexact.pop(subscription, None) is None

    def building(self, subscription: int) -> Building:
        """How a subscription's messages are built."""
        form = self._form_of[subscription]
        recipe = self._recipe_of_form[form]
        return replace(
            self.shapes.building(self._shape_of_form[form]),
            recipe=None if recipe == _EDGE else self.recipes.recipes[recipe],
            stream=self.streams.get(subscription, ""),
            is_exact=subscription not in self.inexact,
        )

    def sharing(self, subscription: int) -> int:
        """How many subscriptions have this one's shape."""
        return self._wanted[self._shape_of_form[self._form_of[subscription]]]

    def subscriptions_of(self, shape: int) -> list[int]:
        """The subscriptions with a shape."""
        _, forms = self.forms_of.of(np.array([shape]))
        subscriptions: list[int] = self.subscribers.pairs(forms)[1].tolist()
        return subscriptions

    @property
    def forms_of(self) -> Ragged:
        """The forms of each shape."""
        return self._of_forms[0]

    @property
    def recipe_of(self) -> Ints:
        """The recipe of each form; below zero where it has no messages."""
        return self._of_forms[1]

    @property
    def is_wanted(self) -> Flags:
        """Which shapes some subscription has."""
        return np.array(self._wanted, np.int32) > 0

    @property
    def numbers(self) -> Ints:
        """All FLWR subscriptions."""
        if self._numbers is None:
            self._numbers = np.fromiter(self._form_of, np.int32, len(self._form_of))
        return self._numbers

    def is_in_stream(self, documents: Sequence[Document], document: Ints, subscription: Ints) -> Flags:
        """Which rows are of a document and a subscription that have no different streams."""
        if self._streams is None:
            codes = {stream: code for code, stream in enumerate(dict.fromkeys(self.streams.values()))}
            numbers = np.array(sorted(self.streams), np.int32)
            of_numbers = np.array([codes[self.streams[number]] for number in numbers.tolist()], np.int32)
            self._streams = codes, numbers, of_numbers
        codes, numbers, of_numbers = self._streams
        seen_by = [codes.get(each.stream, _UNKNOWN) if each.stream else _ANY for each in documents]
        at = np.minimum(np.searchsorted(numbers, subscription), numbers.size - 1)
        stream = np.array(seen_by, np.int32)[document]
        return np.asarray((stream == _ANY) | (numbers[at] != subscription) | (of_numbers[at] == stream))

    @property
    def _of_forms(self) -> tuple[Ragged, Ints]:
        if self._columns is None:
            shapes = np.array(self._shape_of_form, np.int32)
            forms = np.arange(shapes.size, dtype=np.int32)
            self._columns = Ragged(shapes, forms, len(self.shapes)), np.array(self._recipe_of_form, np.int32)
        return self._columns
