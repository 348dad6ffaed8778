"""A topology and a report in, a picture of it out as SVG: servers coloured by hits, links as wide as their traffic."""

from __future__ import annotations

from collections.abc import Iterator
from math import log1p

from weft.documents.escaping import escape_text
from weft.errors import ConfigurationError
from weft.network.report import Report
from weft.network.routes import Routes, find_routes
from weft.network.topology import Topology

_COLUMN, _ROW, _BOX, _HEIGHT, _MARGIN = 190, 46, 120, 28, 24
_WIDEST = 9.0
_MOST_DRAWN = 2_000
_NO_TRAFFIC, _UNKNOWN = "#c8ced6", "#eef4fb"
Place = tuple[float, float]


def draw(topology: Topology, report: Report | None = None) -> str:
    """The network, from its sources on the left to the servers farthest from them.

    With a report a link is the wider and darker the more documents went over it, and a server is green where headers
    answered and red where it had to parse.
    """
    if len(topology.servers) > _MOST_DRAWN:
        found = f"{len(topology.servers)}"
        raise ConfigurationError(f"drawing: expected at most {_MOST_DRAWN} servers, found {found}")
    places = _places(topology)
    busiest = max((flow.documents for flow in report.links.values()), default=0) if report is not None else 0
    width = max(x for x, _ in places.values()) + _BOX + _COLUMN // 4 + 2 * _MARGIN
    height = max(y for _, y in places.values()) + _HEIGHT + 2 * _MARGIN
    links = sorted(_links(topology, report, places, busiest))  # the busy ones above those without traffic
    body = [
        *(drawn for _, drawn, _ in links),
        *_sources(topology, places),
        *_servers(topology, report, places),
        *(number for _, _, number in links),
    ]
    return _SVG.format(left=-_MARGIN - _COLUMN // 2, width=width + _COLUMN // 2, height=height, body="\n".join(body))


def _places(topology: Topology) -> dict[str, Place]:
    """Where each server stands: a column for each distance from its source, those behind a server beside it."""
    places: dict[str, Place] = {}
    below = 0.0
    for routes in find_routes(topology).values():
        depth = _depths(routes)
        new = [server for server in routes.order if server not in places]
        rows = _rows(routes, set(new), below)
        places |= {server: (depth[server] * float(_COLUMN), rows[server] * _ROW) for server in new}
        below = max(below, *(rows[server] + 1 for server in new)) if new else below
    for server in topology.servers:
        if server.name not in places:
            places[server.name] = (0.0, below * _ROW)
            below += 1
    return places


def _depths(routes: Routes) -> dict[str, int]:
    depth: dict[str, int] = {}
    for server in routes.order:
        senders = routes.senders[server]
        depth[server] = 1 + depth[senders[0]] if senders else 0
    return depth


def _rows(routes: Routes, new: set[str], first: float) -> dict[str, float]:
    """Ends stand one below the other, each other server in the middle of those that it is the first to reach."""
    first_behind: dict[str, list[str]] = {server: [] for server in routes.order}
    for server in routes.order[1:]:
        if server in new:
            first_behind[routes.senders[server][0]].append(server)
    order: list[str] = []
    waiting = [routes.order[0]]
    while waiting:  # without recursion: a chain may be long
        server = waiting.pop()
        order.append(server)
        waiting += reversed(first_behind[server])
    rows: dict[str, float] = {}
    ends = [server for server in order if not first_behind[server]]
    rows.update({server: first + at for at, server in enumerate(ends)})
    for server in reversed(order):
        behind = first_behind[server]
        if behind:
            rows[server] = (rows[behind[0]] + rows[behind[-1]]) / 2
    return rows


def _links(
    topology: Topology, report: Report | None, places: dict[str, Place], busiest: int
) -> Iterator[tuple[int, str, str]]:
    """For each link its traffic, the line, and the number beside it."""
    known = set(topology.links)
    for sender, receiver in topology.links:
        flow = report.links.get((sender, receiver)) if report is not None else None
        documents = flow.documents if flow is not None else 0
        if not documents and (receiver, sender) in known and sender > receiver:
            continue  # the other direction is drawn
        share = log1p(documents) / log1p(busiest) if busiest else 0.0
        told = f"{sender} → {receiver}" if flow is None else f"{sender} → {receiver}: {documents:,} documents"
        if flow is not None and documents:
            told += f", {flow.bytes + flow.header_bytes:,} bytes, {flow.header_bytes:,} of them headers"
        path, middle = _curve(places[sender], places[receiver])
        colour = _blue(share) if documents else _NO_TRAFFIC
        line = f'<path d="{path}" stroke="{colour}" stroke-width="{1 + share * _WIDEST:.1f}">'
        number = f'<text class="flow" x="{middle[0]:.0f}" y="{middle[1]:.0f}">{documents:,}</text>' if documents else ""
        yield documents, f"{line}<title>{escape_text(told)}</title></path>", number


def _curve(start: Place, end: Place) -> tuple[str, Place]:
    """The way from one server to another, and its middle; within a column it goes round those between them."""
    (x1, y1), (x2, y2) = (start[0], start[1] + _HEIGHT / 2), (end[0], end[1] + _HEIGHT / 2)
    if x1 == x2:
        x1, x2, bend = x1 + _BOX, x2 + _BOX, x1 + _BOX + _COLUMN / 4
        middle = (x1 + _COLUMN * 3 / 16, (y1 + y2) / 2 + 4)
    else:
        x1, x2 = (x1 + _BOX, x2) if x1 < x2 else (x1, x2 + _BOX)
        bend, middle = (x1 + x2) / 2, ((x1 + x2) / 2, (y1 + y2) / 2 + 4)
    return f"M{x1:.0f},{y1:.0f} C{bend:.0f},{y1:.0f} {bend:.0f},{y2:.0f} {x2:.0f},{y2:.0f}", middle


def _sources(topology: Topology, places: dict[str, Place]) -> Iterator[str]:
    for source in topology.sources:
        x, y = places[source.server]
        yield f'<path d="M{x - 30:.0f},{y + _HEIGHT / 2:.0f} H{x:.0f}" stroke="#333" marker-end="url(#to)"/>'
        yield f'<text class="source" x="{x - 34:.0f}" y="{y + _HEIGHT / 2 + 4:.0f}">{escape_text(source.name)}</text>'


def _servers(topology: Topology, report: Report | None, places: dict[str, Place]) -> Iterator[str]:
    for server in topology.servers:
        x, y = places[server.name]
        traffic = report.servers.get(server.name) if report is not None else None
        told = f"{server.name}: {len(server.subscriptions)} subscriptions"
        colour = _UNKNOWN
        if traffic is not None:
            told += f", {traffic.documents:,} documents, {traffic.delivered:,} delivered"
            if traffic.hit_rate is not None:
                told += f", {traffic.hit_rate:.0%} hits"
                colour = f"hsl({120 * traffic.hit_rate:.0f} 60% 85%)"
        name = server.name if len(server.name) <= 16 else server.name[:15] + "…"
        yield (
            f'<rect x="{x:.0f}" y="{y:.0f}" width="{_BOX}" height="{_HEIGHT}" rx="4" fill="{colour}">'
            f"<title>{escape_text(told)}</title></rect>"
        )
        yield f'<text x="{x + _BOX / 2:.0f}" y="{y + 18:.0f}">{escape_text(name)}</text>'


def _blue(share: float) -> str:
    return f"hsl(215 70% {80 - 45 * share:.0f}%)"


_SVG = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="{left} -24 {width:.0f} {height:.0f}" width="{width:.0f}">
<style>
path {{ fill: none }}
rect {{ stroke: #36c }}
text {{ font: 12px sans-serif; text-anchor: middle }}
.source {{ text-anchor: end; font-weight: bold }}
.flow {{ font-size: 10px; fill: #123; paint-order: stroke; stroke: #fff; stroke-width: 3px }}
</style>
<defs>
<marker id="to" markerWidth="6" markerHeight="6" refX="5" refY="3" orient="auto"><path d="M0,0 L6,3 L0,6"/></marker>
</defs>
{body}
</svg>
"""
