"""The history of all runs, one line of JSON each: which experiment, when, on which commit and machine, its figures."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from pathlib import Path

from bench.report import Figure

ROOT = Path(__file__).parent.parent
HISTORY = ROOT / "bench" / "history.jsonl"


class HistoryError(Exception):
    """A line of a history file is not a run."""


@dataclass(frozen=True, slots=True)
class Version:
    """The code that runs: its commit, and whether files differ from it; None where git does not know."""

    commit: str | None
    dirty: bool | None

    def __str__(self) -> str:
        return f"{(self.commit or 'no commit')[:9]}{' (dirty)' if self.dirty else ''}"


@dataclass(frozen=True, slots=True)
class Run:
    """One run of an experiment, as a line of the history."""

    experiment: str
    quick: bool
    commit: str | None
    dirty: bool | None
    date: str
    machine: Mapping[str, Figure]
    figures: Mapping[str, Figure]

    @property
    def version(self) -> Version:
        """The code that ran."""
        return Version(self.commit, self.dirty)


def make_run(experiment: str, quick: bool, version: Version, date: datetime, figures: Mapping[str, Figure]) -> Run:
    """A run on this machine."""
    moment = date.astimezone(UTC).isoformat(timespec="seconds")
    return Run(experiment, quick, version.commit, version.dirty, moment, machine(), dict(figures))


def machine() -> dict[str, Figure]:
    """What a figure may depend on; nothing that names the machine or its owner."""
    return {
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "system": platform.system(),
        "architecture": platform.machine(),
    }


def version_of(folder: Path) -> Version:
    """The commit that is checked out; the history itself does not make a tree dirty, or every second run would be."""
    commit = _git(folder, "rev-parse", "HEAD")
    changes = _git(folder, "status", "--porcelain", "--", ".", ":(exclude)bench/history.jsonl")
    return Version(commit, None if changes is None else changes != "")


def append_run(path: Path, run: Run) -> None:
    """Add one line, written at once, so that two runs that end together do not mix."""
    line = json.dumps(asdict(run), ensure_ascii=False) + "\n"
    with path.open("ab", buffering=0) as file:
        file.write(line.encode())


def read_runs(path: Path) -> list[Run]:
    """All runs in the order of the file; none if there is no file yet."""
    if not path.is_file():
        return []
    lines = path.read_text(encoding="utf-8").splitlines()
    return [_run_of(line, f"{path}:{number}") for number, line in enumerate(lines, 1) if line.strip()]


def _run_of(line: str, place: str) -> Run:
    names = [field.name for field in fields(Run)]
    try:
        found = json.loads(line)
    except json.JSONDecodeError as error:
        raise HistoryError(f"{place}: expected a run as a JSON object, found {line[:40]!r}") from error
    if not isinstance(found, dict) or sorted(found) != sorted(names):
        raise HistoryError(f"{place}: expected a JSON object with the keys {', '.join(names)}, found {line[:40]!r}")
    return Run(**found)


def _git(folder: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, text=True, check=False)
    except OSError:  # git is not installed
        return None
    return done.stdout.strip() if done.returncode == 0 else None
