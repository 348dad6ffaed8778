"""When to look for a better plan, and when to take it: between batches, for a share of the time, and not to and fro."""

from __future__ import annotations

from dataclasses import dataclass, field

from weft.optimizer.cost import PlanCost
from weft.optimizer.unit_costs import MEASURING

_BUDGET = 0.01  # of the time may go into searches
_OBSERVING = 0.01  # of the time may go into statistics; the rest of 3 % is for what comes once, and for migrations
_MEASURING = 0.005  # of the time may have gone into measuring the smallest parts of the work, once
_LEAST_GAIN = 0.05  # that a plan must promise, or costs that are not quite known would make it change all the time


@dataclass(slots=True)
class Overhead:
    """Nanoseconds: what batches took, that which their statistics did included, and all else beside.

    `probing` is what it took to learn the costs of passes and of the smallest parts of the work, once at the beginning.
    """

    running: int = 0
    statistics: int = 0
    probing: int = 0
    searching: int = 0
    migrating: int = 0

    @property
    def share(self) -> float | None:
        """The share of all time that is not the plan's; None before the first batch."""
        beside = self.probing + self.searching + self.migrating
        return (self.statistics + beside) / (self.running + beside) if self.running else None


@dataclass(slots=True)
class Migration:
    """The turn of the next search."""

    overhead: Overhead = field(default_factory=Overhead)
    searches: int = 0
    migrations: int = 0
    _last: int = 0  # what the latest search took

    def ran(self, nanoseconds: int) -> None:
        """A batch took so long."""
        self.overhead.running += nanoseconds

    def searched(self, nanoseconds: int) -> None:
        """A search took so long."""
        self.overhead.searching += nanoseconds
        self.searches += 1
        self._last = nanoseconds

    @property
    def may_observe(self) -> bool:
        """Whether statistics may take their time in the next batch."""
        return self.overhead.statistics <= self.overhead.running * _OBSERVING

    @property
    def is_due(self) -> bool:
        """Whether a search may take its time again; the first one comes after the first batch."""
        overhead = self.overhead
        beside = overhead.searching + overhead.migrating + self._last
        return overhead.running > 0 and (not self.searches or beside <= overhead.running * _BUDGET)

    @property
    def may_measure(self) -> bool:
        """Whether the costs of the smallest parts of the work may be measured now."""
        return self.overhead.running * _MEASURING >= MEASURING

    def is_better(self, found: PlanCost, running: PlanCost) -> bool:
        """Whether a plan gains enough to be taken."""
        return found.total < running.total * (1 - _LEAST_GAIN)
