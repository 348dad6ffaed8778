"""What the experiment on stream views measured in, its figures by their keys out."""

from __future__ import annotations

from bench.report import Figure
from bench.stream_views.results import SUFFIX, Results, drawn_speedup, experiment_size, usual_draws
from bench.stream_views.routing import Routed
from bench.stream_views.selection import TWO_THIRDS


def figures(results: Results) -> dict[str, Figure]:
    found: dict[str, Figure] = {}
    for parser, suffix in SUFFIX.items():
        parse = results.parse_us[parser]
        found[f"us_without_header{suffix}"] = _digits(parse)
        found[f"speedup_full_header{suffix}"] = _digits(parse / results.points[-1].us(parse))
        found[f"speedup_15_of_22{suffix}"] = _digits(parse / results.points[TWO_THIRDS].us(parse))
        found[f"speedup_15_of_22_ours{suffix}"] = _digits(parse / results.ours.us(parse))
        found[f"speedup_15_of_22_zipf_1{suffix}"] = _digits(parse / results.harder[0].us(parse))
        found[f"speedup_15_of_22_ours_zipf_1{suffix}"] = _digits(parse / results.harder[1].us(parse))
        found[f"pays_from_size{suffix}"] = _pays_from(results, parse)
    contest = results.contest
    return (
        found
        | _probe_figures(results)
        | _network_figures(results.routed)
        | _broker_figures(results)
        | {
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
            "speedup_15_of_22_least_draw": _digits(drawn_speedup(results, usual_draws(results).most)),
            "speedup_15_of_22_mean_draw": _digits(drawn_speedup(results, usual_draws(results).mean)),
            "speedup_15_of_22_most_draw": _digits(drawn_speedup(results, usual_draws(results).least)),
            "break_even_hits": _digits(experiment_size(results).break_even),
            "break_even_hits_smallest": _digits(results.paid[0].break_even),
            "views_that_pay": len(results.views.ours),
            "document_bytes": round(results.document_bytes),
        }
    )


def _broker_figures(results: Results) -> dict[str, Figure]:
    brokers, point, parse = results.brokers, results.points[TWO_THIRDS], results.parse_us["expat"]
    return {
        "ours_over_greedy_15_of_22": _digits(point.us(parse) / results.ours.us(parse)),
        "broker_us_15_of_22": _digits(brokers.with_headers_us),
        "broker_us_reckoned_15_of_22": _digits(brokers.reckoned_us(point.look_up_us)),
        "broker_us_without_header": _digits(brokers.without_us),
        "broker_speedup_15_of_22": _digits(brokers.without_us / brokers.with_headers_us),
    }


def _network_figures(routed: Routed) -> dict[str, Figure]:
    return {
        "covering_saves": _digits(routed.covering_saves),
        "routing_entries": routed.entries,
        "routing_entries_without_covering": routed.entries_without,
        "network_hit_rate": _digits(routed.hit_rate),
        "network_views_that_pay": routed.views,
        "network_views_at_1_mbit": routed.by_bandwidth[-1][1],
        "network_header_bytes": round(routed.header_bytes),
    }


def _probe_figures(results: Results) -> dict[str, Figure]:
    probes = results.probes
    return {
        "header_cost_ratio": _digits(probes.cost.parsing.alone),
        "header_cost_ratio_batch": _digits(probes.cost.parsing.together),
        "header_cost_ratio_small": _digits(probes.cost.parsing.small),
        "header_cost_ratio_narrow": _digits(probes.cost.narrow.alone),
        "header_cost_ratio_narrow_batch": _digits(probes.cost.narrow.together),
        "header_cost_ratio_narrow_small": _digits(probes.cost.narrow.small),
        "header_cost_ratio_vs_expat": _digits(probes.cost.header_us / results.parse_us["expat"]),
        "small_header_us": _digits(probes.cost.small_us),
        "idle_views": probes.idle.number,
        "us_idle_views": _digits(probes.idle.us),
        "header_bytes_idle_views": _digits(probes.idle.bytes),
        "kinds": probes.kinds.number,
        "us_kinds": _digits(probes.kinds.us),
        "us_one_kind": _digits(probes.kinds.one_us),
        "header_us_kinds": _digits(probes.kinds.header_us),
        "header_us_one_kind": _digits(probes.kinds.one_header_us),
        "kinds_parsed_share": _digits(probes.kinds.parsed_share),
        "hot_queries": probes.hot.number,
        "us_hot_first": _digits(probes.hot.first_us),
        "us_hot_last": _digits(probes.hot.last_us),
        "us_hot_begun": _digits(probes.hot.begun_us),
        "us_hot_seen": _digits(probes.hot.seen_us),
        "us_hot_parsed": _digits(probes.hot.parsed_us),
        "churn_subscribe_ms": _digits(results.churn.subscribe_ms),
        "churn_unsubscribe_ms": _digits(results.churn.unsubscribe_ms),
        "churn_document_ms": _digits(results.churn.document_ms),
        "churn_undisturbed_ms": _digits(results.churn.undisturbed_ms),
        "miss_us": _digits(probes.miss_us),
        "foreign_header_us": _digits(probes.foreign_us),
        "us_10_queries": _digits(probes.few_us),
        "us_many_queries": _digits(probes.many_us),
        "many_queries": probes.many,
        "us_many_queries_parsed": _digits(probes.many_parsed_us),
        "several_parsed_share": _digits(probes.several_share),
        "change_us": _digits(probes.change_us),
    }


def _pays_from(results: Results, parse_us: float) -> int | None:
    """The least header size that makes a document cheaper than parsing it alone."""
    return next((point.size for point in results.points[1:] if point.us(parse_us) < parse_us), None)


def _digits(value: float) -> float:
    return float(f"{value:.4g}")
