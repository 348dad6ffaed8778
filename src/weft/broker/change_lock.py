"""Who changes something is alone; who only looks does so beside others, each at a place of its own."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from heapq import heappop, heappush


class ChangeLock:
    """A lock that one thread holds alone, as often as it likes, or that several share.

    Who waits to be alone comes before those who would share, so that changes are not kept waiting for ever.
    """

    def __init__(self, places: int = os.cpu_count() or 1) -> None:
        self._condition = threading.Condition()
        self._alone: int | None = None  # the thread that holds it alone
        self._depth = 0
        self._waiting = 0  # threads that wait to be alone
        self._places, self._free = places, list(range(places))

    def __enter__(self) -> None:
        me = threading.get_ident()
        with self._condition:
            if self._alone != me:
                self._waiting += 1
                try:
                    while self._alone is not None or len(self._free) < self._places:
                        self._condition.wait()
                finally:
                    self._waiting -= 1
                self._alone = me
            self._depth += 1

    def __exit__(self, *_: object) -> None:
        with self._condition:
            self._depth -= 1
            if not self._depth:
                self._alone = None
                self._condition.notify_all()

    @contextmanager
    def shared(self) -> Iterator[int]:
        """Beside others, at the first place that is free; who holds it alone has the first place anyway."""
        with self._condition:
            is_mine = self._alone == threading.get_ident()
            while not is_mine and (self._alone is not None or self._waiting or not self._free):
                self._condition.wait()
            place = 0 if is_mine else heappop(self._free)
        try:
            yield place
        finally:
            if not is_mine:
                with self._condition:
                    heappush(self._free, place)
                    self._condition.notify_all()
