"""Locks of a store: one process writes at a time, and readers keep what they read from being cleared away.

Both are locks of the operating system on open files, so a process that is killed holds none.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from socket import gethostname

from weft.errors import ConfigurationError

_PAUSE = 0.02  # seconds between two attempts


class StoreBusyError(ConfigurationError):
    """A store that another process writes to for longer than one was ready to wait."""

    def __init__(self, folder: str, holder: str, waited: float) -> None:
        self.folder, self.holder, self.waited = folder, holder, waited
        super().__init__(folder, holder, waited)

    def __str__(self) -> str:
        return (
            f"{self.folder}: expected to write, found that {self.holder} is writing, and waited {self.waited:g} s; "
            "try again when it is done"
        )


@contextmanager
def exclusive(file: Path, wait: float) -> Iterator[None]:
    """Hold the lock of a file alone; raises StoreBusyError if another holds it for longer than `wait` seconds."""
    file.parent.mkdir(parents=True, exist_ok=True)
    opened = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        limit = time.monotonic() + wait
        while not _try(opened, fcntl.LOCK_EX):
            if time.monotonic() >= limit:
                raise StoreBusyError(str(file.parent), _holder(opened), wait)
            time.sleep(_PAUSE)
        os.ftruncate(opened, 0)
        os.pwrite(opened, f"process {os.getpid()} on {gethostname()}".encode(), 0)
        try:
            yield
        finally:
            os.ftruncate(opened, 0)
    finally:
        os.close(opened)


@contextmanager
def shared(file: Path) -> Iterator[bool]:
    """Keep a file from being removed by `remove_unused`; tells whether it is still there."""
    opened = os.open(file, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(opened, fcntl.LOCK_SH)
        yield os.fstat(opened).st_nlink > 0
    finally:
        os.close(opened)


def remove_unused(file: Path) -> bool:
    """Remove a file unless somebody holds it; tells whether it is gone."""
    opened = os.open(file, os.O_RDONLY | os.O_CLOEXEC)
    try:
        is_free = _try(opened, fcntl.LOCK_EX)
        if is_free:
            file.unlink()
        return is_free
    finally:
        os.close(opened)


def _try(opened: int, lock: int) -> bool:
    try:
        fcntl.flock(opened, lock | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _holder(opened: int) -> str:
    return os.pread(opened, 200, 0).decode("utf-8", "replace") or "another process"
