"""The brokering experiment runs, its ways deliver the same, and what it found has all its figures."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from bench.brokering.experiment import Effort, measure
from bench.brokering.points import Point, Trial, check_delivered, measure_points
from bench.brokering.report import KEYS
from bench.brokering.saxon import check_messages
from bench.brokering.ways import Delivered
from bench.brokering.workload import Setting, dtd_of, make_distinct_plans, make_feed
from bench.contest import DisagreementError
from bench.page import markers
from bench.plot import save_plot
from bench.report import Report
from rich.progress import Progress

from weft.reference.pathsharing.optimize import canonical_paths

ROOT = Path(__file__).parents[3]
TINY = Effort(
    base=30,
    predicate_paths=(1, 2),
    return_paths=(1, 2),
    book=30,
    bib_sizes=(20, 40),
    plan_sizes=(30, 60),
    documents=40,
    seconds=0.0,
    saxon_queries=20,
    saxon_batches=1,
    construct_sizes=(20, 40),
    construct_batches=1,
    construct_alone=3,
    construct_saxon=2,
    delivering=60,
    standing=60,
    added=5,
    removed=20,
)
OF_THE_SIZES = {"sharing_gain_60", "growth_30_to_60", "us_per_group_60", "mqpt_ms_30", "speedup_vs_saxon_20"}
OF_EVERY_RUN = {"delivered_growth", "fwr_over_f", "opt_gain_fwr", "documents", "saxon_documents"}
BOOK = Setting("Book")


@pytest.fixture(scope="module")
def report() -> Report:
    return measure(TINY, Progress(disable=True))


@pytest.fixture(scope="module")
def points() -> list[Point]:
    trial = Trial(BOOK, (20, 40), (("F", "NoOpt"), ("FWR", "Opt(q+dtd)")))
    return measure_points(trial, make_feed(BOOK, 80, 40, 2), 60.0, lambda: None)


@pytest.mark.slow
def test_a_run_of_brokering_has_all_its_figures(report: Report) -> None:
    assert {*KEYS, *OF_THE_SIZES, *OF_EVERY_RUN} <= report.figures.keys()
    assert all(report.figures[key] is not None for key in OF_THE_SIZES | OF_EVERY_RUN)
    assert report.figures["sharing_gain_100k"] is None, "a size that was not measured is not known"
    assert json.loads(json.dumps(dict(report.figures))) == report.figures


@pytest.mark.slow
def test_a_run_of_brokering_has_the_tables_of_the_paper(report: Report) -> None:
    titles = [table.title.split(":")[0] for table in report.tables]
    for number in (7, 8, 9, 10, 11, 12):
        assert f"Figure {number}" in titles
    for number in (2, 3, 4, 5):
        assert f"Table {number}" in titles
    assert all(len(row) == len(table.columns) for table in report.tables for row in table.rows)


@pytest.mark.slow
def test_the_plot_has_a_panel_for_each_figure(report: Report, tmp_path: Path) -> None:
    save_plot(report.panels, tmp_path / "brokering.svg")
    assert len(report.panels) == 6
    assert (tmp_path / "brokering.svg").read_text(encoding="utf-8").count("Opt(q+dtd)") >= 2


@pytest.mark.slow
def test_all_ways_deliver_the_same_groups(points: list[Point]) -> None:
    for point in points:
        assert point.shared.per_document(lambda some: some.groups) > 0
        assert point.shared.documents == 80
        for cell in point.ways.values():
            assert cell.documents == 40
            assert all(point.shared.delivered[number] == found for number, found in cell.delivered.items())


def test_an_engine_that_grows_sees_no_document_twice(points: list[Point]) -> None:
    seen = [set(point.ways["F", "NoOpt"].delivered) for point in points]
    assert seen == [{0, 2}, {1, 3}]


def test_ways_that_differ_end_the_run(points: list[Point]) -> None:
    shared = points[0].shared
    other = replace(shared, delivered={0: Delivered(1, 1)})
    with pytest.raises(DisagreementError, match=r"PathSharing-F .* batch 0: Delivered\(groups=1, messages=1\)"):
        check_delivered("PathSharing-F NoOpt", other, shared)


def test_messages_are_compared_in_canonical_form() -> None:
    check_messages({0: "<result><item a='1'/></result>"}, ['<result><item a="1"></item></result>', "<result/>"])
    with pytest.raises(DisagreementError, match="query 0: Weft makes '<result><item/></result>'"):
        check_messages({0: "<result><item/></result>"}, ["<result/>"])
    with pytest.raises(DisagreementError, match="query 0: Weft makes nothing"):
        check_messages({}, ["<result><item/></result>"])


def test_distinct_plans_stay_distinct_with_canonical_paths() -> None:
    plans, queries = make_distinct_plans(BOOK, (50, 300))
    assert len({canonical_paths(plan, dtd_of(BOOK)) for plan in plans}) == len(plans) == 300
    assert 50 <= queries[0] < 300 < queries[1]


def test_the_page_of_the_results_has_its_markers() -> None:
    text = (ROOT / "docs" / "results-brokering.md").read_text(encoding="utf-8")
    assert all(marker in text for marker in markers("brokering"))
