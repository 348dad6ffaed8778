"""The joins experiment: its queries and documents are the paper's, its ways agree, and it tells what it found."""

import json
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from bench.contest import DisagreementError
from bench.joins.arena import Arena, Round, Standing, Terms, check_triples
from bench.joins.curves import Curves, CurvesEffort
from bench.joins.database import Database
from bench.joins.experiment import FULL, QUICK, Effort, measure
from bench.joins.feed import FeedEffort
from bench.joins.report import KEYS, Found, make_report
from bench.joins.spark_state import StreamState
from bench.joins.technical import Setting, TechnicalEffort, measure_point
from bench.joins.ways import Fast, Templates, queries_first
from bench.joins.workload import (
    CHANNELS,
    FEED,
    Queries,
    make_items,
    make_pair,
    make_queries,
    query_text,
    three_level,
    two_level,
)
from bench.plot import save_plot
from bench.report import Report
from rich.progress import Progress

from weft.documents import Document, read
from weft.languages.xscl import parse
from weft.plans.xscl import Window

TINY = Effort(
    TechnicalEffort(queries=(5, 10), leaves=(2, 3), most=(2,), zipf=(1.6,), pairs=1, sampled=2),
    FeedEffort(sizes=(1_000,), state=600, batches=1, sampled=4, memory_queries=20),
    CurvesEffort(distinct=(10, 20), hot=(100, 200), window=50, nodes=(2, 4)),
    spark_items=0,
)


@pytest.fixture(scope="module")
def report() -> Report:
    return measure(TINY, Progress(disable=True))


def standing(queries: int, fast: float, state: int = 50_000) -> Standing:
    seconds = {"read": 1e-5, "witness": 2e-5, "fast": fast, "none": 3e-3, "materialized": 8e-4, "cache": 9e-4}
    rounds = (Round(10, {way: 10 * each for way, each in (seconds | {"sequential": queries * 1e-3}).items()}, 50),)
    return Standing(queries, min(queries, 1_500), 5, 20, state, 1.0, rounds)


# -- workload


def test_a_query_joins_leaves_below_variables_for_all_nodes_above() -> None:
    text = query_text(three_level(), ((0, 5), (1, 2)))

    plan = parse(text)

    assert [variable.name for variable in plan.blocks[0].variables] == ["x0", "x_node1", "x1", "x2"]
    assert [variable.name for variable in plan.blocks[1].variables] == ["y0", "y_node1", "y2", "y_node2", "y1"]
    assert plan.joins[0].operator == "FOLLOWED BY"
    assert plan.joins[0].window == Window()
    assert len(plan.joins[0].predicates) == 2


@pytest.mark.slow
def test_queries_have_small_numbers_of_joins_more_often_and_equal_ones_share_a_plan() -> None:
    queries = make_queries(FEED, 20_000, 1)

    sizes = Counter(len(queries.plans[at].joins[0].predicates) for at in queries.order)

    assert [sizes[k] for k in range(1, 6)] == sorted(sizes.values(), reverse=True)
    assert 1_400 < len(queries.plans) <= 1_545, "as the paper says, thousands of queries are different and no more"
    assert sum(queries.copies()) == len(queries) == 20_000


@pytest.mark.slow
def test_a_larger_zipf_parameter_makes_simpler_queries_and_most_is_the_most() -> None:
    def mean(zipf: float) -> float:
        queries = make_queries(two_level(), 2_000, 1, zipf, most=3)
        return sum(len(queries.plans[at].joins[0].predicates) for at in queries.order) / len(queries)

    assert mean(0.0) == pytest.approx(2, abs=0.1)
    assert mean(1.6) < 1.7


def test_the_first_queries_are_those_of_the_whole() -> None:
    queries = make_queries(FEED, 500, 1)

    few = queries.first(20)

    assert [few.plans[at] for at in few.order] == [queries.plans[at] for at in queries.order[:20]]
    assert sum(few.copies()) == 20


