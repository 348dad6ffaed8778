"""Every run of an experiment becomes a line of the history, unless it is told not to."""

import json
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest
from bench import EXPERIMENTS
from bench.__main__ import main
from bench.history import HISTORY, HistoryError, Run, Version, append_run, make_run, read_runs, version_of
from bench.report import Figure, Report

MOMENT = datetime(2026, 5, 17, 12, 30, tzinfo=UTC)


def a_run(commit: str, experiment: str = "filtering", quick: bool = True, **figures: Figure) -> Run:
    return make_run(experiment, quick, Version(commit, False), MOMENT, figures)


def write(path: Path, *runs: Run) -> Path:
    for run in runs:
        append_run(path, run)
    return path


# -- the file


def test_a_run_comes_back_as_it_was_written(tmp_path: Path) -> None:
    runs = [a_run("a1", us=12.5, scaled=False, pygixml="crashed", rss=None), a_run("b2", us=13)]

    path = write(tmp_path / "history.jsonl", *runs)

    assert read_runs(path) == runs
    assert len(path.read_text(encoding="utf-8").splitlines()) == 2


def test_a_run_says_what_the_machine_has_and_not_which_machine_it_is() -> None:
    run = a_run("a1")

    assert run.machine.keys() == {"cores", "python", "system", "architecture"}
    assert run.date == "2026-05-17T12:30:00+00:00"


def test_a_history_that_is_not_there_has_no_runs(tmp_path: Path) -> None:
    assert read_runs(tmp_path / "history.jsonl") == []


@pytest.mark.parametrize("line", ["{torn", "[]", '{"experiment": "filtering"}'])
def test_a_line_that_is_no_run_is_told_with_its_number(tmp_path: Path, line: str) -> None:
    path = write(tmp_path / "history.jsonl", a_run("a1"))
    path.write_text(path.read_text(encoding="utf-8") + line + "\n", encoding="utf-8")

    with pytest.raises(HistoryError, match=r"history\.jsonl:2: expected a"):
        read_runs(path)


def test_the_history_of_the_project_is_readable_and_names_no_machine() -> None:
    runs = read_runs(HISTORY)

    assert {run.experiment for run in runs} <= set(EXPERIMENTS)
    assert all(run.figures for run in runs)
    assert not any("/" in str(value) for run in runs for value in run.machine.values())


# -- the code that ran


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    def git(*arguments: str) -> None:
        who = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
        subprocess.run(["git", *who, *arguments], cwd=tmp_path, check=True, capture_output=True)

    (tmp_path / "bench").mkdir()
    (tmp_path / "bench" / "history.jsonl").write_text("", encoding="utf-8")
    git("init")
    git("add", ".")
    git("commit", "--message", "first")
    return tmp_path


def test_a_run_has_the_commit_that_is_checked_out(repository: Path) -> None:
    version = version_of(repository)

    assert len(version.commit or "") == 40
    assert version.dirty is False


def test_the_history_alone_does_not_make_the_tree_dirty(repository: Path) -> None:
    write(repository / "bench" / "history.jsonl", a_run("a1"))
    assert version_of(repository).dirty is False

    (repository / "other.py").write_text("", encoding="utf-8")
    assert version_of(repository).dirty is True


def test_without_git_the_commit_is_not_known(tmp_path: Path) -> None:
    assert version_of(tmp_path) == Version(None, None)


# -- the command line


def test_a_run_adds_its_figures_to_the_history_unless_told_not_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "history.jsonl"
    monkeypatch.setattr("bench.__main__._run", lambda _name, _quick: Report({"us": 3.5}, (), (), ()))

    main("joins", quick=True, as_json=True, history=path, no_history=True)
    assert not path.exists()
    main("joins", quick=True, as_json=True, history=path)

    (run,) = read_runs(path)
    assert (run.experiment, run.quick, run.figures) == ("joins", True, {"us": 3.5})
    assert json.loads(capsys.readouterr().out.splitlines()[-1]) == {"us": 3.5}


def test_a_history_that_cannot_be_written_costs_the_run_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("bench.__main__._run", lambda _name, _quick: Report({"us": 3.5}, (), (), ()))

    main("joins", quick=True, as_json=True, history=tmp_path)

    found = capsys.readouterr()
    assert found.out == '{"us": 3.5}\n'
    assert found.err.startswith("no history: ")
