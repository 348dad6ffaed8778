"""What one answer may be, and whether it is still wanted: for all that works on it, in whichever thread."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock

from weft.errors import WeftError


class AnswerTooLargeError(WeftError):
    """An answer that has more nodes, or bytes, than it may have; work on it ended when that was seen."""

    def __init__(self, found: int, unit: str, most: int) -> None:
        self.found, self.unit, self.most = found, unit, most
        super().__init__(found, unit, most)

    def __str__(self) -> str:
        return f"{self.found} {self.unit}, more than {self.most}"


class StoppedError(WeftError):
    """An answer that nobody wants any more."""

    def __str__(self) -> str:
        return "stopped: the answer is no longer wanted"


class AnswerBounds:
    """How many nodes and bytes of XML an answer may have; who asked for it may stop it."""

    def __init__(self, max_nodes: int | None = None, max_bytes: int | None = None) -> None:
        self.max_nodes, self.max_bytes = max_nodes, max_bytes
        self._lock, self._is_stopped = Lock(), False
        self._to_stop: list[Callable[[], object]] = []

    def check(self, nodes: int = 0, size: int = 0) -> None:
        """Raise StoppedError if it was stopped, AnswerTooLargeError if what there is of it is too much."""
        if self._is_stopped:
            raise StoppedError
        for found, unit, most in ((nodes, "nodes", self.max_nodes), (size, "bytes", self.max_bytes)):
            if most is not None and found > most:
                raise AnswerTooLargeError(found, unit, most)

    def stop(self) -> None:
        """Stop all that works on it, at once where something is waited for."""
        with self._lock:
            self._is_stopped, to_stop = True, tuple(self._to_stop)
        for each in to_stop:
            each()

    @contextmanager
    def stopping(self, act: Callable[[], object]) -> Iterator[None]:
        """Have something done when it is stopped, as long as this is open."""
        with self._lock:
            self._to_stop.append(act)
        try:
            if self._is_stopped:
                act()
            yield
        finally:
            with self._lock:
                self._to_stop.remove(act)


_UNBOUNDED = AnswerBounds()
_here: ContextVar[AnswerBounds] = ContextVar("bounds", default=_UNBOUNDED)


def bounds_here() -> AnswerBounds:
    """The bounds of the answer that is worked on."""
    return _here.get()


@contextmanager
def bounded(bounds: AnswerBounds) -> Iterator[None]:
    """Work on an answer with these bounds."""
    token = _here.set(bounds)
    try:
        yield
    finally:
        _here.reset(token)