def test_the_documents_of_a_pair_agree_and_pairs_do_not() -> None:
    schema = three_level()
    (first, second), (other, _) = make_pair(schema, 0), make_pair(schema, 1)

    tables = [read([document]) for document in (first, second, other)]

    assert len(tables[0].texts) == len(set(tables[0].texts)) == 16
    assert tables[0].texts == tables[1].texts
    assert not set(tables[0].texts) & set(tables[2].texts)
    assert first.nanoseconds is not None
    assert second.nanoseconds is not None
    assert first.nanoseconds < second.nanoseconds


def test_feed_items_have_five_fields_of_many_channels_and_some_are_posted_again() -> None:
    items = list(make_items(3_000, 1))

    texts = [read([item]).texts for item in items]

    assert all(len(fields) == 5 for fields in texts)
    assert len({fields[0] for fields in texts}) == 3_000
    assert 300 < len({fields[1] for fields in texts}) <= CHANNELS
    assert 2_700 < len({fields[2] for fields in texts}) < 2_950
    times = [item.nanoseconds for item in items]
    assert all(one < other for one, other in pairwise(time for time in times if time is not None))
    assert items == list(make_items(3_000, 1))


# -- ways


@pytest.mark.slow
def test_all_ways_find_the_same_on_the_stream() -> None:
    arena, items = Arena(make_queries(FEED, 300, 1), Terms(sampled=40)), list(make_items(400, 1))

    counts = [arena.check(items[:100]), arena.check(items[100:200])]
    arena.fill(items[200:300])
    arena.hold(items[300:350], with_sequential=False)
    arena.choose()
    found = arena.hold(items[350:])

    assert all(count > 0 for count in counts)
    assert found.matches > 0
    parts = {"views R_L", "views R_R", "views R_vj", "views join"}
    assert set(found.seconds) == {"read", "witness", "fast", "none", "materialized", "cache", "sequential"} | parts


@pytest.mark.slow
@pytest.mark.parametrize("setting", [Setting(queries=60), Setting(levels=3, queries=60, most=3)], ids=["two", "three"])
def test_all_ways_find_the_same_in_two_documents(setting: Setting) -> None:
    found = measure_point(setting, pairs=1, sampled=20)

    assert found.matched > 0
    assert found.us("cache") is None


def test_a_conjunctive_query_that_begins_with_the_queries_finds_the_same() -> None:
    queries = make_queries(two_level(), 100, 1)
    database = Database(queries)
    for number, document in enumerate(make_pair(two_level(), 0)):
        database.load(database.witness(read([document]), number))
        database.settle()

    last, first = (Templates(database, "none", order) for order in ("values", "queries"))

    assert last.triples() == first.triples() != set()
    assert queries_first(database.reference.text(0)).split("\n")[1].startswith("FROM R_T0 t, ")


def test_copies_of_a_query_are_matches_of_their_own() -> None:
    plan = parse(query_text(two_level(2), ((0, 0),)))
    queries = Queries((plan,), (0, 0, 0))
    arena = Arena(queries, Terms(sampled=1))
    first, second = make_pair(two_level(2), 0)

    arena.fill([first])

    assert arena.hold([second]).matches == 3


def test_ways_that_differ_end_the_run() -> None:
    check_triples("templates", {(0, 1, 2)}, {(0, 1, 2)})
    with pytest.raises(DisagreementError, match=r"only Weft \[\(0, 1, 2\)\], only templates \[\]"):
        check_triples("templates", {(0, 1, 2)}, set())


def test_a_way_that_misses_matches_ends_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    arena = Arena(make_queries(two_level(2), 20, 1), Terms(sampled=1))
    first, second = make_pair(two_level(2), 0)
    arena.fill([first])
    monkeypatch.setattr(Templates, "join", lambda _: 0)

    with pytest.raises(DisagreementError, match="the templates with views cache 0"):
        arena.hold([second])


def test_weft_has_every_query_and_says_which_matched() -> None:
    plans = tuple(parse(query_text(two_level(2), ((place, place),))) for place in (0, 1))
    fast = Fast(Queries(plans, (0, 1)))
    table = read([Document("<root><leaf1>a</leaf1></root>", str(at), timestamp=float(at)) for at in (0, 1)])

    found = fast.join(table.documents, fast.witness(table))

    assert fast.triples(found, {"0": 0, "1": 1}) == {(0, 0, 1)}


