"""What one part of the experiment found, for the report that puts them together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from bench.goals import Goal
from bench.report import Figure, Panel, Table


@dataclass(frozen=True, slots=True)
class Section:
    """Figures by their keys, with the goals of some; tables, notes and panels; drawings by the names of their files."""

    figures: Mapping[str, Figure]
    goals: Mapping[str, Goal] = field(default_factory=dict)
    tables: tuple[Table, ...] = ()
    notes: tuple[str, ...] = ()
    panels: tuple[Panel, ...] = ()
    drawings: Mapping[str, str] = field(default_factory=dict)
