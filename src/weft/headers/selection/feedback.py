"""What servers report while documents flow: how many reach them, what is hit and missed, and how selective tests are.

All counts fade with time, so that what was long ago matters less, and their number is bounded. Time comes from whoever
reports.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import exp2, inf
from typing import Any, Literal

LookUpOutcome = Literal["hit", "miss", "unserved"]
_ENOUGH = 5.0  # observations, below which a share is not known
_KEYS = {"servers": 1, "outcomes": 2, "tests": 3}  # texts in the keys of each kind of counts
_SLACK = 1.25  # how much more than allowed is kept before the least is dropped


class FadingCounts:
    """Counts that halve in a given time, by keys of texts; at most so many, of which the smallest go first."""

    def __init__(self, half_life: float, most: int) -> None:
        self._half_life, self._most = half_life, most
        self._counts: dict[tuple[str, ...], tuple[float, float]] = {}  # the count, and the time that it was so

    def __len__(self) -> int:
        return len(self._counts)

    def add(self, key: tuple[str, ...], times: float, now: float) -> None:
        """Count something; reports may come late, and then count as much as they would have faded to."""
        count, at = self._counts.get(key, (0.0, now))
        latest = max(at, now)
        self._counts[key] = self._faded(count, latest - at) + self._faded(times, latest - now), latest
        if len(self._counts) > self._most * _SLACK:
            self._drop_least(latest)

    def get(self, key: tuple[str, ...], now: float) -> float | None:
        """A count as it is by now; none where nothing was counted, or so little that it was dropped."""
        known = self._counts.get(key)
        return None if known is None else self._faded(known[0], max(0.0, now - known[1]))

    def items(self) -> Iterator[tuple[tuple[str, ...], float, float]]:
        """The keys, their counts, and the times that they were so."""
        for key, (count, at) in self._counts.items():
            yield key, count, at

    def _faded(self, count: float, seconds: float) -> float:
        return count * exp2(-seconds / self._half_life)

    def _drop_least(self, now: float) -> None:
        entries = self._counts.items()
        order = sorted((-self._faded(count, max(0.0, now - at)), key) for key, (count, at) in entries)
        self._counts = {key: self._counts[key] for _, key in order[: self._most]}


class Feedback:
    """Reports of one server, or of many at their producer: each adds its own, and `merge` puts several together."""

    def __init__(self, half_life: float = 3_600.0, most: int = 100_000) -> None:
        self._servers = FadingCounts(half_life, most)
        self._outcomes = FadingCounts(half_life, most)
        self._tests = FadingCounts(half_life, most)

    # -- reports

    def arrived(self, server: str, now: float, documents: float = 1.0) -> None:
        """Documents reached a server."""
        self._servers.add((server,), documents, now)

    def asked(self, expression: str, outcome: LookUpOutcome, now: float, times: float = 1.0) -> None:
        """An expression was asked for: a header answered it, its view missed, or no view served it."""
        self._outcomes.add((expression, outcome), times, now)

    def tested(self, expression: str, test: str, passed: bool, now: float, times: float = 1.0) -> None:
        """A test on an expression was decided, by a look-up or after a parse."""
        self._tests.add((expression, test, "passed" if passed else "failed"), times, now)

    def as_json(self, now: float) -> dict[str, Any]:
        """All counts as they are by now, for a file or a message; `from_json` reads them."""
        return {
            "now": now,
            **{name: [[*key, counts.get(key, now)] for key, _, _ in counts.items()] for name, counts in self._named()},
        }

    @classmethod
    def from_json(cls, record: dict[str, Any]) -> Feedback:
        """Feedback as it was written; raises ValueError, KeyError or TypeError if it is no such thing."""
        found, now = cls(), float(record["now"])
        for name, counts in found._named():
            for *key, count in record[name]:
                if len(key) != _KEYS[name] or not all(isinstance(part, str) for part in key) or not 0 <= count < inf:
                    raise ValueError(f"{name}: {[*key, count]}")
                counts.add(tuple(key), float(count), now)
        return found

    def _named(self) -> tuple[tuple[str, FadingCounts], ...]:
        return ("servers", self._servers), ("outcomes", self._outcomes), ("tests", self._tests)

    def merge(self, other: Feedback) -> None:
        """Add another's reports to these."""
        for (_, mine), (_, theirs) in zip(self._named(), other._named(), strict=True):
            for key, count, at in theirs.items():
                mine.add(key, count, at)

    # -- what they come to

    def documents(self, server: str, now: float) -> float | None:
        """How many documents reached a server lately; none where nothing was heard of it."""
        return self._servers.get((server,), now)

    def times_asked(self, expression: str, now: float) -> float:
        """How often an expression was asked for lately, whatever came of it."""
        outcomes: tuple[LookUpOutcome, ...] = ("hit", "miss", "unserved")
        return sum(self._outcomes.get((expression, outcome), now) or 0.0 for outcome in outcomes)

    def hit_rate(self, expression: str, now: float) -> float | None:
        """The share of hits where a view was there to look at; none where too little is known."""
        return _share(self._outcomes.get((expression, "hit"), now), self._outcomes.get((expression, "miss"), now))

    def selectivity(self, expression: str, test: str, now: float) -> float | None:
        """The share of documents that pass a test; none where too little is known."""
        passed, failed = (self._tests.get((expression, test, word), now) for word in ("passed", "failed"))
        return _share(passed, failed)


def _share(yes: float | None, no: float | None) -> float | None:
    """A share, never quite nothing nor all: what was not seen yet may still come."""
    yes, no = yes or 0.0, no or 0.0
    return (yes + 0.5) / (yes + no + 1) if yes + no >= _ENOUGH else None
