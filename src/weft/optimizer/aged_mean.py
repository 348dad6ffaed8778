"""Observations in, their mean out, in which older ones count less and less."""

from __future__ import annotations

from dataclasses import dataclass

_KEPT = 0.6  # of what is known counts on when more is seen


@dataclass(slots=True)
class AgedMean:
    """A mean whose older parts count less and less; of nothing it is None."""

    weight: float = 0.0
    total: float = 0.0

    def add(self, weight: float, total: float) -> None:
        """So many more, and what they come to together."""
        if weight > 0:
            self.weight, self.total = self.weight * _KEPT + weight, self.total * _KEPT + total

    @property
    def value(self) -> float | None:
        """The mean, if anything was seen."""
        return self.total / self.weight if self.weight else None
