"""What a network has counted in, a report out: hit rate, bytes on the wire, parse time saved, latency."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from weft.errors import DocumentError
from weft.headers.selection.problem import BANDWIDTH
from weft.network.passage import Delivered
from weft.network.topology import Topology
from weft.network.traffic import Latency, LinkTraffic, ServerTraffic, total


@dataclass(slots=True)
class Report:
    """What happened in a network.

    `flooded` is how many documents flooding would have sent over links, and `forwarded` how many went; `entries` are
    the queries in all routing tables, and those that there would be without covering. What is not known is None.
    """

    network: str
    servers: dict[str, ServerTraffic]
    links: dict[tuple[str, str], LinkTraffic]
    documents: int = 0
    lost: int = 0  # of no source
    flooded: int = 0
    entries: tuple[int, int] | None = None
    producing: ServerTraffic = field(default_factory=ServerTraffic)  # of headers, at the sources
    latency: Latency = field(default_factory=Latency)
    seconds: float | None = None  # of the whole run
    deliveries: list[Delivered] = field(default_factory=list)
    rejected: list[DocumentError] = field(default_factory=list)  # where they enter: they go no further
    bandwidth: float = BANDWIDTH  # of links, in bytes a second

    @classmethod
    def of(cls, topology: Topology) -> Self:
        """An empty report."""
        servers = {server.name: ServerTraffic() for server in topology.servers}
        links = {link: LinkTraffic() for link in topology.links}
        return cls(topology.name, servers, links, bandwidth=topology.bandwidth)

    @property
    def total(self) -> ServerTraffic:
        """All servers together."""
        return total(self.servers.values())

    @property
    def forwarded(self) -> int:
        """How many documents went over links."""
        return sum(link.documents for link in self.links.values())

    @property
    def covering_saves(self) -> float | None:
        """Documents forwarded over those that flooding would forward; None where there is nothing to forward."""
        return self.forwarded / self.flooded if self.flooded else None

    @property
    def wire_bytes(self) -> tuple[int, int]:
        """Bytes on all links, with headers and without."""
        documents = sum(link.bytes for link in self.links.values())
        return documents + sum(link.header_bytes for link in self.links.values()), documents

    @property
    def header_seconds(self) -> float:
        """What headers took on all links, by their bandwidth."""
        return sum(link.header_bytes for link in self.links.values()) / self.bandwidth

    @property
    def parse_rate(self) -> float | None:
        """Seconds a byte takes to parse, as far as this run shows; where no server parsed, as the sources did."""
        found = self.total
        if found.parsed_bytes:
            return found.parse_seconds / found.parsed_bytes
        made = self.producing
        return made.attach_seconds / made.parsed_bytes if made.parsed_bytes else None

    @property
    def parse_seconds_saved(self) -> float | None:
        """What parsing the hits would have taken, without what looking up took; None if nothing was ever parsed."""
        found, rate = self.total, self.parse_rate
        return None if rate is None else rate * found.hit_bytes - found.look_up_seconds

    def join(self, other: Report) -> None:
        """Count what another report of the same network has counted, of other servers or documents."""
        for name, traffic in other.servers.items():
            self.servers[name].join(traffic)
        for link, flow in other.links.items():
            self.links[link].join(flow)
        self.latency.join(other.latency)
        self.deliveries += other.deliveries
        self.rejected += other.rejected

    def as_json(self) -> dict[str, Any]:
        """The report for programs: first what is worked out, then what was counted."""
        found = self.total
        with_headers, without = self.wire_bytes
        return {
            "network": self.network,
            "documents": self.documents,
            "lost": self.lost,
            "rejected": found.rejected,
            "delivered": found.delivered,
            "hit_rate": found.hit_rate,
            "forwarded": self.forwarded,
            "flooded": self.flooded,
            "covering_saves": self.covering_saves,
            "routing_entries": None if self.entries is None else list(self.entries),
            "wire_bytes": with_headers,
            "wire_bytes_without_headers": without,
            "header_seconds": self.header_seconds,
            "parse_seconds": found.parse_seconds,
            "look_up_seconds": found.look_up_seconds,
            "parse_seconds_saved": self.parse_seconds_saved,
            "latency": {
                "mean": self.latency.mean,
                "median": self.latency.quantile(0.5),
                "p95": self.latency.quantile(0.95),
                "longest": self.latency.longest if self.latency.counts else None,
            },
            "seconds": self.seconds,
            "producing": self.producing.as_json(),
            "servers": {name: traffic.as_json() for name, traffic in self.servers.items()},
            "links": [
                {"from": sender, "to": receiver, **_link(flow)} for (sender, receiver), flow in self.links.items()
            ],
        }


def _link(flow: LinkTraffic) -> Mapping[str, int]:
    return {"documents": flow.documents, "bytes": flow.bytes, "header_bytes": flow.header_bytes}
