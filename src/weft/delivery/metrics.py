"""The counts of each batch in, those of a whole job out."""

from __future__ import annotations

import threading
from collections import Counter, deque
from collections.abc import Mapping
from dataclasses import dataclass, field

TOP = 1_000  # subscriptions that are counted one by one
_KEPT = 1_000  # batches


@dataclass(frozen=True, slots=True)
class BatchMetrics:
    """What one batch brought. `per_subscription` has the thousand subscriptions with the most messages."""

    batch: int
    documents: int
    rejected: int | None  # unknown where they are dropped
    messages: int
    seconds: float
    version: int | None = None
    per_subscription: Mapping[str, int] = field(default_factory=dict)
    per_partition: Mapping[int, int] = field(default_factory=dict)
    reasons: Mapping[str, int] = field(default_factory=dict)  # how many documents were rejected for each
    stages: Mapping[str, float] = field(default_factory=dict)  # seconds
    tombstones: int = 0  # records of Kafka without a value
    empty: int = 0  # and with one of no bytes; both beside the documents

    @property
    def skew(self) -> float | None:
        """How many times more documents the fullest partition had than the mean."""
        counts = list(self.per_partition.values())
        return max(counts) * len(counts) / sum(counts) if counts else None


@dataclass(frozen=True, slots=True)
class JobCounts:
    """All that is counted of a job, at one moment."""

    documents: int
    tombstones: int  # records of Kafka without a value
    empty: int  # and with one of no bytes
    messages: int
    seconds: float
    batch: int
    version: int | None
    reasons: Mapping[str, int]
    stages: Mapping[str, float]
    per_subscription: Mapping[str, int]
    late: int
    lag: int | None
    join_state: Mapping[str, float]


class Metrics:
    """The counts of a job: all in all, and of the latest thousand batches. Any thread may use it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.batches: deque[BatchMetrics] = deque(maxlen=_KEPT)
        self.documents = self.messages = self.tombstones = self.empty = 0
        self.rejected: int | None = None
        self._last: dict[str, int] = {}  # by stream
        self.seconds = 0.0
        self.per_subscription: Counter[str] = Counter()
        self.reasons: Counter[str] = Counter()
        self.stages: Counter[str] = Counter()
        self.late = 0
        self._observed = -1  # the latest batch that a stream told of
        self.lag: int | None = None
        self.join_state: dict[str, float] = {}

    def record(self, batch: BatchMetrics, stream: str = "") -> None:
        """Add a batch of a stream; one that was told before is taken once."""
        with self._lock:
            if batch.batch <= self._last.get(stream, -1):
                return
            self._last[stream] = batch.batch
            self.batches.append(batch)
            self.documents += batch.documents
            self.tombstones += batch.tombstones
            self.empty += batch.empty
            if batch.rejected is not None:
                self.rejected = (self.rejected or 0) + batch.rejected
            self.messages += batch.messages
            self.seconds += batch.seconds
            self.per_subscription.update(batch.per_subscription)
            self.reasons.update(batch.reasons)
            self.stages.update(batch.stages)

    def observe(self, batch: int, *, lag: int | None, late: int, join_state: Mapping[str, float]) -> None:
        """What a stream tells of a batch: how far it is behind, what came too late in it, and what joins hold."""
        with self._lock:
            self.lag, self.join_state = lag, dict(join_state)
            if batch > self._observed:
                self._observed = batch
                self.late += late

    def snapshot(self) -> JobCounts:
        """All of it, at one moment."""
        with self._lock:
            last = self.batches[-1] if self.batches else None
            known = sum(self.reasons.values())
            others = {"other": self.rejected - known} if self.rejected is not None and self.rejected > known else {}
            return JobCounts(
                self.documents,
                self.tombstones,
                self.empty,
                self.messages,
                self.seconds,
                last.batch if last else -1,
                last.version if last else None,
                {**self.reasons, **others},
                dict(self.stages),
                dict(self.per_subscription.most_common(TOP)),
                self.late,
                self.lag,
                dict(self.join_state),
            )
