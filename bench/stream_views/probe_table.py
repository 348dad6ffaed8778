"""The probes of the experiment on stream views in, a table of what they found out."""

from __future__ import annotations

from bench.report import Table
from bench.stream_views.probes import Probes
from bench.stream_views.routing import Churn, Routed


def probe_table(probes: Probes, routed: Routed, churn: Churn) -> Table:
    """All probes, with what they found."""
    return Table("Workloads that would hurt", ("probe", "found"), (*_at_one(probes), *_in_a_network(routed, churn)))


def _at_one(probes: Probes) -> tuple[tuple[str, str], ...]:
    """Those of one producer and one server."""
    cost = probes.cost
    return (
        ("scan and header over a scan into a node table, one document at a time", f"{cost.parsing.alone:.2f}"),
        ("  documents of half a megabyte together", f"{cost.parsing.together:.2f}"),
        ("  the same of documents of 4 KB", f"{cost.parsing.small:.2f}"),
        ("scan and header over a narrow scan, one document at a time", f"{cost.narrow.alone:.2f}"),
        ("  documents of half a megabyte together", f"{cost.narrow.together:.2f}"),
        ("  the same of documents of 4 KB", f"{cost.narrow.small:.2f}"),
        ("a header that does not tell enough, before parsing, µs", f"{probes.miss_us:.1f}"),
        ("a header of another document, µs", f"{probes.foreign_us:.1f}"),
        ("10 queries at a server, µs", f"{probes.few_us:.1f}"),
        (f"{probes.many:,} distinct queries at a server, µs", f"{probes.many_us:.1f}"),
        ("  the same, parsed, µs", f"{probes.many_parsed_us:,.0f}"),
        ("documents parsed where a view has several nodes", f"{probes.several_share:.0%}"),
        ("add and remove one query among them, µs", f"{probes.change_us:.0f}"),
        (f"a header with {probes.idle.number:,} more views that nobody asks for, µs", f"{probes.idle.us:.1f}"),
        ("  its bytes", f"{probes.idle.bytes:,.0f}"),
        (
            f"{probes.kinds.number} configurations, each for a root, at a server with queries for all, µs",
            f"{probes.kinds.us:.1f}",
        ),
        ("  documents parsed", f"{probes.kinds.parsed_share:.0%}"),
        ("  one configuration for all of them, µs", f"{probes.kinds.one_us:.1f}"),
        (
            "  the header alone, µs, of one among these configurations, and of the one for all",
            f"{probes.kinds.header_us:.1f}, {probes.kinds.one_header_us:.1f}",
        ),
        (
            f"{probes.hot.number:,} queries that share a test which every document passes, written first, or last, µs",
            f"{probes.hot.first_us:.1f}, {probes.hot.last_us:.1f}",
        ),
        (
            "  where its constant is another one in each query: the first document, and those after 50, µs",
            f"{probes.hot.begun_us:,.0f}, {probes.hot.seen_us:.1f}",
        ),
        ("  the first of these, parsed in batches, µs", f"{probes.hot.parsed_us:.1f}"),
    )


def _in_a_network(routed: Routed, churn: Churn) -> tuple[tuple[str, str], ...]:
    """Those of a tree of 100 servers."""
    return (
        (
            f"tree with {churn.queries:,} subscriptions: subscribe, unsubscribe at its edge, ms",
            f"{churn.subscribe_ms:.1f}, {churn.unsubscribe_ms:.1f}",
        ),
        (
            "  a document without headers behind each change, and without changes, ms",
            f"{churn.document_ms:.1f}, {churn.undisturbed_ms:.1f}",
        ),
        ("tree of 100 servers: documents on links, of those of flooding", f"{routed.covering_saves:.1%}"),
        ("  queries in routing tables", f"{routed.entries:,} of {routed.entries_without:,}"),
        (
            f"  documents at servers that headers of {routed.views} views answer",
            f"{routed.hit_rate:.1%}",
        ),
        (
            "  bytes of a header, and of a document",
            f"{routed.header_bytes:,.0f}, {routed.document_bytes:,.0f}",
        ),
    )
