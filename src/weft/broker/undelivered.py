"""Messages that were not taken in, the latest of them out: so many, and of so many bytes, as may be remembered."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Iterator, Sequence

from weft.broker.courier import Undelivered
from weft.broker.destinations import Message

_KEPT, _KEPT_BYTES = 10_000, 64 * 1024 * 1024


class UndeliveredMessages:
    """The latest, oldest first. Their nodes are written when they come: none holds on to the batch that it is of."""

    def __init__(self) -> None:
        self._kept: deque[tuple[Undelivered, int]] = deque()  # with their bytes
        self._size = 0

    def __len__(self) -> int:
        return len(self._kept)

    def __iter__(self) -> Iterator[Undelivered]:
        return iter([each for each, _ in self._kept])  # other threads may add to them meanwhile

    def add(self, failed: Sequence[Undelivered]) -> None:
        """Remember these; of what would be too much nothing is written."""
        latest: list[tuple[Undelivered, int]] = []
        size = 0
        for each in reversed(failed):
            if len(latest) == _KEPT or size > _KEPT_BYTES:
                break
            latest.append((each, _size(each.message)))
            size += latest[-1][1]
        self._kept.extend(reversed(latest))
        self._size += size
        while len(self._kept) > _KEPT or (self._size > _KEPT_BYTES and len(self._kept) > 1):
            self._size -= self._kept.popleft()[1]

    def take(self) -> list[Undelivered]:
        """All of them, which are no longer remembered here."""
        taken = list(self)
        self._kept.clear()
        self._size = 0
        return taken


def _size(message: Message) -> int:
    return sum(map(sys.getsizeof, message.nodes))
