"""The experiment on materialized views in small: all figures are there, and the ways to choose are in their order."""

from __future__ import annotations

from random import Random

import pytest
from bench.materialized_views.cache import replay_lru
from bench.materialized_views.experiment import Effort, measure
from bench.report import Report
from rich.progress import Progress

from weft.views.workload import make_query, workload_of

SMALL = Effort(
    source_bytes=10_000,
    queries=6,
    shares=(0.0, 0.5, 1.0),
    instances=1,
    instance_bytes=10_000,
    asked=5,
    file_bytes=(50_000, 100_000),
    stored_views=(2, 5),
    many_sources=(1, 3),
    large_bytes=50_000,
    refreshes=2,
    answered_bytes=50_000,
    kinds=("alike",),
)


@pytest.fixture(scope="module")
def report() -> Report:
    with Progress(disable=True) as progress:
        return measure(SMALL, progress)


@pytest.mark.slow
def test_a_run_has_all_its_figures(report: Report) -> None:
    wanted = {
        "workload_speedup_full_budget",
        "workload_speedup_full_budget_cold",
        "greedy_vs_optimum",
        "greedy_vs_optimum_worst",
        "ours_vs_optimum",
        "transform_gain_half_budget",
        "ours_vs_lru_cache_half_budget",
        "ours_vs_optimum_run_half_budget",
        "random_vs_greedy_run_half_budget",
        "random_loss",
        "containment_us",
        "find_rewriting_us",
        "refresh_cost_1pct",
        "answer_from_view_cold_ms",
        "many_views_slowdown",
        "many_sources_ms_each",
        "large_answer_ms_per_mb",
        "small_refresh_ms",
        "small_refreshes_slowdown",
        "answer_from_view_ms",
        "saxon_ms",
    }

    assert wanted <= set(report.figures)
    assert all(isinstance(report.figures[key], int | float) for key in wanted - {"saxon_ms"})


@pytest.mark.slow
def test_no_choice_saves_more_than_the_optimum_and_ours_no_less_than_greedy(report: Report) -> None:
    greedy, ours = (float(report.figures[f"{name}_vs_optimum"] or 0) for name in ("greedy", "ours"))

    assert greedy <= ours + 1e-3 <= 1 + 2e-3


@pytest.mark.slow
def test_views_of_everything_save_most_of_the_time(report: Report) -> None:
    assert float(report.figures["workload_speedup_full_budget"] or 0) > 1


def test_a_cache_without_room_waits_for_all_and_one_with_room_for_nothing() -> None:
    workload = workload_of([make_query("/s/a", name="a"), make_query("/s/b", 3.0, name="b")])
    miss, hit, sizes = {"a": 1.0, "b": 2.0}, {"a": 0.0, "b": 0.0}, {"a": 10, "b": 20}

    waits = [replay_lru(workload, miss, hit, sizes, limit, Random(1)) for limit in (5, 20, 30)]

    assert waits[0] == pytest.approx(1.75, abs=0.02)
    assert waits[0] > waits[1] > waits[2] == 0
