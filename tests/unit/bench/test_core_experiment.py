"""The core experiment runs, its workloads are what they say, and all its figures are told."""

import gc
import json
from collections.abc import Callable
from pathlib import Path
from threading import Barrier

import pytest
from bench.brokers import load, numbered
from bench.core.batching import SIZES, documents_needed, measure_batches
from bench.core.churn import CALLS, Churn, measure_churn
from bench.core.experiment import FULL, QUICK, Effort, measure
from bench.core.report import GOALS, STAGE_KEYS
from bench.core.scanning import ScanTiming, parse_bare
from bench.core.skew import BESIDE, measure_skew, skew_documents, skew_queries
from bench.core.stages import STAGES, Stages
from bench.core.threads import clock_seconds, measure_threads
from bench.core.untouched import equality_queries
from bench.core.variants import without_constants, without_operands, without_results
from bench.health import health_documents, health_queries
from bench.news import news_documents, news_queries
from bench.page import markers
from bench.plot import save_plot
from bench.report import Report
from rich.progress import Progress

from weft import Broker

ROOT = Path(__file__).parents[3]
TINY = Effort(
    few=20,
    many=200,
    warm_up=10,
    slices=2,
    large_slices=2,
    large_documents=1,
    batch_documents=8,
    batch_rounds=2,
    thread_batches=2,
    thread_rounds=1,
    churn=12,
    skew_queries=50,
    skew_slices=2,
    untouched_queries=50,
    stage_paths=(20, 200),
    stage_predicates=(50,),
    memory_first=64,
    memory_more=128,
)
#: Keys of a full run that the tiny one has with other numbers of queries, or has no memory to tell.
ENDS = {"one_by_one_us_1k": "one_by_one_us_20", "one_by_one_us_100k": "one_by_one_us_200"}


@pytest.fixture(scope="module")
def report() -> Report:
    return measure(TINY, Progress(disable=True))


@pytest.mark.slow
def test_a_run_of_core_has_all_its_figures(report: Report) -> None:
    expected = {ENDS.get(key, key) for key in GOALS}
    expected |= {f"batch_{size}_us_{end}" for size in SIZES for end in ("20", "200")}
    expected |= {f"longest_{call}_ms" for call in (*CALLS, "collection")}
    expected |= {f"stage_{stage}_us_200" for stage in STAGES if stage not in ("probing", "verification")}
    expected |= {f"stage_{stage}_us_50_predicates" for stage in STAGES}
    assert expected <= report.figures.keys()
    assert {key for key in expected if report.figures[key] is None} == set()
    assert json.loads(json.dumps(dict(report.figures))) == report.figures


@pytest.mark.slow
def test_sizes_that_are_left_out_have_their_keys(report: Report) -> None:
    assert set(STAGE_KEYS) <= report.figures.keys()
    assert report.figures["stage_scan_us_100k"] is None


@pytest.mark.slow
def test_tables_and_plot_of_core(report: Report, tmp_path: Path) -> None:
    assert [table.title for table in report.tables][:2] == ["Goals", "The stages of a document, µs"]
    assert all(len(row) == len(table.columns) for table in report.tables for row in table.rows)
    assert [row[0] for row in report.tables[1].rows] == ["20 paths", "200 paths", "50 with predicates"]
    assert report.tables[4].rows[-1][0] == "garbage collection inside them"
    save_plot(report.panels, tmp_path / "core.svg")
    assert (tmp_path / "core.svg").stat().st_size > 1_000


def test_the_page_of_the_results_has_its_markers() -> None:
    text = (ROOT / "docs" / "results-core.md").read_text(encoding="utf-8")
    assert all(marker in text for marker in markers("core"))


@pytest.mark.parametrize("effort", [FULL, QUICK])
def test_what_keys_name_is_measured_in_quick_runs_too(effort: Effort) -> None:
    assert (effort.few, effort.many) == (1_000, 100_000)
    assert effort.batch_documents >= max(SIZES)
    assert effort.churn <= effort.many


# -- workloads


@pytest.mark.parametrize("variant", [without_constants, without_operands])
def test_a_variant_of_queries_with_predicates_is_read_and_matches_nothing(
    variant: Callable[[list[str]], list[str]],
) -> None:
    queries = [query for query in news_queries(1_500, predicates=True) if '"' in query or " > " in query]
    documents = list(news_documents(40))
    assert sum(map(len, load(numbered(queries)).matches(documents))) > 100

    changed = variant(queries)

    assert not any(map(len, load(numbered(changed)).matches(documents)))
    assert all(before != after for before, after in zip(queries, changed, strict=True))


def test_paths_with_an_absent_step_match_nothing() -> None:
    paths = without_results(news_queries(300, predicates=False))
    assert paths[0].endswith("/absent")
    assert not any(map(len, load(numbered(paths)).matches(list(news_documents(20)))))


@pytest.mark.parametrize(
    ("query", "changed"),
    [
        ('/a[b/@c = "1 2"]/d[.//e]', '/a[b/@c = "absent 0"]/d[.//e]'),
        ('/a[b/@c != "1"]', '/a[b/@c = "absent 0"]'),
        ("/a[@b >= 7]/c", "/a[@b > 1000000]/c"),
        ("/a[@b < 7]", "/a[@b < 0]"),
        ('/a[starts-with(., "x y")]', '/a[starts-with(., "absent 0")]'),
    ],
)
def test_a_constant_becomes_one_that_no_document_has(query: str, changed: str) -> None:
    assert without_constants([query]) == [changed]


