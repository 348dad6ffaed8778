"""What answers took in, the rates of a source out: how fast it processes, transmits, and how long it waits before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weft.errors import ConfigurationError

_KEPT = 64  # answers that are remembered
_FADING = 0.95  # what an answer counts, each time that another follows
_TIMES_LARGER = 2.0  # what the largest answer must be of the smallest to tell latency from bandwidth
_NO_TIME = 1e-6  # seconds: what was measured to take none
_Figures = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Cost:
    """What an answer took: bytes of its fragments, seconds at the source, seconds on the way."""

    size: int
    processing: float
    transmission: float


@dataclass(frozen=True, slots=True)
class Rate:
    """Bytes a second, or seconds: given by someone (nothing observed), or the mean and spread of what was observed."""

    mean: float
    spread: float = 0.0  # the standard deviation
    observations: int = 0

    def __post_init__(self) -> None:
        if not (isfinite(self.mean) and self.mean > 0 and isfinite(self.spread) and self.spread >= 0):
            found = f"{self.mean} with a spread of {self.spread}"
            raise ConfigurationError(f"rate: expected a positive number, found {found}")

    def lower(self, margin: float) -> float:
        """A value that is rarely fallen below: lower by about so many spreads, and always positive.

        >>> Rate(100.0, 25.0, 10).lower(1), Rate(100.0).lower(2)
        (80.0, 100.0)
        """
        return float(self.mean / (1.0 + self.spread / self.mean) ** margin)

    def upper(self, margin: float) -> float:
        """A value that is rarely exceeded: what to expect of a latency."""
        return float(self.mean * (1.0 + self.spread / self.mean) ** margin)


@dataclass(frozen=True, slots=True)
class Rates:
    """How a source answers: bytes of the result a second at the source and on the way, and seconds until it begins.

    None is unknown. A latency that is known to be none is a very small one.
    """

    processing: Rate | None = None
    transmission: Rate | None = None
    latency: Rate | None = None

    def otherwise(self, others: Rates | None) -> Rates:
        """These, and where they are unknown the others."""
        if others is None:
            return self
        return Rates(*(getattr(self, each.name) or getattr(others, each.name) for each in fields(self)))

    def seconds(self, size: int, margin: float = 0.0) -> float | None:
        """The time that an answer of so many bytes takes; None where a rate is unknown. Unknown latency counts none."""
        if self.processing is None or self.transmission is None:
            return None
        waiting = self.latency.upper(margin) if self.latency else 0.0
        return waiting + size / self.processing.lower(margin) + size / self.transmission.lower(margin)

    def to_json(self) -> dict[str, Any]:
        """Plain values, which `rates_from_json` reads."""
        return {
            each.name: [rate.mean, rate.spread, rate.observations]
            for each in fields(self)
            if (rate := getattr(self, each.name)) is not None
        }


def rates_from_json(values: Mapping[str, Any]) -> Rates:
    """Rates as `to_json` gave them; raises ConfigurationError for what is none."""
    try:
        return Rates(**{name: Rate(float(mean), float(spread), int(n)) for name, (mean, spread, n) in values.items()})
    except (TypeError, ValueError) as error:
        raise ConfigurationError(f"rates: expected [mean, spread, observations] by name, found {error}") from None


@dataclass(frozen=True, slots=True)
class Observed:
    """The last answers of a source by what they took, the latest last, and how many there were in all."""

    costs: tuple[Cost, ...] = ()
    total: int = 0

    def add(self, *costs: Cost) -> Observed:
        """These with later ones."""
        return Observed((*self.costs, *costs)[-_KEPT:], self.total + len(costs))

    def rates(self) -> Rates:
        """What they tell, the latest most: a size and a time for each answer."""
        if not self.costs:
            return Rates()
        sizes = np.array([cost.size for cost in self.costs], np.float64)
        weights = _FADING ** np.arange(sizes.size - 1, -1, -1, dtype=np.float64)
        processing = np.array([max(cost.processing, _NO_TIME) for cost in self.costs])
        transmission = np.array([max(cost.transmission, _NO_TIME) for cost in self.costs])
        latency = _find_latency(sizes, transmission, weights)
        on_the_way = transmission if latency is None else np.maximum(transmission - latency.mean, _NO_TIME)
        return Rates(_ratio(sizes, processing, weights), _ratio(sizes, on_the_way, weights), latency)

    def to_json(self) -> dict[str, Any]:
        """Plain values, which `observed_from_json` reads."""
        costs = [[cost.size, cost.processing, cost.transmission] for cost in self.costs]
        return {"total": self.total, "costs": costs}


def observed_from_json(values: Mapping[str, Any]) -> Observed:
    """What was observed, as `to_json` gave it; raises ConfigurationError for what is none."""
    try:
        costs = tuple(Cost(int(size), float(one), float(other)) for size, one, other in values["costs"])
        return Observed(costs, int(values["total"]))
    except (KeyError, TypeError, ValueError) as error:
        raise ConfigurationError(f"observations: expected costs and their total, found {error!r}") from None


def _ratio(sizes: _Figures, seconds: _Figures, weights: _Figures) -> Rate | None:
    """All bytes by all seconds, so that large answers count most; None if there were no bytes."""
    if not (weights * sizes).any():
        return None
    mean = float((weights * sizes).sum() / (weights * seconds).sum())
    shares = weights * seconds / (weights * seconds).sum()
    spread = float(np.sqrt((shares * (sizes / seconds - mean) ** 2).sum()))
    return Rate(mean, spread, sizes.size)


def _find_latency(sizes: _Figures, seconds: _Figures, weights: _Figures) -> Rate | None:
    """Where the line of seconds over sizes begins. Medians of slopes (Theil and Sen): some answers are always late."""
    if sizes.max() < _TIMES_LARGER * max(float(sizes.min()), 1.0):
        return None if sizes.any() else _rate_of(seconds, weights)
    one, other = np.triu_indices(sizes.size, 1)
    differ = sizes[one] != sizes[other]
    one, other = one[differ], other[differ]
    slopes = (seconds[other] - seconds[one]) / (sizes[other] - sizes[one])
    # Pairs that are far apart tell most of the slope.
    slope = _median(slopes, weights[one] * weights[other] * np.abs(sizes[other] - sizes[one]))
    return _rate_of(np.maximum(seconds - max(slope, 0.0) * sizes, _NO_TIME), weights / (1.0 + sizes))


def _rate_of(values: _Figures, weights: _Figures) -> Rate:
    mean = _median(values, weights)
    deviation = 1.4826 * _median(np.abs(values - mean), weights)  # of the normal distribution: its spread
    return Rate(mean, deviation, values.size)


def _median(values: Sequence[float] | _Figures, weights: _Figures) -> float:
    order = np.argsort(values)
    upto = np.cumsum(weights[order])
    return float(np.asarray(values)[order][np.searchsorted(upto, upto[-1] / 2)])
