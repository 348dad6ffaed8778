"""What an experiment gives back: figures for programs, tables and notes for people, panels for the plot."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

Figure = float | int | bool | str | None  # None is: not known


@dataclass(frozen=True, slots=True)
class Table:
    """A title, the names of the columns, and cells that are ready to print."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Curve:
    """A named line through points."""

    name: str
    points: tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class Panel:
    """One system of axes, both logarithmic; with `ticks` these names are what lies along the x axis, at 0, 1, …."""

    title: str
    x_label: str
    y_label: str
    curves: tuple[Curve, ...]
    ticks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Report:
    """All that one run of an experiment found."""

    figures: Mapping[str, Figure]
    tables: tuple[Table, ...]
    notes: tuple[str, ...]
    panels: tuple[Panel, ...]
    drawings: Mapping[str, str] = field(default_factory=dict)  # SVG, by the name of the file beside the plot
