"""How much the experiment on plans in and out measures, and in which order: an effort in, a report out."""

from __future__ import annotations

import platform
from collections.abc import Callable
from dataclasses import dataclass

from rich.progress import Progress

from bench.goals import goals_table
from bench.in_or_out.abandonment import measure_abandonment
from bench.in_or_out.beside_fixed import CASES, FULL_BESIDE, QUICK_BESIDE, BesideEffort, measure_beside_fixed
from bench.in_or_out.endless import measure_endless
from bench.in_or_out.groups import FULL_GROUPS, QUICK_GROUPS, GroupEffort, measure_groups
from bench.in_or_out.overhead import measure_overhead
from bench.in_or_out.section import Section
from bench.in_or_out.shift import measure_shift
from bench.in_or_out.tables import measure_tables
from bench.report import Figure, Report

_STEPS = 6 + 4 + 4 + 4 + 2 + 1 + 1 + 2
Measure = Callable[[int, Callable[[], object]], Section]


@dataclass(frozen=True, slots=True)
class Effort:
    """How many bytes the streams of each part have, and how much is measured of very many queries."""

    tables: int = 24_000_000
    overhead: int = 24_000_000
    shift: int = 40_000_000
    abandonment: int = 40_000_000
    endless: int = 1_000_000_000
    groups: GroupEffort = FULL_GROUPS
    beside: BesideEffort = FULL_BESIDE


FULL = Effort()
QUICK = Effort(1_500_000, 12_000_000, 28_000_000, 6_000_000, 60_000_000, QUICK_GROUPS, QUICK_BESIDE)


def run(quick: bool, progress: Progress) -> Report:
    """Measure as the command line asks."""
    return measure(QUICK if quick else FULL, progress)


def measure(effort: Effort, progress: Progress) -> Report:
    """One part after the other; the process of the large document is another one."""
    task = progress.add_task("in or out", total=_STEPS + CASES + effort.groups.cells)

    def advance() -> None:
        progress.advance(task)
        progress.refresh()  # here and not by a thread, which would run while something is timed

    parts: tuple[tuple[Measure, int], ...] = (
        (measure_tables, effort.tables),
        (measure_overhead, effort.overhead),
        (measure_shift, effort.shift),
        (measure_abandonment, effort.abandonment),
        (measure_endless, effort.endless),
    )
    found = [part(size, advance) for part, size in parts]
    beside = measure_beside_fixed(effort.beside, advance)
    return put_together([*found, measure_groups(effort.groups, advance), beside])


def put_together(sections: list[Section]) -> Report:
    """The sections as one report, with the goals of all above."""
    measured = {key: value for section in sections for key, value in section.figures.items()}
    figures: dict[str, Figure] = {
        key: float(f"{value:.4g}") if isinstance(value, float) else value for key, value in measured.items()
    }
    goals = {key: goal for section in sections for key, goal in section.goals.items()}
    notes = (
        *(note for section in sections for note in section.notes),
        "Processor time, the best of five rounds in which plans take turns; elements are in memory, a document each.",
        "The initial plan has all in, by names alone where no value is asked for. All plans give the same answers.",
        f"Python {platform.python_version()}.",
    )
    tables = (goals_table(goals, figures), *(table for section in sections for table in section.tables))
    panels = tuple(panel for section in sections for panel in section.panels)
    drawings = {name: text for section in sections for name, text in section.drawings.items()}
    return Report(figures, tables, notes, panels, drawings)
