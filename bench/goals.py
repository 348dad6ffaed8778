"""Goals and figures in, a table out that says of each goal whether it is met."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from bench.report import Figure, Table
from bench.table import compact


@dataclass(frozen=True, slots=True)
class Goal:
    """A figure in words, and the least or the most that it should be; without either it is only told."""

    text: str
    least: float | None = None
    most: float | None = None

    def __str__(self) -> str:
        bounds = (("≥", self.least), ("≤", self.most))
        return ", ".join(f"{sign} {bound:,g}" for sign, bound in bounds if bound is not None) or "–"

    def verdict(self, figure: float | None) -> str:
        """Whether it is met; nothing is said of a figure that is not known."""
        if figure is None or (self.least is None and self.most is None):
            return "–"
        is_met = (self.least is None or figure >= self.least) and (self.most is None or figure <= self.most)
        return "met" if is_met else "not met"


def goals_table(goals: Mapping[str, Goal], figures: Mapping[str, Figure]) -> Table:
    """The figures that an experiment is about, by their keys: each in words, and beside its goal."""
    rows = []
    for key, goal in goals.items():
        value = figures[key]
        number = None if isinstance(value, str) else value
        rows.append((goal.text, compact(number), str(goal), goal.verdict(number)))
    return Table("Goals", ("what", "figure", "goal", ""), tuple(rows))