@pytest.mark.parametrize(
    ("query", "changed"),
    [
        ('/a[b/@c = "1 2"]/d[.//e]', '/a[b/@absent = "1 2"]/d[.//e]'),
        ('/a[b/c = "1"]', '/a[b/absent = "1"]'),
        ("/a[@b >= 7]/c", "/a[@absent >= 7]/c"),
        ('/a[text() = "x"]', '/a[absent = "x"]'),
        ('/a[contains(., "x y")]', '/a[contains(absent, "x y")]'),
    ],
)
def test_an_operand_becomes_one_that_no_document_has(query: str, changed: str) -> None:
    assert without_operands([query]) == [changed]


@pytest.mark.parametrize("beside", BESIDE)
def test_skewed_and_distinct_queries_match_the_same_items(beside: str) -> None:
    found = []
    for skewed in (True, False):
        queries = skew_queries(beside, 80, skewed)
        documents = list(skew_documents(beside, 80, 3, skewed, "a seed"))
        found.append(load(numbered(queries)).matches(documents))
        assert len(set(queries)) == 80
        assert ("'en'" in queries[7].replace('"', "'")) is skewed
    assert found[0] == found[1]
    assert all(found[0])


@pytest.mark.parametrize("beside", BESIDE)
def test_skew_is_a_ratio_of_times_for_as_many_ids(beside: str) -> None:
    one = measure_skew(beside, 60, 2, 10.0, seed=1)
    assert one.ratio == one.skewed_us / one.distinct_us > 0
    assert 1 < one.ids <= 20


def test_untouched_queries_are_equalities_with_constants_of_their_own() -> None:
    queries = equality_queries(400)
    assert len(set(queries)) == 400
    assert all(' = "absent ' in query for query in queries)


def test_health_records_are_large_and_their_queries_match_some() -> None:
    records = list(health_documents(3))
    assert all(50_000 < len(record) < 160_000 for record in records)
    for predicates in (False, True):
        assert any(map(len, load(numbered(health_queries(100, predicates=predicates))).matches(records)))


# -- ways of measuring


def test_batches_of_every_size_get_as_many_new_documents() -> None:
    documents = news_documents(documents_needed(4, 2))
    times = measure_batches(load({"a": "//title"}), documents, 4, 2)
    assert list(times) == list(SIZES)
    assert all(us > 0 for us in times.values())
    assert next(documents, None) is None, "all of them were used, each once"


def test_two_threads_work_at_the_same_time() -> None:
    meeting = Barrier(2)
    seconds = clock_seconds(lambda _: meeting.wait(60), [[b""]] * 2, 2)  # one thread alone would wait in vain
    assert seconds > 0


@pytest.mark.slow
def test_threads_are_compared_on_documents_of_their_own() -> None:
    documents, taken = iter(range(2 * 3 * 2 * 64)), list[int]()
    ratio = measure_threads(taken.extend, documents, 3, 2)  # type: ignore[arg-type]  # numbers tell who is who
    assert ratio > 0
    assert sorted(taken) == list(range(2 * 3 * 2 * 64))


@pytest.mark.slow
def test_every_batch_is_taken_once_and_a_failure_is_told() -> None:
    batches = [[bytes([number])] for number in range(9)]
    taken: list[list[bytes]] = []
    clock_seconds(taken.append, batches, 2)
    assert sorted(taken) == batches
    with pytest.raises(ZeroDivisionError):
        clock_seconds(lambda _: 1 / 0, batches, 2)


def test_churn_keeps_as_many_subscriptions_and_tells_the_longest_call() -> None:
    broker = load(numbered(news_queries(30, predicates=False)))
    churn = measure_churn(broker, ["/a", "/b", "/c"], ["0", "10", "20"], news_documents(3))
    assert len(broker) == 30
    assert "added 2" in broker
    assert "10" not in broker
    assert churn.rounds == 3


def test_the_longest_pause_is_that_of_any_call() -> None:
    churn = Churn({"subscribe": [1.0, 9.0, 2.0], "unsubscribe": [0.1, 0.1, 0.1], "match": [3.0, 4.0, 5.0]}, [0.5, 0.7])
    assert churn.longest_pause == churn.longest("subscribe") == 9.0
    assert churn.usual("match") == 4.0
    assert churn.longest_collection == 0.7


def test_collections_are_noted_while_calls_are_timed() -> None:
    class Collecting(Broker):
        def unsubscribe(self, id: str) -> None:
            gc.collect()
            super().unsubscribe(id)

    broker = Collecting()
    broker.subscribe("/a", id="0")
    before = len(gc.callbacks)
    churn = measure_churn(broker, ["/b"], ["0"], news_documents(1))
    assert 0 < churn.longest_collection <= churn.longest("unsubscribe")
    assert len(gc.callbacks) == before


def test_a_scan_is_told_as_a_rate_and_beside_expat() -> None:
    scan = ScanTiming(document_bytes=4_000.0, weft_us=10.0, expat_us=30.0)
    assert scan.mb_per_second == 400
    assert scan.vs_expat == 3


def test_bare_expat_reads_the_whole_document() -> None:
    parse_bare([b"<a><b/></a>"])
    with pytest.raises(Exception, match="mismatched tag"):
        parse_bare([b"<a><b/></c>"])


def test_stages_add_up_to_a_fresh_document() -> None:
    stages = Stages(10.0, 5.0, None, None, 7.0, 2.0, 6.0)
    assert stages.total == 30
    assert stages.values[STAGES.index("new")] == 6
