"""What the experiment on stream views measured in; its figures, tables, notes and panels out."""

from __future__ import annotations

from dataclasses import dataclass

from bench.report import Curve, Figure, Panel, Report, Table
from bench.stream_views.probes import Probes
from bench.stream_views.routing import Routed
from bench.stream_views.selection import TWO_THIRDS, Contest, Views

_PAPER = ((0, 37_990.0), (15, 4_610.0), (22, 372.0))  # microseconds by header size, on a machine of 2001
_SHOWN = (0, 5, 10, 13, 15, 18, 20, 21, 22)
_SUFFIX = {"expat": "", "lxml": "_vs_lxml", "weft_scan": "_vs_weft_scan"}


@dataclass(frozen=True, slots=True)
class Point:
    """One configuration: microseconds that look-ups take, the share of documents that must be parsed, header bytes."""

    size: int
    look_up_us: float
    misses: float
    header_bytes: float

    def us(self, parse_us: float) -> float:
        """Microseconds a document and server, with this parser at a miss."""
        return self.look_up_us + self.misses * parse_us


@dataclass(frozen=True, slots=True)
class Results:
    """All that was measured."""

    points: list[Point]
    ours: Point
    unbounded: Point
    harder: tuple[Point, Point]  # 15 views and ours, by Zipf's law with the exponent 1
    parse_us: dict[str, float]
    contest: Contest
    probes: Probes
    routed: Routed
    views: Views
    document_bytes: float
    servers: int


def make_report(results: Results) -> Report:
    """All figures under their keys; a table for figure 1, one for the selections, one for the probes."""
    tables = _curve_table(results), _selection_table(results), _probe_table(results)
    return Report(
        _figures(results),
        tables,
        _notes(results),
        (_panel(results), _speedup_panel(results)),
        {"stream_views_network.svg": results.routed.drawing},
    )


def _figures(results: Results) -> dict[str, Figure]:
    found: dict[str, Figure] = {}
    for parser, suffix in _SUFFIX.items():
        parse = results.parse_us[parser]
        found[f"us_without_header{suffix}"] = _digits(parse)
        found[f"speedup_full_header{suffix}"] = _digits(parse / results.points[-1].us(parse))
        found[f"speedup_15_of_22{suffix}"] = _digits(parse / results.points[TWO_THIRDS].us(parse))
        found[f"speedup_15_of_22_ours{suffix}"] = _digits(parse / results.ours.us(parse))
        found[f"speedup_15_of_22_zipf_1{suffix}"] = _digits(parse / results.harder[0].us(parse))
        found[f"speedup_15_of_22_ours_zipf_1{suffix}"] = _digits(parse / results.harder[1].us(parse))
        found[f"pays_from_size{suffix}"] = _pays_from(results, parse)
    contest, probes = results.contest, results.probes
    return found | {
        "us_full_header": _digits(results.points[-1].look_up_us),
        "misses_full_header": _digits(results.points[-1].misses),
        "misses_15_of_22": _digits(results.points[TWO_THIRDS].misses),
        "misses_15_of_22_ours": _digits(results.ours.misses),
        "header_bytes_15": _digits(results.points[TWO_THIRDS].header_bytes),
        "header_bytes_15_ours": _digits(results.ours.header_bytes),
        "header_bytes_22": _digits(results.points[-1].header_bytes),
        "greedy_vs_optimum": _digits(contest.greedy),
        "greedy_vs_optimum_worst": _digits(contest.greedy_worst),
        "ours_vs_optimum": _digits(contest.ours),
        "optimum_seconds": _digits(contest.optimum_seconds),
        "header_cost_ratio": _digits(probes.header_cost_ratio),
        "header_cost_ratio_vs_expat": _digits(probes.header_us / results.parse_us["expat"]),
        "miss_us": _digits(probes.miss_us),
        "foreign_header_us": _digits(probes.foreign_us),
        "us_10_queries": _digits(probes.few_us),
        "us_many_queries": _digits(probes.many_us),
        "many_queries": probes.many,
        "us_many_queries_parsed": _digits(probes.many_parsed_us),
        "several_parsed_share": _digits(probes.several_share),
        "change_us": _digits(probes.change_us),
        "document_bytes": round(results.document_bytes),
        "covering_saves": _digits(results.routed.covering_saves),
        "routing_entries": results.routed.entries,
        "routing_entries_without_covering": results.routed.entries_without,
        "network_hit_rate": _digits(results.routed.hit_rate),
        "network_header_bytes": round(results.routed.header_bytes),
    }


def _pays_from(results: Results, parse_us: float) -> int | None:
    """The least header size that makes a document cheaper than parsing it alone."""
    return next((point.size for point in results.points[1:] if point.us(parse_us) < parse_us), None)


