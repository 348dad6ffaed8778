"""The experiments run, their engines agree, and what they found reaches the terminal and the page."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from bench.brokers import load
from bench.contest import DisagreementError, Sample, check_agreement
from bench.filtering.experiment import Effort, measure
from bench.filtering.goals import GOALS
from bench.measure import Child, ChildLostError
from bench.page import NoMarkersError, markers, write_page
from bench.plot import save_plot
from bench.report import Report
from rich.progress import Progress

ROOT = Path(__file__).parents[3]
SIZES = ("20", "50", "1k")
FEW = ("5_small", "5_large")
TINY = Effort(
    sizes=(20, 50, 1_000),
    warm_up=10,
    slices=2,
    documents=5,
    samples=(Sample(3), Sample(2), Sample(1, every=10)),
    few=5,
    large_warm_up=1,
    large_slices=1,
    large_documents=2,
    changes=12,
    memory_documents=5,
)
ONCE = {
    "add_one_ms",
    "add_only_ms",
    "add_settled_ms",
    "remove_one_ms",
    "subscriptions_per_second_loaded",
    "subscriptions_per_second_loaded_with_predicates",
    "subscriptions_per_second_with_predicates",
    "rss_mb_1k",
    "rss_mb_1k_predicates",
    "label_paths_seen",
    "documents",
    "growth_20_to_1k",
    "growth_20_to_1k_predicates",
}
FOR_EACH_SIZE = {
    "us_per_document",
    "speedup_vs_lxml",
    "speedup_vs_lxml_tuned",
    "speedup_vs_pygixml",
    "matched_per_document",
    "lxml_documents",
    "lxml_scaled",
}


@pytest.fixture(scope="module")
def report() -> Report:
    return measure(TINY, Progress(disable=True))


@pytest.mark.slow
def test_a_run_of_filtering_has_all_its_figures(report: Report) -> None:
    ends = [size + end for size in (*SIZES, *FEW) for end in ("", "_predicates")]
    expected = {f"{key}_{end}" for key in FOR_EACH_SIZE for end in ends} | ONCE
    expected |= {f"{key}_{end}_strings" for key in ("us_per_document", "speedup_vs_lxml") for end in ends}
    assert expected <= report.figures.keys()
    unknown = {key for key in expected if report.figures[key] is None}
    assert all("pygixml" in key for key in unknown)
    assert json.loads(json.dumps(dict(report.figures))) == report.figures


@pytest.mark.slow
def test_a_run_of_filtering_says_what_was_sampled(report: Report) -> None:
    assert report.figures["documents"] == 10
    assert report.figures["lxml_documents_20"] == 6
    assert [report.figures[f"lxml_scaled_{size}"] for size in SIZES] == [False, False, True]
    assert "1/10 of queries" in report.tables[1].rows[-1][-1]
    assert any("multiplied by 10" in note for note in report.notes)


@pytest.mark.slow
def test_what_is_measured_is_found(report: Report) -> None:
    assert 0 < float(report.figures["matched_per_document_1k"] or 0) < 1_000
    assert [row[0] for row in report.tables[1].rows] == ["5", "5, large documents", "20", "50", "1,000"]
    assert len(report.tables) == 4
    assert all(len(row) == len(table.columns) for table in report.tables for row in table.rows)
    assert [curve.name for curve in report.panels[0].curves][:2] == ["Weft", "lxml"]


def test_engines_that_differ_end_the_run() -> None:
    found = load({"a": "/x", "b": "/y"}).matches(b"<x/>")
    check_agreement("lxml", [b"<x/>"], found, [["a"]])
    with pytest.raises(DisagreementError, match=r"only Weft \['a'\], only lxml \['b'\]"):
        check_agreement("lxml", [b"<x/>"], found, [["b"]])


@pytest.mark.slow
def test_ids_as_strings_take_longer_than_the_answers_alone(report: Report) -> None:
    until, alone = report.figures["us_per_document_1k_strings"], report.figures["us_per_document_1k"]
    assert isinstance(until, float)
    assert isinstance(alone, float)
    assert until > alone


@pytest.mark.slow
def test_goals_stand_in_the_first_table(report: Report) -> None:
    assert report.tables[0].columns == ("what", "figure", "goal", "")
    bounds = {row[0]: row[2] for row in report.tables[0].rows}
    assert bounds[GOALS["add_one_ms"].text] == "≤ 1"
    assert bounds[GOALS["subscriptions_per_second_loaded"].text] == "≥ 40,000"


@pytest.mark.slow
def test_the_page_keeps_what_stands_around_the_tables(report: Report, tmp_path: Path) -> None:
    begin, end = markers("filtering")
    page = tmp_path / "page.md"
    page.write_text(f"before\n{begin}\nold\n{end}\nafter\n", encoding="utf-8")
    write_page(page, "filtering", report)
    write_page(page, "filtering", report)
    text = page.read_text(encoding="utf-8")
    assert text.startswith(f"before\n{begin}\n")
    assert text.endswith(f"{end}\nafter\n")
    assert text.count("| queries |") == 2
    assert "old" not in text


@pytest.mark.slow
def test_a_page_without_markers_is_refused(report: Report, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("text", encoding="utf-8")
    with pytest.raises(NoMarkersError, match="bench filtering: begin"):
        write_page(page, "filtering", report)
    assert page.read_text(encoding="utf-8") == "text"


def test_the_page_of_the_results_has_its_markers() -> None:
    text = (ROOT / "docs" / "results-filtering.md").read_text(encoding="utf-8")
    assert all(marker in text for marker in markers("filtering"))


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["svg", "png"])
def test_the_plot_is_a_file(report: Report, tmp_path: Path, suffix: str) -> None:
    path = tmp_path / "plots" / f"filtering.{suffix}"
    save_plot(report.panels, path)
    assert path.stat().st_size > 1_000


def test_a_child_that_dies_is_told_as_crashed() -> None:
    child = Child("os", 3)
    with pytest.raises(ChildLostError, match="failed: AttributeError"):
        child.ask(None, 20)
    with pytest.raises(ChildLostError, match="crashed"):
        child.ask(None, 20)
    child.close()


def test_a_child_without_its_library_is_told_as_not_available() -> None:
    child = Child("bench.no_such_module")
    with pytest.raises(ChildLostError, match="not available"):
        child.ask(None, 20)
    child.close()


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "bench", *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )


@pytest.mark.slow
def test_the_command_lists_the_experiments() -> None:
    listed = command("--list")
    assert listed.returncode == 0
    assert listed.stdout.startswith("filtering ")


@pytest.mark.slow
def test_an_unknown_experiment_gives_the_list_and_exit_code_2() -> None:
    refused = command("weaving")
    assert refused.returncode == 2
    assert "filtering " in refused.stderr


@pytest.mark.slow
def test_without_a_name_the_command_teaches_how_to_use_it() -> None:
    refused, helped = command(), command("--help")
    assert (refused.returncode, helped.returncode) == (2, 0)
    for text in (refused.stderr, helped.stdout):
        assert "python -m bench filtering --quick" in text
        assert "core    " in text
        assert "python -m bench --compare" in text
