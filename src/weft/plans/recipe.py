"""The construction of a FLWR plan in, a flat recipe out: constant text, and what goes between it from the slots."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from enum import IntEnum

from weft.documents.escaping import escape_attribute, escape_text
from weft.plans.flwr import (
    RETURNS,
    Attribute,
    Copy,
    Element,
    ElementPart,
    Enclosed,
    Flwr,
    Number,
    Returned,
    Slot,
    holds_attributes,
)

_BYTES = 4  # of a character
_DIGITS = 12  # of a count


class Fill(IntEnum):
    """How a slot's nodes are written."""

    COPY = 0  # as XML
    COUNT = 1  # as their number: an atomic value, with a space between it and another one before it
    ATTRIBUTE_VALUE = 2  # their values, in an attribute
    ATTRIBUTE_COUNT = 3  # their number, in an attribute
    ATTRIBUTES = 4  # as attributes of the element whose start tag is open


@dataclass(frozen=True, slots=True)
class Atom:
    """A constant that is an atomic value."""

    text: str


@dataclass(frozen=True, slots=True)
class Break:
    """The end of a pair of braces: no space between what is before and behind it."""


#: Constant text, an atomic value, or a way to fill and the place of the slot.
RecipePiece = str | Atom | Break | tuple[Fill, int]


@dataclass(frozen=True, slots=True)
class Recipe:
    """A message is `before`, the pieces once for each group, and `after`."""

    before: str
    pieces: tuple[RecipePiece, ...]
    after: str
    keys: tuple[tuple[int, bool], ...]  # the slots to order groups by, and whether descending
    is_plain: bool  # constant text and copies, as most recipes are
    constant: int = field(init=False, compare=False)  # bytes that are the same in each group, at most
    repeats: int = field(init=False, compare=False)  # how often a slot is filled, at most

    def __post_init__(self) -> None:
        length = len(self.before) + len(self.after) + sum(map(_length, self.pieces))
        fills = Counter(piece[1] for piece in self.pieces if isinstance(piece, tuple))
        object.__setattr__(self, "constant", _BYTES * length)
        object.__setattr__(self, "repeats", max(fills.values(), default=0))


def make_recipe(plan: Flwr) -> tuple[Recipe, tuple[Slot, ...]]:
    """The recipe of a plan, and the slots that it speaks of; equal slots are one."""
    slots: dict[Slot, int] = {}
    writer = _RecipeWriter(slots, plan)
    writer.enclosed(plan.returned)
    before, after = _around(plan)
    keys = tuple((slots.setdefault(order.slot, len(slots)), order.descending) for order in plan.order)
    pieces = writer.merged()
    is_plain = all(isinstance(piece, str) or (isinstance(piece, tuple) and piece[0] is Fill.COPY) for piece in pieces)
    return Recipe(before, pieces, after, keys, is_plain), tuple(slots)


def _length(piece: RecipePiece) -> int:
    """The characters of a constant, or of a number."""
    if isinstance(piece, str):
        return len(piece)
    return len(piece.text) + 1 if isinstance(piece, Atom) else _DIGITS


def _around(plan: Flwr) -> tuple[str, str]:
    """The enclosing element up to the returns, and from there on; it has constants alone."""
    mark = "\0"
    writer = _RecipeWriter({}, plan, mark)
    writer.element(plan.enclosing)
    text = "".join(piece for piece in writer.merged() if isinstance(piece, str))
    before, _, after = text.partition(mark)
    return before, after


class _RecipeWriter:
    def __init__(self, slots: dict[Slot, int], plan: Flwr, returns: str = "") -> None:
        self._slots, self._plan, self._returns = slots, plan, returns
        self._pieces: list[RecipePiece] = []

    def merged(self) -> tuple[RecipePiece, ...]:
        """The pieces, neighbouring constants put together."""
        merged: list[RecipePiece] = []
        after_atom = False  # only there a break makes a difference
        for piece in self._pieces:
            last = merged[-1] if merged else None
            if isinstance(piece, str) and isinstance(last, str):
                merged[-1] = last + piece
            elif piece != "" and (after_atom or not isinstance(piece, Break)):
                merged.append(piece)
            if isinstance(piece, Atom) or (isinstance(piece, tuple) and piece[0] is Fill.COUNT):
                after_atom = True
            elif isinstance(piece, str | Break):
                after_atom = False
        return tuple(merged)

    def element(self, element: Element) -> None:
        self._pieces.append(f"<{element.name}")
        for attribute in element.attributes:
            self._attribute(attribute)
        parts = list(element.parts)
        while parts and (copied := self._leading_attributes(parts[0])):
            self._pieces += [(Fill.ATTRIBUTES, self._place(slot)) for slot in copied]
            rest = parts[0].items[len(copied) :] if isinstance(parts[0], Enclosed) else ()
            parts[:1] = [Enclosed(rest)] if rest else []
        self._pieces.append(">")
        for part in parts:
            self._part(part)
        self._pieces.append(f"</{element.name}>")

    def enclosed(self, enclosed: Enclosed) -> None:
        for item in enclosed.items:
            self._item(item)

    def _part(self, part: ElementPart) -> None:
        if isinstance(part, str):
            self._pieces.append(escape_text(part))
        elif isinstance(part, Element):
            self.element(part)
        elif part == RETURNS and self._returns:
            self._pieces.append(self._returns)
        else:
            self.enclosed(part)
            self._pieces.append(Break())

    def _item(self, item: Returned | Element | str) -> None:
        if isinstance(item, str):
            self._pieces.append(Atom(escape_text(item)))
        elif isinstance(item, Element):
            self.element(item)
        else:
            fill = Fill.COUNT if isinstance(item, Number) else Fill.COPY
            self._pieces.append((fill, self._place(item.slot)))

    def _attribute(self, attribute: Attribute) -> None:
        self._pieces.append(f' {attribute.name}="')
        for part in attribute.parts:
            if isinstance(part, str):
                self._pieces.append(escape_attribute(part))
            else:
                fill = Fill.ATTRIBUTE_COUNT if isinstance(part, Number) else Fill.ATTRIBUTE_VALUE
                self._pieces.append((fill, self._place(part.slot)))
        self._pieces.append('"')

    def _place(self, slot: Slot) -> int:
        return self._slots.setdefault(slot, len(self._slots))

    def _leading_attributes(self, part: ElementPart) -> list[Slot]:
        """The slots at the start of an element's content that hold attributes."""
        found: list[Slot] = []
        for item in part.items if isinstance(part, Enclosed) else ():
            if not isinstance(item, Copy) or not holds_attributes(item.slot, self._plan.variables):
                break
            found.append(item.slot)
        return found
