"""A topology in, its servers out as they run in this process, with all that they count put together."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter

from weft.broker.subscriptions import Subscription
from weft.documents.document import Limits
from weft.headers.configuration import Configuration
from weft.headers.producer import bytes_of
from weft.headers.selection.feedback import Feedback
from weft.network.entrance import Entrance
from weft.network.passage import Delivered, Handled, Passage
from weft.network.report import Report
from weft.network.routing import Routing
from weft.network.seen import LATEST
from weft.network.server import Server
from weft.network.server_plan import plan_servers, receivers_of
from weft.network.topology import Topology

_MOST_ENGINES = 500  # at 0.7 to 2 MB each: most of it is room for a batch
_KEPT = 10_000  # rejected documents that are told


class RunningNetwork:
    """The servers of a network, what they have delivered, and what went over their links.

    With `only` there are these servers, and no others: what is sent to others goes no further. With `told` only the
    deliveries of these are told. Latency is what the servers on the way took; with `is_measured` it is the clock's.
    Who has worked out the routing of the topology already gives it: of very many queries that takes long.
    """

    def __init__(
        self,
        topology: Topology,
        *,
        limits: Limits | None = None,
        latest: int = LATEST,
        lateness: float = 0.0,
        only: set[str] | None = None,
        told: set[str] | None = None,
        is_measured: bool = False,
        routing: Routing | None = None,
    ) -> None:
        self.routing = routing or Routing(topology, limits)
        self.entrance = Entrance(topology, limits)
        plans = plan_servers(self.routing, only)
        self.servers = {name: Server(plan, latest, lateness) for name, plan in plans.items()}
        self._told = self.servers.keys() if told is None else told
        self._report = Report.of(topology)
        self._engines: dict[str, None] = {}  # the servers that have one, the latest used last
        self._is_measured, self._started = is_measured, perf_counter()

    # -- subscriptions

    def subscribe(self, server: str, subscription: Subscription) -> None:
        """Add a subscription at a server; documents that come from now on reach it."""
        changed = self.routing.subscribe(server, subscription)
        if server in self.servers:
            self.servers[server].subscribe(subscription, self.routing.plans[server][subscription.id])
        self._renew(changed)

    def unsubscribe(self, server: str, id: str) -> None:
        """Remove a subscription from a server."""
        changed = self.routing.unsubscribe(server, id)
        if server in self.servers:
            self.servers[server].unsubscribe(id)
        self._renew(changed)

    # -- headers

    def configure(self, configuration: Configuration) -> None:
        """Documents that enter from now on have headers of this configuration, instead of those of its name before it.

        It takes over by its tag: all servers can read both, and what is on its way with the old one goes on.
        """
        for server in self.servers.values():
            server.questions.configure(configuration)
        self.entrance.configure(configuration)

    def tell(self, feedback: Feedback, now: float) -> None:
        """Tell whoever chooses views what servers asked since they last told it, and what came of it."""
        for name, server in self.servers.items():
            server.questions.tell(feedback, name, now)

    def _renew(self, changed: set[str]) -> None:
        for name in changed & self.servers.keys():
            queries = self.routing.queries(self.routing.asked(name))
            self.servers[name].route(queries, receivers_of(self.routing, name))

    # -- documents

    def take(self, name: str, passages: Sequence[Passage]) -> dict[str, list[Passage]]:
        """A server takes documents; by the names of others what goes on to them."""
        server = self.servers[name]
        onward: dict[str, list[Passage]] = {}
        for handled in server.take(passages):
            self._count(name, handled)
            for receiver in handled.receivers:
                onward.setdefault(receiver, []).append(handled.passage)
        self._spare(server)
        return onward

    def settle(self, name: str, at_end: bool = False) -> None:
        """A server joins the documents that it has taken since; at the end all windows close."""
        found = self.servers[name].settle(at_end)
        self._report.deliveries += found if name in self._told else []

    def _count(self, name: str, handled: Handled) -> None:
        passage, document = handled.passage, handled.passage.document
        for receiver in handled.receivers:
            flow = self._report.links[name, receiver]
            flow.documents += 1
            flow.bytes += len(bytes_of(document))
            flow.header_bytes += len(document.header or b"")
        if name not in self._told:
            return
        if handled.rejected is not None and len(self._report.rejected) < _KEPT:
            self._report.rejected.append(handled.rejected)
        seconds = perf_counter() - passage.entered if self._is_measured else passage.seconds
        self._report.latency.add(seconds, len(handled.subscriptions))
        self._report.deliveries += [Delivered(name, each, document.id) for each in handled.subscriptions]

    def _spare(self, server: Server) -> None:
        """Let the engine go that was used longest ago, if there are very many."""
        if not server.questions.is_resting:
            self._engines[server.name] = self._engines.pop(server.name, None)
            if len(self._engines) > _MOST_ENGINES:
                oldest = next(iter(self._engines))
                del self._engines[oldest]
                self.servers[oldest].questions.rest()

    def report(self) -> Report:
        """What has happened so far."""
        report, entrance = self._report, self.entrance
        report.servers |= {name: server.traffic for name, server in self.servers.items()}
        report.producing, report.lost = entrance.traffic, entrance.lost
        report.documents = sum(entrance.entered.values())
        routes = self.routing.routes
        report.flooded = sum(number * routes[source].links for source, number in entrance.entered.items())
        report.entries = self.routing.entries
        report.seconds = perf_counter() - self._started
        return report
