"""The latest run of an experiment is compared with earlier ones: what moved is marked."""

import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from bench.__main__ import main
from bench.compare import Change, against, compare_runs, comparison_table, last, notes
from bench.history import Run, Version, append_run, make_run
from bench.report import Figure
from typer import Exit

ROOT = Path(__file__).parents[3]
MOMENT = datetime(2026, 5, 17, 12, 30, tzinfo=UTC)


def a_run(commit: str, experiment: str = "filtering", quick: bool = True, **figures: Figure) -> Run:
    return make_run(experiment, quick, Version(commit, False), MOMENT, figures)


def write(path: Path, *runs: Run) -> Path:
    for run in runs:
        append_run(path, run)
    return path


def command(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "bench", *map(str, arguments)], cwd=ROOT, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize(
    ("then", "now", "moved"),
    [
        (100, 124, False),
        (100, 126, True),
        (126, 100, True),
        (124, 100, False),
        (0, 0, False),
        (0, 1, True),
        (-0.1, 0.1, True),
        (None, None, False),
        (None, 3.0, True),
        ("measured", "crashed", True),
        (True, True, False),
    ],
)
def test_a_figure_moved_if_it_is_a_quarter_more_or_less(then: Figure, now: Figure, moved: bool) -> None:
    assert Change("us", then, now).moved(25) is moved


def test_only_numbers_above_zero_have_a_ratio() -> None:
    assert Change("us", 10, 25).ratio == 2.5
    assert Change("us", 0, 25).ratio is None
    assert Change("scaled", True, True).ratio is None


def test_the_latest_run_is_compared_with_the_median_of_those_before() -> None:
    runs = [a_run(f"c{us}", us=us) for us in (900, 10, 30, 20, 60)]

    (one,), alone = compare_runs(runs, last(3))

    assert one.changes == (Change("us", 20, 60),)
    assert alone == []


def test_quick_and_full_runs_are_never_compared_with_each_other() -> None:
    runs = [a_run("a", us=1), a_run("a", quick=False, us=100), a_run("b", us=2)]

    comparisons, alone = compare_runs(runs, last(1))

    assert [one.changes for one in comparisons] == [(Change("us", 1, 2),)]
    assert alone == ["filtering (full)"]


def test_a_commit_is_found_by_the_beginning_of_its_name() -> None:
    runs = [a_run("abc123", us=1), a_run("def456", us=2), a_run("fff", us=4)]

    (one,), _ = compare_runs(runs, against("abc"))

    assert [run.commit for run in one.then] == ["abc123"]


def test_the_table_marks_what_moved_and_the_notes_count_it() -> None:
    runs = [a_run("a", us=10, ms=10, new=None, gone=1), a_run("b", us=20, ms=5, new=3)]
    (one,), _ = compare_runs(runs, last(1))

    table = comparison_table(one, 25)

    assert table.title == "filtering (quick): then a (1 run), now b"
    assert table.rows[:2] == (("us", "10", "20", "2", "▲"), ("ms", "10", "5", "0.5", "▼"))
    assert [row[-1] for row in table.rows[2:]] == ["changed", "changed"]
    assert list(notes(one, 25)) == ["4 of 4 figures moved by more than 25 %."]


def test_the_notes_say_that_the_machines_differ() -> None:
    now = a_run("b", us=1)
    (one,), _ = compare_runs([replace(now, machine={**now.machine, "cores": 64}), now], last(1))

    assert any("cores: 64, " in note for note in notes(one, 25))


# -- the command line


@pytest.mark.slow
def test_comparing_fails_only_if_it_is_asked_to_and_something_moved(tmp_path: Path) -> None:
    path = write(tmp_path / "history.jsonl", a_run("abc", us=10), a_run("def", us=20))
    compare = ("--compare", "filtering", "--history", path)

    told, failed, calm = (
        command(*compare),
        command(*compare, "--fail"),
        command(*compare, "--fail", "--threshold", "150"),
    )

    assert [told.returncode, failed.returncode, calm.returncode] == [0, 1, 0]
    assert "▲" in told.stdout
    assert "1 of 1 figures moved by more than 25 %" in told.stdout


@pytest.mark.slow
def test_a_first_run_has_nothing_to_compare_with(tmp_path: Path) -> None:
    path = write(tmp_path / "history.jsonl", a_run("abc", us=10))

    told = command("--compare", "--history", path, "--fail")

    assert told.returncode == 0
    assert told.stdout == "filtering (quick): nothing to compare with\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "text"),
    [
        (("--against", "0123"), "history.jsonl has no run of the commit '0123'"),
        (("--against", "abc", "--last", "2"), "--last and --against exclude each other"),
        (("weaving",), "no experiment is called 'weaving'"),
    ],
)
def test_a_comparison_that_cannot_be_made_is_refused(tmp_path: Path, options: tuple[str, ...], text: str) -> None:
    path = write(tmp_path / "history.jsonl", a_run("abc", us=10))

    refused = command("--compare", "--history", path, *options)

    assert refused.returncode == 2
    assert text in refused.stderr


def test_a_bad_history_is_refused_with_its_place(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "history.jsonl"
    path.write_text("{torn\n", encoding="utf-8")

    with pytest.raises(Exit):
        main(compare=True, history=path)

    assert "history.jsonl:1: expected a run" in capsys.readouterr().err