# -- report


@pytest.mark.slow
def test_a_run_of_joins_has_all_its_figures(report: Report) -> None:
    assert set(KEYS) <= report.figures.keys()
    assert float(report.figures["speedup_vs_sequential_1k"] or 0) > 0
    assert float(report.figures["state_bytes_per_document"] or 0) != 0
    assert report.figures["speedup_vs_sequential_100k"] is None, "was not measured"
    assert report.figures["spark_documents_per_second"] is None
    assert json.loads(json.dumps(dict(report.figures))) == report.figures


@pytest.mark.slow
def test_a_run_of_joins_has_a_table_and_a_panel_for_each_figure(report: Report, tmp_path: Path) -> None:
    assert [table.title.split(":")[0] for table in report.tables] == [
        "Goals",
        "Figure 16",
        "Figure 16",
        *(f"Figure {number}" for number in range(8, 16)),
        "Workloads that would hurt",
        "What the paper says",
    ]
    assert all(len(row) == len(table.columns) for table in report.tables for row in table.rows)
    assert len(report.panels) == 7
    save_plot(report.panels, tmp_path / "joins.svg")


@pytest.mark.slow
def test_a_run_of_joins_says_what_was_sampled(report: Report) -> None:
    assert any("a sample of at most 4 queries" in note for note in report.notes)


def test_the_figures_are_ratios_of_one_run() -> None:
    point = standing(1_000, 1e-3, state=1)
    settings = {figure: [Setting()] for figure in range(8, 14)}
    sizes = (1_000, 10_000, 100_000, 1_000_000)
    feed = [standing(size, 2e-4 if size < 1_000_000 else 2.5e-4) for size in sizes]

    curves = Curves(
        distinct={5_000: 40.0, 100_000: 50.0},
        load_per_second=9_000.0,
        megabytes=290.0,
        one_after_the_other=1_000_000.0,
        hot={1_000: 10.0, 16_000: 30.0},
        windows={"1 second": 5.0, "1 document": 6.0},
        nodes={10: 1.0, 100: 4.0},
        alone={"batches": 20.0, "publishing": 22.0, "one by one": 250.0},
    )
    state = StreamState({10_000: 2.0, 100_000: 2.5}, 700.0, 500.0)
    figures = make_report(Found(settings, {Setting(): point}, feed, 2_000.0, curves, None, state)).figures

    assert figures["gathered_growth_10k_to_100k_state"] == 1.25
    assert figures["spark_state_bytes_written_per_document"] == 700

    assert figures["speedup_vs_sequential_1k"] == 5_000
    assert figures["speedup_vs_sequential_100k"] == 500_000
    assert figures["speedup_vs_sequential_feed_distinct_100k"] == 7_500
    assert figures["speedup_vs_sequential_distinct_100k"] == 20_000
    assert figures["megabytes_distinct_100k"] == 290
    assert figures["speedup_vs_templates_100k"] == 4, "of the two kinds of views the quicker"
    assert figures["documents_per_second_100k"] == pytest.approx(1e6 / 230, rel=1e-3)
    assert figures["growth_10k_to_1m"] == pytest.approx(280 / 230, rel=1e-3)
    assert figures["growth_distinct_5k_to_100k"] == 1.25
    assert figures["hot_value_growth_1k_to_16k"] == 3
    assert figures["document_window_over_time_window"] == 1.2
    assert figures["nodes_growth_10_to_100"] == 4
    assert (figures["one_by_one_us"], figures["load_per_second_distinct"]) == (250, 9_000)
    assert figures["publishing_over_silent"] == pytest.approx(1.1)


@pytest.mark.parametrize("effort", [FULL, QUICK], ids=["full", "quick"])
def test_the_state_has_the_documents_that_are_checked(effort: Effort) -> None:
    assert effort.feed.state >= 400
    assert replace(Setting(), queries=1_000) in effort.technical.figures()[8]
