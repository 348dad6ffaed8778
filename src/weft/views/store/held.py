"""What was read from a store's files, held in memory while there is room: what was used least recently goes first.

A file's name has the checksum of its content, so what is held under such names is never out of date.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Any, TypeVar

HELD_BYTES = 64 << 20
HeldValue = TypeVar("HeldValue")


class FileMemory:
    """Entries by key, of so many bytes in all; threads may share it."""

    def __init__(self, most: int = HELD_BYTES) -> None:
        self._most, self._size = most, 0
        self._entries: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()
        self._lock = Lock()

    def get(self, key: Hashable, make: Callable[[], HeldValue], size: Callable[[HeldValue], int]) -> HeldValue:
        """The entry of a key; one that is not held is made, and held if its size allows."""
        with self._lock:
            if (known := self._entries.get(key)) is not None:
                self._entries.move_to_end(key)
                entry: HeldValue = known[0]
                return entry
        made = make()
        self.put(key, made, size(made))
        return made

    def put(self, key: Hashable, entry: object, size: int) -> None:
        """Hold an entry of so many bytes, unless there is one under its key."""
        if size > self._most:
            return
        with self._lock:
            if key in self._entries:  # another thread has made it meanwhile
                return
            self._entries[key] = entry, size
            self._size += size
            while self._size > self._most:
                _, (_, gone) = self._entries.popitem(last=False)
                self._size -= gone
