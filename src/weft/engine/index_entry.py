"""What a subscription is in an index, once its plan is part of the shared one."""

from __future__ import annotations

from dataclasses import dataclass

from weft.engine.messages.building import Building
from weft.engine.messages.outcome import Compound
from weft.plans.flwr import Flwr
from weft.plans.lone_query import LoneQuery
from weft.plans.plan import Edge, Selection

EnginePlan = Selection | Flwr | Edge | LoneQuery


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """What a subscription is in an index: its results, or an operation on several, and how its messages are built."""

    results: tuple[int, ...]
    compound: Compound | None = None
    building: Building | None = None
    program: LoneQuery | None = None

    @property
    def targets(self) -> tuple[int, ...]:
        """The results whose nodes are its answer."""
        return () if self.building is not None and not self.building.is_exact else self.results
