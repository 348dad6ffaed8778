"""A streaming query whose plan may have to change in, one that is begun again by itself out.

What joins work with is part of the query's plan, which Spark does not change while it runs. So a micro-batch that finds
other subscriptions ends the query before anything of it is done; the next query begins with that batch.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from pyspark.sql.streaming.query import StreamingQuery

from weft.spark.failures import SPARK_ERRORS

_PAUSE = 60.0  # seconds that are waited at once for a query to end


class BegunAgainError(Exception):
    """The micro-batch that is beginning needs another plan: no failure, for it runs again at once."""


class RestartingQuery:
    """A streaming query that goes on after `again` has been asked for; else it is what Spark has."""

    def __init__(self, start: Callable[[], StreamingQuery]) -> None:
        self._start = start
        self._wanted = False
        self._query: StreamingQuery | None = None

    def begin(self) -> None:
        """Start it: micro-batches may ask for `again` from now on."""
        self._query = self._start()

    @property
    def _running(self) -> StreamingQuery:
        assert self._query is not None, "it has begun"
        return self._query

    def again(self) -> BegunAgainError:
        """For `raise` in a micro-batch: this one is to be begun again, with a plan made anew."""
        self._wanted = True
        return BegunAgainError("the subscriptions that join documents have changed: this micro-batch begins again")

    def __getattr__(self, name: str) -> Any:
        """Whatever Spark tells of the query that runs."""
        return getattr(self._running, name)

    @property
    def isActive(self) -> bool:
        """Whether it runs, or is about to."""
        return bool(self._running.isActive) or self._go_on()

    def awaitTermination(self, timeout: float | None = None) -> bool:
        """Wait for its end, with a timeout at most so many seconds; whether it has ended."""
        end = None if timeout is None else time.monotonic() + timeout
        while True:
            left = _PAUSE if end is None else min(_PAUSE, end - time.monotonic())
            try:
                ended = self._running.awaitTermination(max(1, round(left)))
            except SPARK_ERRORS:
                if not self._go_on():
                    raise
                continue
            if ended and not self._go_on():
                return True
            if end is not None and time.monotonic() >= end:
                return False

    def stop(self) -> None:
        """End it; it does not go on then."""
        self._wanted = False
        self._running.stop()

    def _go_on(self) -> bool:
        """Begin again, if that is what it ended for."""
        if not self._wanted or self._running.isActive:
            return False
        self._wanted = False
        with suppress(*SPARK_ERRORS):
            self._running.stop()
        self._query = self._start()
        return True
