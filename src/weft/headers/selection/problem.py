"""View selection beyond the restricted problem: what servers ask, what views could be had, and what it all costs.

A *service* is a way to answer an expression by views: its exact view, an ancestor's view and a parse of that element,
or several positional views together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from weft.errors import ConfigurationError
from weft.headers.selection.instance import Instance

#: Bytes a second of a link, where nobody tells: one of 1 Gbit/s.
BANDWIDTH = 125e6


@dataclass(frozen=True, slots=True)
class Conjunct:
    """One test of a query: on which expression, and the share of documents that pass it; none where it is unknown."""

    expression: int
    selectivity: float | None = None
    test: str = ""  # what feedback calls it, such as `= "x"`


@dataclass(frozen=True, slots=True)
class ServerLoad:
    """A server: how many documents reach it, and its queries, each a conjunction."""

    queries: tuple[tuple[Conjunct, ...], ...]
    weight: float = 1.0
    name: str = ""


@dataclass(frozen=True, slots=True)
class CandidateView:
    """A view that a configuration may have, and the bytes that it takes in a header."""

    expression: str
    bytes: float


@dataclass(frozen=True, slots=True)
class Service:
    """Views that answer an expression if all of them are chosen: what a look-up costs, and how often it is a hit.

    An exact view misses where there are several nodes; two positional views where there are more than two.
    """

    expression: int
    views: tuple[int, ...]
    cost: float
    hit: float = 1.0


@dataclass(frozen=True, slots=True)
class Problem:
    """What views are chosen for. Costs are in one unit, whichever: seconds, say.

    `links` is how often a header is sent for each document; None: once to each server that the document reaches.
    `documents` is how many there are: weights of servers are numbers of documents too.
    """

    servers: tuple[ServerLoad, ...]
    views: tuple[CandidateView, ...]
    services: tuple[Service, ...]
    parse_cost: float
    byte_cost: float = 0.0
    links: float | None = 1.0
    documents: float = 1.0

    def __post_init__(self) -> None:
        for service in self.services:
            if not service.views or any(not 0 <= view < len(self.views) for view in service.views):
                raise ConfigurationError(f"expected services by views from 0 to {len(self.views) - 1}, found {service}")
            if not 0 <= service.hit <= 1 or service.cost < 0:
                raise ConfigurationError(f"expected a hit rate from 0 to 1 and a cost from 0 on, found {service}")

    @property
    def header_cost(self) -> float:
        """What a byte of a header costs in all."""
        if self.links is None:
            return self.byte_cost * sum(server.weight for server in self.servers)
        return self.byte_cost * self.links * self.documents

    def exact_views(self) -> dict[int, int]:
        """For each expression the view that answers it alone and most cheaply."""
        found: dict[int, Service] = {}
        for service in self.services:
            known = found.get(service.expression)
            if len(service.views) == 1 and (known is None or service.cost < known.cost):
                found[service.expression] = service
        return {expression: service.views[0] for expression, service in found.items()}


def problem_of(
    instance: Instance,
    parse_cost: float = 1.0,
    lookup_cost: float = 0.0,
    view_bytes: float = 3.0,
    byte_cost: float = 0.0,
    selectivity: Sequence[float] | None = None,
) -> Problem:
    """The restricted problem as one of this kind: a query of one conjunct, and an exact view, for each expression."""
    chosen = range(len(instance.expressions))
    share = [None if selectivity is None else selectivity[number] for number in chosen]
    servers = (
        ServerLoad(tuple((Conjunct(each, share[each]),) for each in sorted(server)), instance.weight(number))
        for number, server in enumerate(instance.servers)
    )
    return Problem(
        tuple(servers),
        tuple(CandidateView(expression, view_bytes) for expression in instance.expressions),
        tuple(Service(number, (number,), lookup_cost) for number in chosen),
        parse_cost,
        byte_cost,
    )
