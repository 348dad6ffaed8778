"""What the experiment on stream views measured, as it is measured."""

from __future__ import annotations

from dataclasses import dataclass

from bench.stream_views.brokers import Brokers
from bench.stream_views.draws import Draws
from bench.stream_views.paying import Paid
from bench.stream_views.probes import Probes
from bench.stream_views.routing import Churn, Routed
from bench.stream_views.selection import TWO_THIRDS, Contest, Views
from bench.stream_views.workload import EXPONENT

#: Parsers, and how the figures beside each end.
SUFFIX = {"expat": "", "lxml": "_vs_lxml", "weft_scan": "_vs_weft_scan"}


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
    churn: Churn
    draws: list[Draws]
    paid: list[Paid]
    views: Views
    brokers: Brokers
    document_bytes: float
    servers: int


def usual_draws(results: Results) -> Draws:
    """The draws by the law of the experiment."""
    return next(each for each in results.draws if each.exponent == EXPONENT)


def drawn_speedup(results: Results, misses: float) -> float:
    """How many times as fast 15 views are with so many misses, beside expat."""
    parse = results.parse_us["expat"]
    return parse / (results.points[TWO_THIRDS].look_up_us + misses * parse)


def experiment_size(results: Results) -> Paid:
    return min(results.paid, key=lambda each: abs(each.bytes - results.document_bytes))
