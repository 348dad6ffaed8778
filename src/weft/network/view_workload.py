"""A topology and documents of its stream in, what its servers ask of them out: for that its views are chosen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from weft.documents.document import Document, Limits
from weft.headers.selection.workload import ServerQueries
from weft.network.routing import Routing
from weft.network.simulate import Simulation
from weft.network.topology import Topology


@dataclass(frozen=True, slots=True)
class ViewWorkload:
    """What servers ask, and how many links a document goes over, for each that reaches the server with the most."""

    servers: tuple[ServerQueries, ...]
    links: float


def view_workload(topology: Topology, documents: Sequence[Document], limits: Limits | None = None) -> ViewWorkload:
    """A server asks for its own subscriptions and, to know where documents go on, for those behind it.

    How many documents reach it, and how many go over links, is counted by sending these through the network.
    """
    routing = Routing(topology, limits)
    simulation = Simulation(replace(topology, configurations=()), limits=limits, routing=routing)
    simulation.publish(documents)
    report = simulation.end()
    servers = [
        ServerQueries(
            each.name,
            (
                *routing.plans[each.name].values(),
                *(query.selection for query in routing.queries(routing.asked(each.name)).values()),
            ),
            report.servers[each.name].documents,
        )
        for each in topology.servers
    ]
    most = max((server.documents for server in servers), default=0.0)
    return ViewWorkload(tuple(servers), report.forwarded / most if most else 0.0)
