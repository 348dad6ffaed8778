"""What a query that is worked out by itself builds: elements, attributes, texts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from weft.plans.expressions import QueryExpression


@dataclass(frozen=True, slots=True)
class BuiltElement:
    """An element constructor; a name that is worked out is an expression.

    Attributes stand before the content, both in their order. `declared` are the namespaces that it writes.
    """

    name: str | QueryExpression
    attributes: tuple[BuiltAttribute, ...]
    content: tuple[QueryExpression, ...]
    declared: tuple[tuple[str, str], ...] = ()
    namespaces: tuple[tuple[str, str], ...] = ()  # for names that are worked out


@dataclass(frozen=True, slots=True)
class BuiltAttribute:
    """An attribute constructor: its values, one behind the other."""

    name: str | QueryExpression
    parts: tuple[QueryExpression, ...]
    declared: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class BuiltLeaf:
    """A text, comment or instruction constructor; characters written in an element are a text too."""

    kind: Literal["text", "comment", "instruction", "document"]
    content: QueryExpression
    target: str = ""
