"""The experiment on stream views in small: all figures are there, and the ways to answer agree."""

from __future__ import annotations

from itertools import islice

import pytest
from bench.report import Report
from bench.stream_views.experiment import Effort, measure
from bench.stream_views.parsers import PARSERS, written
from bench.stream_views.workload import EXPRESSIONS, large_news, make_network
from rich.progress import Progress

from weft.documents import Document
from weft.headers import HeaderMatcher, attach, configure
from weft.languages import parse

SMALL = Effort(documents=3, servers=20, parsing=2, instances=2, queries=300, routed=4, draws=2, sizes=2, changes=2)
GOALS = ("speedup_full_header", "speedup_15_of_22", "speedup_15_of_22_ours")


pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def report() -> Report:
    with Progress(disable=True) as progress:
        return measure(SMALL, progress)


def test_a_run_has_all_its_figures(report: Report) -> None:
    wanted = {goal + suffix for goal in GOALS for suffix in ("", "_vs_lxml", "_vs_weft_scan")}
    wanted |= {"greedy_vs_optimum", "ours_vs_optimum", "header_bytes_22", "covering_saves"}
    wanted |= {f"header_cost_ratio{over}{given}" for over in ("", "_narrow") for given in ("", "_batch", "_small")}

    assert wanted <= set(report.figures)
    assert all(isinstance(report.figures[key], int | float) for key in wanted)


def test_all_views_leave_no_miss_and_fewer_leave_more(report: Report) -> None:
    assert report.figures["misses_full_header"] == 0
    assert 0 < float(report.figures["misses_15_of_22"] or 0) < 1


def test_our_selection_takes_no_more_bytes_and_misses_less(report: Report) -> None:
    figures = {key: float(value or 0) for key, value in report.figures.items() if not isinstance(value, str)}

    assert figures["header_bytes_15_ours"] <= figures["header_bytes_15"] + 3
    assert figures["misses_15_of_22_ours"] <= figures["misses_15_of_22"]
    assert figures["greedy_vs_optimum"] <= figures["ours_vs_optimum"] + 1e-9 <= 1 + 2e-9


def test_the_goals_of_the_experiment_come_first_each_with_its_figure(report: Report) -> None:
    goals = report.tables[0]

    assert goals.title == "Goals"
    assert [row[2] for row in goals.rows if row[0].startswith("times as fast with all 22 views as by expat")] == [
        "≥ 300"
    ]
    assert {row[3] for row in goals.rows} <= {"met", "not met", "–"}


def test_brokers_that_fall_back_are_timed_beside_what_is_reckoned(report: Report) -> None:
    figures = {key: float(value or 0) for key, value in report.figures.items() if not isinstance(value, str)}

    assert 0 < figures["broker_us_15_of_22"] < figures["broker_us_without_header"]
    assert figures["broker_us_reckoned_15_of_22"] > 0
    assert any("Brokers, 15 of 22 views" in table.title for table in report.tables)


def test_the_slower_links_are_the_fewer_views_pay(report: Report) -> None:
    (table,) = [table for table in report.tables if table.title.startswith("Views that pay")]

    numbers = [int(row[2]) for row in table.rows]
    assert numbers == sorted(numbers, reverse=True)
    assert numbers[0] > numbers[-1]


def test_the_topology_is_drawn(report: Report) -> None:
    assert report.drawings["stream_views_network.svg"].startswith("<svg")


def test_headers_and_all_parsers_give_the_same_answers() -> None:
    documents = list(islice(large_news(3), 2))
    network = make_network(documents, 3)
    configuration = configure("bench", network.expressions)
    sent = attach([Document(data, str(at)) for at, data in enumerate(documents)], configuration)

    for queries in network.servers[:40]:
        matcher = HeaderMatcher(configuration)
        for number, query in enumerate(queries):
            matcher.add(number, parse(written(network.expressions, query)))
        for data, document in zip(documents, sent, strict=True):
            answers = [make(network.expressions, queries)(data) for make in PARSERS.values()]
            assert [matcher.answer(document)] * len(answers) == answers


def test_expressions_have_one_node_at_most() -> None:
    documents = list(islice(large_news(4), 3))

    network = make_network(documents, 4)

    assert len(set(network.expressions)) == EXPRESSIONS
    assert {len(queries) for queries in network.servers} == {1, 2, 3, 4, 5}
