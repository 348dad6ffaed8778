"""A query that is worked out alone: its expression, and the nodes without which it has no message."""

from __future__ import annotations

from dataclasses import dataclass

from weft.plans.clauses import ForClause, WhereClause
from weft.plans.expressions import QueryExpression, UserFunction
from weft.plans.plan import Selection


@dataclass(frozen=True, slots=True)
class LoneQuery:
    """A query of XQuery that shares its necessary conditions with others, and is worked out by itself where they hold.

    A document in which `required` finds nothing has no message.
    """

    stream: str
    required: Selection
    body: QueryExpression
    functions: tuple[UserFunction, ...]
    why: str  # it does not share more
    first: ForClause | None = None  # it can bind the nodes that `required` finds, instead of all that its path leads to
    known: tuple[WhereClause, ...] = ()  # that all these nodes pass
