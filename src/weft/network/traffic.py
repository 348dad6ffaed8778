"""What servers and links count: documents, hits and misses, bytes and seconds; counts of parts add up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, fields
from math import ceil, log
from typing import Any, Self

_STEP = 1.05  # latencies are told apart by twentieths
_LEAST = 1e-9


@dataclass(slots=True)
class Latency:
    """How long documents took to their subscribers, as counts of steps of a twentieth each: small, and adds up."""

    counts: Counter[int] = field(default_factory=Counter)
    total: float = 0.0
    longest: float = 0.0

    def add(self, seconds: float, times: int = 1) -> None:
        """So many deliveries took so long."""
        if times:
            self.counts[ceil(log(max(seconds, _LEAST), _STEP))] += times
            self.total += seconds * times
            self.longest = max(self.longest, seconds)

    def join(self, other: Latency) -> None:
        """Count what another has counted."""
        self.counts.update(other.counts)
        self.total += other.total
        self.longest = max(self.longest, other.longest)

    @property
    def mean(self) -> float | None:
        """The mean; None if nothing was delivered."""
        return self.total / number if (number := self.counts.total()) else None

    def quantile(self, share: float) -> float | None:
        """Such a share of all deliveries took at most about so long."""
        left = ceil(share * self.counts.total())
        for step in sorted(self.counts):
            left -= self.counts[step]
            if left <= 0:
                return min(_STEP**step, self.longest)
        return None

    def as_json(self) -> dict[str, Any]:
        """For a report, and to be read back."""
        return {
            "counts": {str(step): n for step, n in self.counts.items()},
            "total": self.total,
            "longest": self.longest,
        }

    @classmethod
    def from_json(cls, record: dict[str, Any]) -> Self:
        """What `as_json` wrote."""
        counts = Counter({int(step): number for step, number in record["counts"].items()})
        return cls(counts, record["total"], record["longest"])


@dataclass(slots=True)
class LinkTraffic:
    """What went over a link."""

    documents: int = 0
    bytes: int = 0  # of documents
    header_bytes: int = 0

    def join(self, other: LinkTraffic) -> None:
        """Count what another has counted."""
        self.documents += other.documents
        self.bytes += other.bytes
        self.header_bytes += other.header_bytes


@dataclass(slots=True)
class ServerTraffic:
    """What a server did. A hit is a document that it answered from the header alone."""

    documents: int = 0
    duplicates: int = 0
    rejected: int = 0
    hits: int = 0
    misses: Counter[str] = field(default_factory=Counter)  # by reason
    delivered: int = 0
    forwarded: int = 0
    attached: int = 0  # headers that it made for those behind it
    bytes_in: int = 0
    bytes_out: int = 0
    header_bytes_in: int = 0
    header_bytes_out: int = 0
    hit_bytes: int = 0
    parsed_bytes: int = 0
    look_up_seconds: float = 0.0
    parse_seconds: float = 0.0
    attach_seconds: float = 0.0

    def join(self, other: ServerTraffic) -> None:
        """Count what another has counted."""
        self.misses.update(other.misses)
        for each in fields(self):
            if each.name != "misses":
                setattr(self, each.name, getattr(self, each.name) + getattr(other, each.name))

    @property
    def hit_rate(self) -> float | None:
        """The share of documents that were not parsed; None if there were none."""
        answered = self.hits + self.misses.total()
        return self.hits / answered if answered else None

    def as_json(self) -> dict[str, Any]:
        """For a report, and to be read back."""
        return {**asdict(self), "misses": dict(self.misses)}

    @classmethod
    def from_json(cls, record: dict[str, Any]) -> Self:
        """What `as_json` wrote."""
        return cls(**{**record, "misses": Counter(record["misses"])})


def total(parts: Iterable[ServerTraffic]) -> ServerTraffic:
    """All of these together."""
    found = ServerTraffic()
    for part in parts:
        found.join(part)
    return found
