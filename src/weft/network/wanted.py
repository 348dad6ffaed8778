"""A subscription's plan in, routing queries out: what servers on the way ask to know whether it may want a document.

A routing query matches every document that its subscription wants, perhaps more: where the subscription is, it is
answered exactly.
"""

from __future__ import annotations

from dataclasses import dataclass

from weft.documents.document import Document, is_in_stream
from weft.engine.messages.first_bindings import binding_pattern
from weft.engine.selections import patterns
from weft.errors import ConfigurationError
from weft.languages import Plan
from weft.plans.flwr import Flwr
from weft.plans.lone_query import LoneQuery
from weft.plans.plan import Pattern, Selection, Step
from weft.plans.xscl import Block, Xscl

#: Every document that can be read has it.
ROOT = Pattern(None, (Step("*"),))


@dataclass(frozen=True, slots=True)
class RoutingQuery:
    """Documents of a stream, if there is one, in which something is selected."""

    selection: Selection
    stream: str = ""

    def is_for(self, document: Document) -> bool:
        """Whether a document is of the stream."""
        return is_in_stream(document, self.stream)


def routing_queries(plan: Plan) -> tuple[RoutingQuery, ...]:
    """What a subscription wants; for XSCL, the documents that may take part: one query for each block."""
    match plan:
        case Flwr():
            return (RoutingQuery(binding_pattern(plan.variables), plan.stream),)
        case LoneQuery(stream, required):
            return tuple(RoutingQuery(each, stream) for each in patterns(required))
        case Xscl():
            # A window of so many documents counts all of the stream, those that match nothing too.
            counts = any(join.window.documents is not None for join in plan.joins)
            return tuple(dict.fromkeys(_block(block, counts) for block in plan.blocks))
        case _:
            return (RoutingQuery(plan),)


def check_plan(place: str, plan: Plan) -> None:
    """Raise ConfigurationError for what one broker can do and a network cannot."""
    if isinstance(plan, Xscl) and plan.publish is not None:
        raise ConfigurationError(
            f"{place}: expected a query that publishes nothing, found PUBLISH {plan.publish}: in a network its "
            "documents would be seen at one server only; give them to a source instead"
        )


def _block(block: Block, counts: bool) -> RoutingQuery:
    wants_all = counts or not block.variables
    return RoutingQuery(ROOT if wants_all else binding_pattern(block.variables), block.stream)
