"""A topology in, routing tables out: for each source and link the queries that are wanted behind it, as few as suffice.

Subscriptions come and go: what a coverer kept out comes back when it goes.
"""

from __future__ import annotations

from weft.broker.reading import new_plan
from weft.broker.subscriptions import Subscription
from weft.documents.document import Limits
from weft.errors import ConfigurationError, QueryError
from weft.languages import Plan
from weft.network.covering import Covering, members
from weft.network.routes import find_routes
from weft.network.topology import Topology
from weft.network.wanted import RoutingQuery, check_plan, routing_queries


class Routing:
    """What each server asks of a document, and over which links it goes then.

    `wanted(source, server)` is the set of queries for documents that come to a server from a source: its own and those
    behind it, without what others cover. All links into the server have this set.
    """

    def __init__(self, topology: Topology, limits: Limits | None = None) -> None:
        self.topology, self.limits = topology, limits or Limits()
        self.routes = find_routes(topology)
        self.covering = Covering()
        self.plans: dict[str, dict[str, Plan]] = {}  # by server and subscription
        self._read: dict[tuple[object, ...], Plan] = {}  # equal queries are read once
        self._own: dict[str, dict[str, int]] = {}  # by server and subscription the set of its queries
        self._wanted: dict[str, dict[str, int]] = {}
        for server in topology.servers:
            self._own[server.name], self.plans[server.name] = {}, {}
            for subscription in server.subscriptions:
                self._add(server.name, subscription)
        for source, routes in self.routes.items():
            self._wanted[source] = {}
            for server_name in reversed(routes.order):
                self._wanted[source][server_name] = self._gather(source, server_name)

    def wanted(self, source: str, server: str) -> int:
        """The set of queries that documents of a source must match, some of them, to be passed to a server."""
        return self._wanted[source].get(server, 0)

    def asked(self, server: str) -> int:
        """The set of all queries that a server asks to know over which links documents go."""
        found = 0
        for source, routes in self.routes.items():
            for receiver in routes.receivers.get(server, ()):
                found |= self._wanted[source][receiver]
        return found

    def queries(self, numbers: int) -> dict[int, RoutingQuery]:
        """The queries of a set."""
        return {number: self.covering.queries[number] for number in members(numbers)}

    @property
    def entries(self) -> tuple[int, int]:
        """How many queries the tables of all links have, and how many they would have without covering."""
        kept = without = 0
        for source, routes in self.routes.items():
            behind: dict[str, int] = {}
            for server in reversed(routes.order):
                found = self._queries_of(server)
                for receiver in routes.receivers[server]:
                    found |= behind[receiver]
                behind[server] = found
                kept += len(routes.senders[server]) * self._wanted[source][server].bit_count()
                without += len(routes.senders[server]) * found.bit_count()
        return kept, without

    # -- change

    def subscribe(self, server: str, subscription: Subscription) -> set[str]:
        """Add a subscription; the servers that ask for other queries now come back."""
        if subscription.id in self._own_of(server):
            raise ConfigurationError(f"server {server!r}: subscription {subscription.id!r} is there already")
        self._add(server, subscription)
        return self._renew(server)

    def unsubscribe(self, server: str, id: str) -> set[str]:
        """Remove a subscription; the servers that ask for other queries now come back."""
        own = self._own_of(server)
        if id not in own:
            raise ConfigurationError(f"server {server!r}: expected a subscription, found none with id {id!r}")
        del own[id], self.plans[server][id]
        return self._renew(server)

    def _renew(self, server: str) -> set[str]:
        """Work the sets out anew, from a server towards the sources, as far as they change."""
        changed: set[str] = set()
        for source, routes in self.routes.items():
            if server not in routes.senders:
                continue
            touched = {server}
            for name in reversed(routes.order):
                if name not in touched:
                    continue
                found = self._gather(source, name)
                if found != self._wanted[source][name]:
                    self._wanted[source][name] = found
                    touched.update(routes.senders[name])
                    changed.update(routes.senders[name])
        return changed

    # -- inside

    def _add(self, server: str, subscription: Subscription) -> None:
        place = f"server {server!r}, subscription {subscription.id!r}"
        if subscription.place:
            place = f"{subscription.place}: {place}"
        try:
            plan = self._plan(subscription)
        except QueryError as error:
            raise ConfigurationError(f"{place}: {error}") from None
        check_plan(place, plan)
        found = 0
        for query in routing_queries(plan):
            found |= 1 << self.covering.number(query)
        self._own[server][subscription.id], self.plans[server][subscription.id] = found, plan

    def _plan(self, subscription: Subscription) -> Plan:
        namespaces = tuple(sorted(subscription.namespaces.items()))
        key = (subscription.query, subscription.language, namespaces, subscription.ignore_namespaces)
        if key not in self._read:
            self._read[key] = new_plan(subscription, self.limits)
        return self._read[key]

    def _own_of(self, server: str) -> dict[str, int]:
        if server not in self._own:
            raise ConfigurationError(f"expected a server of the network, found {server!r}")
        return self._own[server]

    def _queries_of(self, server: str) -> int:
        found = 0
        for queries in self._own[server].values():
            found |= queries
        return found

    def _gather(self, source: str, server: str) -> int:
        found = self._queries_of(server)
        for receiver in self.routes[source].receivers[server]:
            found |= self._wanted[source][receiver]
        return self.covering.reduce(found)
