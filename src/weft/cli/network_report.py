"""The report of a network in, tables for people out."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from typing import Any

from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table
from rich.text import Text

from weft.network.passage import Delivered
from weft.network.report import Report
from weft.network.routing import Routing
from weft.network.topology import Topology

_MOST = 20  # servers or links that are told


def tell_report(report: Report, console: Console) -> None:
    """What happened in a network: all together, then the busiest servers."""
    console.print(_summary(report))
    console.print(_servers(report))


def tell_topology(topology: Topology, console: Console) -> None:
    """What a network is, and how many queries are wanted behind each link."""
    routing = Routing(topology)
    table = Table(title=Text(f"network {topology.name}"))
    for name in ("server", "subscriptions", "views", "documents go on to"):
        table.add_column(name, overflow="fold")
    for server in topology.servers[:_MOST]:
        views = ", ".join(configuration.tag for configuration in server.configurations)
        onward = ", ".join(_onward(routing, server.name))
        table.add_row(Text(server.name), f"{len(server.subscriptions):,}", Text(views or "-"), Text(onward or "-"))
    console.print(table)
    _tell_rest(console, len(topology.servers), "servers")
    for source in topology.sources:
        of = f", documents of stream {source.stream}" if source.stream is not None else ""
        console.print(f"source {source.name}: enters at {source.server}{of}", highlight=False, markup=False)
    for configuration in topology.configurations:
        text = f"headers {configuration.tag}: {', '.join(view.text for view in configuration.views)}"
        console.print(text, highlight=False, markup=False)
    kept, without = routing.entries
    console.print(f"routing tables: {kept:,} queries; {without:,} without covering", highlight=False)


def print_deliveries(deliveries: Iterable[Delivered]) -> None:
    """What was delivered, as JSON Lines."""
    for each in deliveries:
        line: dict[str, Any] = {"server": each.server, "subscription": each.subscription, "document": each.document}
        if each.documents:
            line["documents"] = each.documents
        sys.stdout.write(json.dumps(line, ensure_ascii=False) + "\n")


def _onward(routing: Routing, server: str) -> list[str]:
    """To whom documents go on, with the number of queries that decide it, all sources together."""
    wanted: dict[str, int] = {}
    for source, routes in routing.routes.items():
        for receiver in routes.receivers.get(server, ()):
            wanted[receiver] = wanted.get(receiver, 0) | routing.wanted(source, receiver)
    return [f"{receiver} ({queries.bit_count()})" for receiver, queries in wanted.items()]


def _summary(report: Report) -> Table:
    found, (with_headers, without) = report.total, report.wire_bytes
    table = Table(title=Text(f"network {report.network}"), show_header=False)
    table.add_row("documents", f"{report.documents:,}")
    if report.lost:
        table.add_row("of no source", f"{report.lost:,}")
    table.add_row("rejected", f"{found.rejected:,}")
    table.add_row("delivered", f"{found.delivered:,}")
    table.add_row("answered by headers", _share(found.hit_rate))
    for reason, number in found.misses.most_common():
        table.add_row(Text(f"  parsed: {reason}"), f"{number:,}")
    table.add_row("documents on links", f"{report.forwarded:,} of {report.flooded:,} with flooding")
    if found.duplicates:
        table.add_row("came again", f"{found.duplicates:,}")
    table.add_row("bytes on links", f"{with_headers:,}, {with_headers - without:,} of them headers")
    if report.entries is not None:
        table.add_row("queries in routing tables", f"{report.entries[0]:,} of {report.entries[1]:,} without covering")
    table.add_row("parsing", _seconds(found.parse_seconds))
    table.add_row("looking up", _seconds(found.look_up_seconds))
    table.add_row("parsing saved", _seconds(report.parse_seconds_saved))
    table.add_row("headers on links", f"{_seconds(report.header_seconds)} at {report.bandwidth / 1e6:,g} MB/s")
    latency = report.latency
    table.add_row("latency: mean", _seconds(latency.mean))
    table.add_row("latency: median, 95%", f"{_seconds(latency.quantile(0.5))}, {_seconds(latency.quantile(0.95))}")
    return table


def _servers(report: Report) -> Table:
    names = ("server", "documents", "by header", "delivered", "sent on", "bytes", "parsing", "look-ups")
    table = Table(*names, box=SIMPLE, padding=(0, 1, 0, 0))
    busiest = sorted(report.servers.items(), key=lambda entry: -entry[1].documents)
    for name, traffic in busiest[:_MOST]:
        table.add_row(
            Text(name),
            f"{traffic.documents:,}",
            _share(traffic.hit_rate),
            f"{traffic.delivered:,}",
            f"{traffic.forwarded:,}",
            f"{traffic.bytes_out + traffic.header_bytes_out:,}",
            _seconds(traffic.parse_seconds),
            _seconds(traffic.look_up_seconds),
        )
    if len(busiest) > _MOST:
        table.caption = f"the busiest of {len(busiest):,}"
    return table


def _tell_rest(console: Console, number: int, what: str) -> None:
    if number > _MOST:
        console.print(f"… and {number - _MOST:,} more {what}", highlight=False)


def _share(share: float | None) -> str:
    return "-" if share is None else f"{share:.1%}"


def _seconds(seconds: float | None) -> str:
    if seconds is None:
        return "not known"
    return f"{seconds:.2f} s" if abs(seconds) >= 1 else f"{seconds * 1e3:.2f} ms"
