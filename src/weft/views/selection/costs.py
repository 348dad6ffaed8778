"""What sources cost: rates with their spread in, seconds for a contact and for a byte out (section 5.3.2)."""

from __future__ import annotations

from dataclasses import dataclass
from math import hypot, inf, isfinite
from typing import Protocol

from weft.errors import ConfigurationError

LOCAL_BYTE_SECONDS = 5e-9  # of a stored fragment that is read: measured, and small beside any source


@dataclass(frozen=True, slots=True)
class Seconds:
    """A duration that is known more or less: its mean, and the standard deviation of what was seen."""

    mean: float
    spread: float = 0.0

    def __post_init__(self) -> None:
        if not (isfinite(self.mean) and isfinite(self.spread) and self.mean >= 0 and self.spread >= 0):
            raise ConfigurationError(f"expected a time and its spread from 0 on, found {self.mean} and {self.spread}")

    def cautious(self, risk: float) -> float:
        """What surely counts: the mean less so many standard deviations."""
        return max(0.0, self.mean - risk * self.spread)


def seconds_per_byte(mean: float, spread: float = 0.0) -> Seconds:
    """The time for a byte from a rate in bytes per second; an infinite rate takes no time.

    The inverse of what varies: its mean is above the inverse of the mean, by the square of the relative spread.
    """
    if not mean > 0 or not spread >= 0:
        raise ConfigurationError(f"expected a rate above 0 bytes a second, found {mean} with the spread {spread}")
    if mean == inf:
        return Seconds(0.0)
    relative = spread / mean
    return Seconds((1 + relative**2) / mean, relative / mean)


@dataclass(frozen=True, slots=True)
class SourceCosts:
    """A source that is contacted takes its latency, and for each byte that it answers a time to find and to send it.

    `changes` is how often it changes in the unit in which queries are counted, and `changed_share` how much of what
    is stored of it is to be fetched anew each time.
    """

    latency: Seconds = Seconds(0.0)
    processing: Seconds = Seconds(0.0)  # of a byte
    transmission: Seconds = Seconds(0.0)
    changes: float = 0.0
    changed_share: float = 1.0

    def __post_init__(self) -> None:
        if not (self.changes >= 0 and 0 <= self.changed_share <= 1):
            found = f"{self.changes} and {self.changed_share}"
            raise ConfigurationError(f"expected changes from 0 on and a share from 0 to 1, found {found}")

    @property
    def byte_seconds(self) -> Seconds:
        """Of a byte, found and sent."""
        spread = hypot(self.processing.spread, self.transmission.spread)
        return Seconds(self.processing.mean + self.transmission.mean, spread)


class Measured(Protocol):
    """A rate or a latency, as sources remember them: a mean, and the spread of what was observed."""

    @property
    def mean(self) -> float:
        """What to expect."""

    @property
    def spread(self) -> float:
        """Its standard deviation."""


def costs_of(
    processing: Measured | None,
    transmission: Measured | None,
    latency: Measured | None,
    changes: float = 0.0,
    changed_share: float = 1.0,
) -> SourceCosts:
    """The costs of a source with these rates; what is unknown takes no time, so that no view is chosen for it."""
    waiting = Seconds(latency.mean, latency.spread) if latency else Seconds(0.0)
    found, sent = (
        seconds_per_byte(rate.mean, rate.spread) if rate else Seconds(0.0) for rate in (processing, transmission)
    )
    return SourceCosts(waiting, found, sent, changes, changed_share)


@dataclass(frozen=True, slots=True)
class Explained:
    """What a source that explains itself says of a query: the seconds until its answer is found."""

    seconds: Seconds

    def processing(self, size: int) -> Seconds:
        """The same for each byte of an answer of this size."""
        return Seconds(self.seconds.mean / max(size, 1), self.seconds.spread / max(size, 1))
