"""Entries that are waited for in, the same out as they come; and None where none comes for a while."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from queue import Empty, Full, Queue
from typing import TypeVar

Arriving = TypeVar("Arriving")
_HELD = 2_048  # entries that are read ahead
_LOOK = 0.2  # seconds between two looks whether anybody still wants them


# Long: the two ends of one queue.
def arriving(entries: Iterable[Arriving], wait: float) -> Iterator[Arriving | None]:
    """Entries, read by a thread of its own; None each time that none has come for so many seconds.

    So what came before need not wait for what comes next. What the entries raise is raised here, in its place.
    """
    queue: Queue[tuple[Arriving] | BaseException | None] = Queue(_HELD)
    is_over = threading.Event()

    def put(item: tuple[Arriving] | BaseException | None) -> bool:
        while not is_over.is_set():
            try:
                queue.put(item, timeout=_LOOK)
            except Full:
                continue
            return True
        return False

    def read() -> None:
        try:
            for entry in entries:
                if not put((entry,)):
                    return
            put(None)
        except BaseException as error:
            put(error)

    threading.Thread(target=read, daemon=True, name="weft-arriving").start()
    try:
        while True:
            try:
                item = queue.get(timeout=wait)
            except Empty:
                yield None
                continue
            if item is None:
                return
            if isinstance(item, BaseException):
                raise item
            yield item[0]
    finally:
        is_over.set()