def _curve_table(results: Results) -> Table:
    columns = "views", "header bytes", "misses", "look-ups µs", "expat µs", "lxml µs", "Weft µs", "speedup (expat)"
    rows = [_row(str(point.size), point, results) for point in results.points if point.size in _SHOWN]
    rows.append(_row(f"ours, {len(results.views.ours_same_bytes)} views", results.ours, results))
    rows.append(_row(f"ours, no bound: {len(results.views.ours)}", results.unbounded, results))
    rows.append(_row("15, Zipf's exponent 1", results.harder[0], results))
    rows.append(_row("ours, Zipf's exponent 1", results.harder[1], results))
    return Table("Time a document and server, by header size", columns, tuple(rows))


def _row(name: str, point: Point, results: Results) -> tuple[str, ...]:
    times = [point.us(results.parse_us[parser]) for parser in _SUFFIX]
    return (
        name,
        f"{point.header_bytes:.0f}" if point.size else "-",
        f"{point.misses:.1%}",
        f"{point.look_up_us:.1f}",
        *(f"{time:,.1f}" for time in times),
        f"{results.parse_us['expat'] / times[0]:,.1f}",
    )


def _selection_table(results: Results) -> Table:
    contest = results.contest
    rows = (
        ("Algorithm 1", f"{contest.greedy:.4f}", f"{contest.greedy_worst:.4f}"),
        ("ours", f"{contest.ours:.4f}", "-"),
        ("optimum (HiGHS)", "1", f"{contest.optimum_seconds:.2f} s each"),
    )
    title = f"Hits as a share of the optimum's: {contest.instances} instances of 10,000 servers, 12-30 expressions"
    return Table(title, ("selection", "mean", "worst"), rows)


def _probe_table(results: Results) -> Table:
    probes = results.probes
    rows = (
        ("scan and header over the scan alone", f"{probes.header_cost_ratio:.2f}"),
        ("a header that does not tell enough, before parsing, µs", f"{probes.miss_us:.1f}"),
        ("a header of another document, µs", f"{probes.foreign_us:.1f}"),
        ("10 queries at a server, µs", f"{probes.few_us:.1f}"),
        (f"{probes.many:,} distinct queries at a server, µs", f"{probes.many_us:.1f}"),
        ("  the same, parsed, µs", f"{probes.many_parsed_us:,.0f}"),
        ("documents parsed where a view has several nodes", f"{probes.several_share:.0%}"),
        ("add and remove one query among them, µs", f"{probes.change_us:.0f}"),
        ("tree of 100 servers: documents on links, of those of flooding", f"{results.routed.covering_saves:.1%}"),
        ("  queries in routing tables", f"{results.routed.entries:,} of {results.routed.entries_without:,}"),
        (
            f"  documents at servers that headers of {results.routed.views} views answer",
            f"{results.routed.hit_rate:.1%}",
        ),
        (
            "  bytes of a header, and of a document",
            f"{results.routed.header_bytes:,.0f}, {results.routed.document_bytes:,.0f}",
        ),
    )
    return Table("Workloads that would hurt", ("probe", "found"), rows)


def _notes(results: Results) -> tuple[str, ...]:
    lxml, weft = (results.points[-1].us(results.parse_us[each]) for each in ("lxml", "weft_scan"))
    return (
        f"{results.servers} of 10,000 servers are timed, with documents of {results.document_bytes / 1e3:.0f} KB; each "
        "checks the header and, unless it asks for what no view tells, the checksum of the document. Queries by Zipf's "
        "law with exponent 1.5, which leaves as many misses with 15 views as the paper has; it does not tell its own.",
        "The paper: 37.99 ms without a header, 4.61 with 15 of 22 views (8.3 times), 0.372 with all (102 times).",
        f"A faster parser lessens the gain: with all views {results.parse_us['lxml'] / lxml:.0f} times for lxml, "
        f"{results.parse_us['weft_scan'] / weft:.0f} times for Weft's scan.",
    )


def _panel(results: Results) -> Panel:
    curves = [
        Curve(parser, tuple((point.size, point.us(parse)) for point in results.points))
        for parser, parse in results.parse_us.items()
    ]
    curves.append(Curve("the paper, 2002", _PAPER))
    ticks = tuple(str(point.size) for point in results.points)
    return Panel("Figure 1: time a document and server", "views in the header", "µs", tuple(curves), ticks)


def _speedup_panel(results: Results) -> Panel:
    curves = [
        Curve(parser, tuple((point.size, parse / point.us(parse)) for point in results.points))
        for parser, parse in results.parse_us.items()
    ]
    curves.append(Curve("the paper, 2002", tuple((size, _PAPER[0][1] / us) for size, us in _PAPER)))
    ticks = tuple(str(point.size) for point in results.points)
    return Panel("Times as fast as without a header", "views in the header", "speedup", tuple(curves), ticks)


def _digits(value: float) -> float:
    return float(f"{value:.4g}")
