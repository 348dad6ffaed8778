"""What sequences consist of: nodes of trees, nodes that a query has built, and single values."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from itertools import count
from typing import TypeAlias

from weft.engine.expressions.trees import DocumentTree, NodeKinds
from weft.plans.instants import Instant

_serials = count(1)


class DynamicError(Exception):
    """Why a query has no answer for a document."""


class Untyped(str):
    """The value of a node, which nobody has given a type: a text, or a number where one is expected."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Dated:
    """A date, date with time, or time."""

    instant: Instant
    text: str


class TreeNode:
    """A node of a tree; equal where it is the same node."""

    __slots__ = ("number", "tree")

    def __init__(self, tree: DocumentTree, number: int) -> None:
        self.tree, self.number = tree, number

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TreeNode) and self.number == other.number and self.tree is other.tree

    def __hash__(self) -> int:
        return hash((self.tree.serial, self.number))

    @property
    def kind(self) -> int:
        """What it is."""
        return self.tree.kind[self.number]

    @property
    def value(self) -> str:
        """Its string-value."""
        return self.tree.value(self.number)


@dataclass(slots=True, eq=False)
class BuiltNode:
    """A node that a query has built: the XML of an element, or the value of an attribute or a text.

    Whoever goes into an element reads it as a document of its own.
    """

    kind: str  # element, attribute, text, comment, instruction
    name: str
    text: str
    declared: str = ""  # the declaration of an attribute's prefix
    number: int = field(default_factory=lambda: next(_serials))
    root: TreeNode | None = None


Node: TypeAlias = TreeNode | BuiltNode
SingleValue: TypeAlias = "str | bool | int | Decimal | float | Dated"
Item: TypeAlias = "Node | SingleValue"
Items: TypeAlias = "list[Item]"


def is_node(item: Item) -> bool:
    """Whether an item is a node."""
    return isinstance(item, TreeNode | BuiltNode)


def is_attribute(item: Item) -> bool:
    """Whether an item is an attribute."""
    if isinstance(item, TreeNode):
        return item.kind == NodeKinds.ATTRIBUTE
    return isinstance(item, BuiltNode) and item.kind == "attribute"
