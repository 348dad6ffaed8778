"""The parts of the pipeline experiment that need no Spark: its documents, its checks, and what it tells."""

import json
from pathlib import Path

import pytest
from bench.contest import DisagreementError
from bench.page import markers
from bench.pipeline.cores import CoresRound, engine_seconds, overhead_us, scaling
from bench.pipeline.documents import count_set, read_set, write_files, write_sets
from bench.pipeline.experiment import FULL, QUICK, Effort
from bench.pipeline.kafka import KafkaRun
from bench.pipeline.report import KEYS, Found, make_report
from bench.pipeline.sizes import SizePoint
from bench.pipeline.stream import Run, Streamed, check_all
from bench.pipeline.xpath import Beside, check_counts
from bench.plot import save_plot
from bench.report import Report

from weft.spark.compiled import compile_subscriptions, unpack

ROOT = Path(__file__).parents[3]
ROUNDS = [CoresRound(1_000, 0.30, 0.33, 0.20), CoresRound(1_000, 0.30, 0.32, 0.16), CoresRound(1_000, 0.30, 0.39, 0.30)]
FIRST = Run(10.0, [100, 100, 100], [300, 300, 300], [4.0, 1.0, 1.0], [6.0, 7.5, 9.0])
STREAMED = Streamed(FIRST, Run(3.0, [5], [15], [0.5], [2.0]))


@pytest.fixture(scope="module")
def report() -> Report:
    beside = [
        Beside(False, [50.0, 60.0], [3_000.0, 3_000.0], 20, 200, 6.0),
        Beside(True, [30.0], [1_500.0], 20, 200, 0.5),
    ]
    points = [SizePoint(size, 100, 2_000.0, 1_500.0, 27_121, 0.002, 0.0004) for size in (10, 10_000)]
    return make_report(Found(ROUNDS, beside, points, STREAMED, 100, KafkaRun(missing="there is no mvn"), 1.25))


def test_a_report_of_the_pipeline_has_all_its_figures(report: Report) -> None:
    assert set(KEYS) <= report.figures.keys()
    assert report.figures["speedup_vs_spark_xpath_100"] == 55
    assert report.figures["speedup_vs_spark_xpath_100_predicates"] == 50
    assert report.figures["plan_bytes_10k"] == 27_121
    assert report.figures["stream_documents_per_second_overall"] == 30
    assert json.loads(json.dumps(dict(report.figures))) == report.figures


def test_a_size_that_was_not_measured_is_not_known(report: Report) -> None:
    assert report.figures["plan_bytes_100k"] is None
    assert report.figures["documents_per_second_match_100k"] is None


def test_without_a_kafka_its_figure_is_not_known_and_a_note_says_why(report: Report) -> None:
    assert report.figures["kafka_documents_per_second"] is None
    assert report.figures["local_cluster_over_local"] == 1.25
    assert "kafka_documents_per_second was not measured: there is no mvn" in report.notes
    assert KafkaRun(300, 1.5).documents_per_second == 200


def test_goals_stand_beside_the_figures(report: Report) -> None:
    goals = {row[0]: row[1:] for row in report.tables[0].rows}
    assert goals["over the engine alone, µs per document"] == ("30", "≤ 40", "met")
    assert goals["times as fast with two cores as with one"] == ("1.65", "≥ 1.4", "met")
    assert goals["times as fast as xpath_boolean, paths only"] == ("55", "≥ 150", "not met")
    assert all(len(row) == len(table.columns) for table in report.tables for row in table.rows)


def test_the_report_says_that_fewer_documents_were_for_xpath_boolean(report: Report) -> None:
    assert any("on 20 documents and Weft on 200" in note for note in report.notes)


def test_the_plot_has_both_curves(report: Report, tmp_path: Path) -> None:
    save_plot(report.panels, tmp_path / "pipeline.svg")
    assert [curve.name for curve in report.panels[0].curves] == ["match", "deliver"]
    assert (tmp_path / "pipeline.svg").stat().st_size > 1_000


def test_overhead_and_scaling_are_medians_of_rounds() -> None:
    assert overhead_us(ROUNDS) == pytest.approx(30)
    assert scaling(ROUNDS) == pytest.approx(1.65)


def test_a_stream_is_measured_after_its_first_batch() -> None:
    assert STREAMED.documents_per_second == 100
    assert STREAMED.restart_seconds == 2.0
    assert STREAMED.messages_per_document == 3


def test_a_stream_of_one_batch_has_no_rate_and_one_of_none_no_restart() -> None:
    streamed = Streamed(Run(5.0, [100], [1], [1.0], [4.0]), Run(1.0, [], [], [], []))
    assert streamed.documents_per_second is None
    assert streamed.restart_seconds is None


def test_a_stream_that_lost_a_document_ends_the_run() -> None:
    check_all(FIRST, 300)
    with pytest.raises(DisagreementError, match="delivered 300 documents, expected 301"):
        check_all(FIRST, 301)


def test_expressions_that_differ_end_the_run() -> None:
    check_counts(["/a", "/b"], [1, 0], [1, 0])
    with pytest.raises(DisagreementError, match="/b: matches 0 documents with Weft, 2 with xpath_boolean"):
        check_counts(["/a", "/b"], [1, 0], [1, 2])


@pytest.mark.slow
def test_sets_share_no_document(tmp_path: Path) -> None:
    write_sets(tmp_path, {"one": 16, "two": 20})
    one, two = read_set(tmp_path / "one"), read_set(tmp_path / "two")
    assert (len(one), len(two)) == (16, 24), "each part has as many"
    assert count_set(tmp_path / "two") == 24
    assert len({*one, *two}) == 40


def test_files_have_one_document_each(tmp_path: Path) -> None:
    write_files(tmp_path / "in", [b"<a/>", b"<b/>"], "x")
    write_files(tmp_path / "in", [b"<c/>"], "y")
    assert sorted(path.name for path in (tmp_path / "in").iterdir()) == ["x-000000.xml", "x-000001.xml", "y-000000.xml"]


def test_the_engine_alone_takes_time() -> None:
    assert engine_seconds(unpack(compile_subscriptions(["/a"])), [b"<a/>"] * 100) > 0


@pytest.mark.parametrize("effort", [FULL, QUICK])
def test_every_part_has_the_documents_it_needs(effort: Effort) -> None:
    assert effort.few <= min(effort.warm_up, effort.beside)
    assert max(effort.sizes.values()) <= min(effort.warm_up, effort.batch, effort.beside)
    assert effort.files + effort.new_files <= effort.batch
    assert effort.files > effort.per_trigger, "there is a batch after the first"


def test_the_page_of_the_results_has_its_markers() -> None:
    text = (ROOT / "docs" / "results-pipeline.md").read_text(encoding="utf-8")
    assert all(marker in text for marker in markers("pipeline"))
