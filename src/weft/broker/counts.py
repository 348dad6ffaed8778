"""What a broker counts of the documents and messages that pass through it."""

from __future__ import annotations

import logging
import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter

from weft.errors import DocumentError

_LOG = logging.getLogger(__name__)
_DIFFERS = re.compile(r"[0-9]+")
_FOUND = re.compile(r"[:\"'].*", re.DOTALL)
_MOST = 1_000  # reasons that are told apart


def reason_kind(reason: str) -> str:
    """A reason without what differs from document to document: numbers, and what was found.

    >>> reason_kind("nested deeper than 3"), reason_kind("not valid: Element 'a' is not expected.")
    ('nested deeper than N', 'not valid')
    """
    return _DIFFERS.sub("N", _FOUND.sub("", reason)).strip()


@dataclass(frozen=True, slots=True)
class BrokerCounts:
    """All of it, at one moment."""

    documents: int
    messages: int
    reasons: Mapping[str, int]
    stages: Mapping[str, float]
    refused: int
    late: int
    ahead: int
    subscriptions: int
    suspended: int
    undelivered: int
    join_documents: int
    label_paths: int
    plan_version: int


class RejectedDocuments(deque[DocumentError]):
    """The latest rejected documents; all are counted by reason, and logged."""

    def __init__(self, tally: BrokerTally, most: int) -> None:
        super().__init__(maxlen=most)
        self._tally = tally

    def append(self, error: DocumentError) -> None:
        """One more."""
        self.extend((error,))

    def extend(self, errors: Iterable[DocumentError]) -> None:
        """Some more."""
        some = list(errors)
        super().extend(some)
        self._tally.reject(some)
        for error in some:
            _LOG.debug("rejected: %s", error)


@dataclass(slots=True)
class BrokerTally:
    """What is counted while documents pass. Threads may lose a count to each other where they match beside others."""

    documents: int = 0
    messages: int = 0
    changes: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    stages: Counter[str] = field(default_factory=Counter)

    def reject(self, errors: Iterable[DocumentError]) -> None:
        """Documents were rejected."""
        for error in errors:
            kind = reason_kind(error.reason)
            self.reasons[kind if kind in self.reasons or len(self.reasons) < _MOST else "other"] += 1

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Count the seconds of a stage."""
        begun = perf_counter()
        try:
            yield
        finally:
            self.stages[name] += perf_counter() - begun  # type: ignore[assignment]  # a counter of seconds
