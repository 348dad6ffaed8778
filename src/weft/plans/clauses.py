"""What a FLWR expression that is worked out by itself consists of: its clauses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from weft.plans.expressions import QueryExpression


@dataclass(frozen=True, slots=True)
class ForClause:
    """`for $v at $place in …`."""

    name: str
    source: QueryExpression
    place: str | None = None
    allows_empty: bool = False


@dataclass(frozen=True, slots=True)
class LetClause:
    """`let $v := …`."""

    name: str
    value: QueryExpression


@dataclass(frozen=True, slots=True)
class WhereClause:
    """`where …`."""

    condition: QueryExpression


@dataclass(frozen=True, slots=True)
class OrderKey:
    """What to order by."""

    value: QueryExpression
    descending: bool = False
    empty_greatest: bool = False


@dataclass(frozen=True, slots=True)
class OrderClause:
    """`order by …`; always stable."""

    keys: tuple[OrderKey, ...]


@dataclass(frozen=True, slots=True)
class GroupClause:
    """`group by $k := …`: variables that have their values already."""

    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CountClause:
    """`count $n`: the place of each tuple."""

    name: str


Clause = ForClause | LetClause | WhereClause | OrderClause | GroupClause | CountClause
