"""The construction of a FLWR plan in, a flat recipe out: constant text, and what goes between it from the slots."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from weft.documents.rewrite import escape_attribute, escape_text
from weft.plans.flwr import RETURNS, Attribute, Copy, Element, Enclosed, Flwr, Number, Part, Slot, Value


class Fill(IntEnum):
    """How a slot's nodes are written."""

    COPY = 0  # as XML
    COUNT = 1  # as their number
    ATTRIBUTE_VALUE = 2  # their values, in an attribute
    ATTRIBUTES = 3  # as attributes of the element whose start tag is open


#: Constant text, or a way to fill and the place of the slot.
Piece = str | tuple[Fill, int]


@dataclass(frozen=True, slots=True)
class Recipe:
    """A message is `before`, the pieces once for each group with `between` in between, and `after`."""

    before: str
    pieces: tuple[Piece, ...]
    between: str
    after: str
    keys: tuple[tuple[int, bool], ...]  # the slots to order groups by, and whether descending


def make_recipe(plan: Flwr) -> tuple[Recipe, tuple[Slot, ...]]:
    """The recipe of a plan, and the slots that it speaks of; equal slots are one."""
    slots: dict[Slot, int] = {}
    writer = _Writer(slots)
    writer.enclosed(plan.returned)
    before, after = _around(plan.enclosing)
    keys = tuple((slots.setdefault(order.slot, len(slots)), order.descending) for order in plan.order)
    items = plan.returned.items
    between = " " if items and _is_atomic(items[0]) and _is_atomic(items[-1]) else ""
    return Recipe(before, writer.merged(), between, after, keys), tuple(slots)


def _is_atomic(item: Value | Element | str) -> bool:
    return isinstance(item, Number | str)


def _around(enclosing: Element) -> tuple[str, str]:
    """The enclosing element up to the returns, and from there on; it has constants alone."""
    mark = "\0"
    writer = _Writer({}, mark)
    writer.element(enclosing)
    text = "".join(piece for piece in writer.merged() if isinstance(piece, str))
    before, _, after = text.partition(mark)
    return before, after


class _Writer:
    def __init__(self, slots: dict[Slot, int], returns: str = "") -> None:
        self._slots, self._returns = slots, returns
        self._pieces: list[Piece] = []

    def merged(self) -> tuple[Piece, ...]:
        """The pieces, neighbouring constants put together."""
        merged: list[Piece] = []
        for piece in self._pieces:
            if isinstance(piece, str) and merged and isinstance(merged[-1], str):
                merged[-1] += piece
            elif piece:
                merged.append(piece)
        return tuple(merged)

    def element(self, element: Element) -> None:
        self._pieces.append(f"<{element.name}")
        for attribute in element.attributes:
            self._attribute(attribute)
        parts = list(element.parts)
        while parts and (copied := _leading_attributes(parts[0])):
            self._pieces += [(Fill.ATTRIBUTES, self._place(slot)) for slot in copied]
            rest = parts[0].items[len(copied) :] if isinstance(parts[0], Enclosed) else ()
            parts[:1] = [Enclosed(rest)] if rest else []
        self._pieces.append(">")
        for part in parts:
            self._part(part)
        self._pieces.append(f"</{element.name}>")

    def enclosed(self, enclosed: Enclosed) -> None:
        before: Value | Element | str | None = None
        for item in enclosed.items:
            if before is not None and _is_atomic(before) and _is_atomic(item):
                self._pieces.append(" ")
            self._item(item)
            before = item

    def _part(self, part: Part) -> None:
        if isinstance(part, str):
            self._pieces.append(escape_text(part))
        elif isinstance(part, Element):
            self.element(part)
        elif part == RETURNS and self._returns:
            self._pieces.append(self._returns)
        else:
            self.enclosed(part)

    def _item(self, item: Value | Element | str) -> None:
        if isinstance(item, str):
            self._pieces.append(escape_text(item))
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
                fill = Fill.COUNT if isinstance(part, Number) else Fill.ATTRIBUTE_VALUE
                self._pieces.append((fill, self._place(part.slot)))
        self._pieces.append('"')

    def _place(self, slot: Slot) -> int:
        return self._slots.setdefault(slot, len(self._slots))


def _leading_attributes(part: Part) -> list[Slot]:
    """The slots at the start of an element's content that hold attributes."""
    found: list[Slot] = []
    for item in part.items if isinstance(part, Enclosed) else ():
        if not isinstance(item, Copy) or not item.slot.selects_attributes:
            break
        found.append(item.slot)
    return found
