"""What a FLWR query becomes: a block of variables with tests, an order, and the construction of the message."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from weft.documents.kind import Kind
from weft.plans.plan import Link, Test


@dataclass(frozen=True, slots=True)
class Variable:
    """A `for` variable: it binds one after the other the nodes that the links lead to, from the root or a variable."""

    name: str
    source: int | None  # the variable that it starts from, by its place
    links: tuple[Link, ...]
    where: Test | None = None  # what the where clause asks of this variable alone


@dataclass(frozen=True, slots=True)
class Slot:
    """A place in the message for the nodes that the links lead to from a variable's node; no links: for the node."""

    variable: int
    links: tuple[Link, ...]


@dataclass(frozen=True, slots=True)
class Copy:
    """The nodes of a slot, copied into the message."""

    slot: Slot


@dataclass(frozen=True, slots=True)
class Number:
    """How many nodes a slot has."""

    slot: Slot


Returned = Copy | Number


@dataclass(frozen=True, slots=True)
class Attribute:
    """A constructed attribute: constant text and values between it."""

    name: str
    parts: tuple[str | Returned, ...]


@dataclass(frozen=True, slots=True)
class Element:
    """A constructed element. Text is a part as it reads; values that stand in one pair of braces are one part."""

    name: str
    attributes: tuple[Attribute, ...]
    parts: tuple[ElementPart, ...]


@dataclass(frozen=True, slots=True)
class Enclosed:
    """What stands between braces: values and elements, one after the other."""

    items: tuple[Returned | Element | str, ...]


ElementPart = str | Element | Enclosed


@dataclass(frozen=True, slots=True)
class Order:
    """A key to put the bindings in order: the value of a slot's only node."""

    slot: Slot
    descending: bool = False


@dataclass(frozen=True, slots=True)
class Flwr:
    """A query that builds a message: for each binding of the variables that passes, one return.

    `where` holds what needs several variables at once; what needs one is with that variable.
    """

    stream: str
    variables: tuple[Variable, ...]
    where: Test | None
    order: tuple[Order, ...]
    returned: Enclosed
    enclosing: Element  # with `RETURNS` as the part that the returns replace


#: The place in the enclosing element where the returns go.
RETURNS = Enclosed(())


def holds_attributes(slot: Slot, variables: Sequence[Variable]) -> bool:
    """Whether a slot's nodes are attributes."""
    links = slot.links or variables[slot.variable].links
    return links[-1].path[-1].kind is Kind.ATTRIBUTE
