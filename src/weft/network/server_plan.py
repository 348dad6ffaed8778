"""Routing tables in, what each server is told out: what it asks of documents, and where they go on."""

from __future__ import annotations

from dataclasses import dataclass

from weft.broker.subscriptions import Subscription
from weft.documents.document import Limits
from weft.headers.configuration import Configuration
from weft.languages import Plan
from weft.network.routing import Routing
from weft.network.wanted import RoutingQuery

#: By source: to whom documents go on, and the set of queries of which they must match one.
Receivers = dict[str, tuple[tuple[str, int], ...]]


@dataclass(frozen=True, slots=True)
class ServerPlan:
    """All that a server needs to know of the network; it can be pickled.

    `readable` are the configurations whose headers may come, `attached` those of the headers that it attaches when it
    had to parse. `is_redundant` says that documents may come to it more than once.
    """

    name: str
    subscriptions: tuple[tuple[Subscription, Plan], ...]
    queries: dict[int, RoutingQuery]
    receivers: Receivers
    readable: tuple[Configuration, ...]
    attached: tuple[Configuration, ...]
    is_redundant: bool
    limits: Limits


def plan_servers(routing: Routing, only: set[str] | None = None) -> dict[str, ServerPlan]:
    """By name: what each server is told, or only these."""
    readable = _readable(routing)
    return {
        server.name: ServerPlan(
            server.name,
            tuple((each, routing.plans[server.name][each.id]) for each in server.subscriptions),
            routing.queries(routing.asked(server.name)),
            receivers_of(routing, server.name),
            (*routing.topology.configurations, *readable.get(server.name, {}).values()),
            server.configurations,
            any(len(routes.senders.get(server.name, ())) > 1 for routes in routing.routes.values()),
            routing.limits,
        )
        for server in routing.topology.servers
        if only is None or server.name in only
    }


def receivers_of(routing: Routing, server: str) -> Receivers:
    """To whom a server passes the documents of each source on, and what they must match."""
    return {
        source: tuple((receiver, routing.wanted(source, receiver)) for receiver in routes.receivers[server])
        for source, routes in routing.routes.items()
        if routes.receivers.get(server)
    }


def _readable(routing: Routing) -> dict[str, dict[str, Configuration]]:
    """For each server the configurations of those before it, by their tags, but for the network's own."""
    own = {server.name: server.configurations for server in routing.topology.servers if server.configurations}
    shared = {configuration.tag for configuration in routing.topology.configurations}
    found: dict[str, dict[str, Configuration]] = {}
    for routes in routing.routes.values() if own else ():
        for server in routes.order:
            passed = dict(found.get(server, {}))
            passed |= {each.tag: each for each in own.get(server, ()) if each.tag not in shared}
            for receiver in routes.receivers[server] if passed else ():
                found.setdefault(receiver, {}).update(passed)
    return found
