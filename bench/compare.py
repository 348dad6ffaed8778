"""The latest run of an experiment beside earlier ones: each figure then and now, their ratio, and whether it moved."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from bench.history import Run
from bench.report import Figure, Table
from bench.table import compact

THRESHOLD = 25.0  # percent: below this a figure of a short run on a busy machine says nothing
Earlier = Callable[[Sequence[Run]], list[Run]]


@dataclass(frozen=True, slots=True)
class Change:
    """A figure of earlier runs, the median if there are several, and the same figure now."""

    name: str
    then: Figure
    now: Figure

    @property
    def ratio(self) -> float | None:
        """Now over then; None unless both are numbers above zero."""
        then, now = _number(self.then), _number(self.now)
        return now / then if then and now and then > 0 and now > 0 else None

    def moved(self, percent: float) -> bool:
        """Whether it is larger or smaller by more than so many percent: 25 is above 1.25 times or below 1/1.25."""
        most = 1 + percent / 100
        return self.then != self.now if self.ratio is None else not 1 / most <= self.ratio <= most


@dataclass(frozen=True, slots=True)
class Comparison:
    """The latest run and those it is compared with; they are of one experiment, all quick or all full."""

    now: Run
    then: tuple[Run, ...]

    @property
    def title(self) -> str:
        """What is compared with what."""
        versions = ", ".join(dict.fromkeys(str(run.version) for run in self.then))
        runs = f"{len(self.then)} runs" if len(self.then) > 1 else "1 run"
        return f"{describe(self.now)}: then {versions} ({runs}), now {self.now.version}"

    @property
    def changes(self) -> tuple[Change, ...]:
        """All figures of either, in the order in which the experiment tells them."""
        names = dict.fromkeys(name for run in (self.now, *self.then) for name in run.figures)
        return tuple(
            Change(name, _typical([run.figures.get(name) for run in self.then]), self.now.figures.get(name))
            for name in names
        )


def last(number: int) -> Earlier:
    """Compare with so many runs before the latest."""
    return lambda runs: list(runs[-1 - number : -1])


def against(commit: str) -> Earlier:
    """Compare with the runs of a commit, given by the beginning of its name."""
    return lambda runs: [run for run in runs[:-1] if (run.commit or "").startswith(commit)]


def compare_runs(runs: Sequence[Run], earlier: Earlier) -> tuple[list[Comparison], list[str]]:
    """A comparison for each experiment, quick and full apart; and which of them have nothing to compare with."""
    groups: dict[str, list[Run]] = {}
    for run in runs:
        groups.setdefault(describe(run), []).append(run)
    found = {name: Comparison(group[-1], tuple(earlier(group))) for name, group in groups.items()}
    return [one for one in found.values() if one.then], [name for name, one in found.items() if not one.then]


def comparison_table(comparison: Comparison, percent: float) -> Table:
    """One row a figure, with a mark at the end if it moved."""
    rows = tuple(
        (change.name, _shown(change.then), _shown(change.now), _shown(change.ratio), _mark(change, percent))
        for change in comparison.changes
    )
    return Table(comparison.title, ("figure", "then", "now", "ratio", ""), rows)


def notes(comparison: Comparison, percent: float) -> Iterator[str]:
    """How many figures moved, and what else differs."""
    moved = sum(change.moved(percent) for change in comparison.changes)
    yield f"{moved} of {len(comparison.changes)} figures moved by more than {percent:g} %."
    facts = dict.fromkeys(name for run in (comparison.now, *comparison.then) for name in run.machine)
    for fact in facts:
        values = list(dict.fromkeys(run.machine.get(fact) for run in (*comparison.then, comparison.now)))
        if len(values) > 1:
            yield f"The machines differ, {fact}: {', '.join(map(str, values))}. Compare ratios within a run instead."


def describe(run: Run) -> str:
    """The experiment, and how much of it was run."""
    return f"{run.experiment} ({'quick' if run.quick else 'full'})"


def _number(figure: Figure) -> float | None:
    return figure if isinstance(figure, int | float) and not isinstance(figure, bool) else None


def _typical(figures: list[Figure]) -> Figure:
    numbers = [number for number in map(_number, figures) if number is not None]
    return median(numbers) if numbers else figures[-1]


def _shown(figure: Figure) -> str:
    number = _number(figure)
    if number is None:
        return "–" if figure is None else str(figure)
    return compact(number)


def _mark(change: Change, percent: float) -> str:
    if not change.moved(percent):
        return ""
    if change.ratio is None:
        return "changed"
    return "▲" if change.ratio > 1 else "▼"
