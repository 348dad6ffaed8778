"""Documents that have come before: copies over redundant paths in, once each out, in bounded memory."""

from __future__ import annotations

from collections import deque

LATEST = 65_536  # documents of a source that are remembered


class SeenDocuments:
    """The latest documents of each source. A copy that comes later than so many others is not recognized any more.

    >>> seen = SeenDocuments(2)
    >>> [seen.is_new("in", key) for key in (1, 2, 1, 3, 1)]
    [True, True, False, True, True]
    """

    def __init__(self, latest: int = LATEST) -> None:
        self._latest = latest
        self._known: dict[str, tuple[set[object], deque[object]]] = {}

    def is_new(self, source: str, key: object) -> bool:
        """Whether a document, by its number or its id, comes for the first time."""
        known, order = self._known.setdefault(source, (set(), deque()))
        if key in known:
            return False
        known.add(key)
        order.append(key)
        if len(order) > self._latest:
            known.discard(order.popleft())
        return True

    def __len__(self) -> int:
        return sum(len(order) for _, order in self._known.values())
