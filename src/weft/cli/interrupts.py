"""Interrupts and polite kills in, an orderly end out: who runs for long asks whether one came."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from types import FrameType

_NUMBERS = (signal.SIGINT, signal.SIGTERM)


class Interrupts:
    """While this is open an interrupt raises KeyboardInterrupt, and after `note` it is only noted.

    A second one ends the process at once, as if nobody handled it.
    """

    def __init__(self) -> None:
        self.came: int | None = None  # the signal's number

    def __enter__(self) -> Self:
        self._kept = {number: signal.signal(number, self._raise) for number in _NUMBERS}
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._kept.items():
            signal.signal(number, handler)

    def note(self) -> None:
        """From here on there is something to end in order."""
        if self.came is not None:  # what was raised was lost in a callback
            raise KeyboardInterrupt
        for number in _NUMBERS:
            signal.signal(number, self._note)

    def _note(self, number: int, _frame: FrameType | None) -> None:
        self.came = number
        for each in _NUMBERS:
            signal.signal(each, signal.SIG_DFL)

    def _raise(self, number: int, frame: FrameType | None) -> None:
        self._note(number, frame)
        raise KeyboardInterrupt
