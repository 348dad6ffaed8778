"""A folder that files arrive in, and a log of the order in which they were first seen; numbered files out.

The log has one JSON string a line, a file's path below the folder. The number of lines is an offset: it never
shrinks, and what lies between two offsets never changes. So a restart reads what it had planned, files that arrive
with an old modification time are read like others, and any number of queries may share one log.

A file is known by its path and read once: who changes it later changes nothing. It is seen as soon as it has its
name, so producers write it elsewhere on the same file system (or under a name that begins with `_` or `.`) and rename
it when it is whole. The log belongs to the checkpoints of its queries: remove it only together with them.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from math import nan
from pathlib import Path
from typing import BinaryIO

from weft.documents.files import File, find_files
from weft.errors import ConfigurationError


class Arrivals:
    """The files of a folder by number. What it holds is a cache: all that counts is in the log.

    >>> Arrivals(Path("feed/_weft/arrivals.jsonl"), Path("feed")).update()  # doctest: +SKIP
    7
    """

    def __init__(self, log: Path, root: Path) -> None:
        self._log, self._root = log, root
        self._paths: list[str] = []  # in the order of arrival, relative to the root
        self._known: set[str] = set()
        self._end = 0  # of the last line that was read, in bytes
        self._files: dict[str, File] = {}  # of the last listing

    def update(self) -> int:
        """Append the files that the log does not have yet, and give the number that it has then."""
        self._list()
        with self._appending() as log:
            before = self._end
            self._read_on(log)  # others may have appended since
            log.truncate(self._end)  # a line without an end is all that a crash can leave
            new = [path for path in self._files if path not in self._known]
            log.seek(self._end)
            log.write("".join(json.dumps(path) + "\n" for path in sorted(new, key=self._arrival)).encode())
            log.flush()
            self._read_on(log)
            if self._end > before:  # what others appended too, before an offset is made of it
                os.fsync(log.fileno())
                self._sync_folder()
        return len(self._paths)

    def between(self, start: int, end: int) -> list[File]:
        """The files with the numbers from `start` up to, but not including, `end`, in the order of arrival."""
        self.expect(end)
        paths = self._paths[start:end]
        if any(path not in self._files for path in paths):  # planned before a restart
            self._list()
        return [self._files.get(path) or self._vanished(path) for path in paths]

    def expect(self, number: int) -> None:
        """Raise ConfigurationError unless the log has so many files."""
        if number > len(self._paths) and self._log.exists():
            with self._log.open("rb") as log:
                fcntl.flock(log, fcntl.LOCK_SH)  # a line that is cut off just now must not be read half
                self._read_on(log)
        if number > len(self._paths):
            raise ConfigurationError(
                f"{self._log}: expected {number} files or more, found {len(self._paths)}: this is not the log that the "
                "checkpoint was made with; bring that log back, or begin with a new checkpoint"
            )

    def _list(self) -> None:
        """What is in the folder now."""
        if not self._root.is_dir():
            raise ConfigurationError(f"{self._root}: expected a folder that files arrive in")
        top = str(self._root.absolute()).rstrip("/") + "/"  # not the id: names that are no text may share one
        self._files = {file.path.removeprefix(top): file for file in find_files(self._root)}

    def _arrival(self, path: str) -> tuple[float, str]:
        """Those that were found together are taken by age."""
        return self._files[path].timestamp, self._files[path].id

    def _vanished(self, path: str) -> File:
        """A file that was here once, nobody knows when: reading it gives an error in its place."""
        folder, slash, _ = path.partition("/")
        return File(str(self._root / path), path, folder if slash else "", nan, 0)

    @contextmanager
    def _appending(self) -> Iterator[BinaryIO]:
        """The log, made if it is not there, for this process alone."""
        try:
            self._log.parent.mkdir(parents=True, exist_ok=True)
            self._log.touch()
            with self._log.open("r+b") as log:
                fcntl.flock(log, fcntl.LOCK_EX)  # let go when the file is closed
                yield log
        except OSError as error:
            raise ConfigurationError(
                f"{self._log}: the log of arrivals cannot be written ({error.strerror}); "
                "set the option log to a file that can"
            ) from None

    def _sync_folder(self) -> None:
        folder = os.open(self._log.parent, os.O_RDONLY)
        try:
            os.fsync(folder)  # a log that was made just now must be found after a crash
        finally:
            os.close(folder)

    def _read_on(self, log: BinaryIO) -> None:
        """Take in the lines that are whole, from the last one known."""
        if os.fstat(log.fileno()).st_size < self._end:
            raise ConfigurationError(f"{self._log}: expected {self._end} bytes or more: lines of the log are gone")
        log.seek(self._end)
        data = log.read()
        for line in data.split(b"\n")[:-1]:  # what follows the last line's end is no line yet
            self._paths.append(self._parse(line))
            self._known.add(self._paths[-1])
            self._end += len(line) + 1

    def _parse(self, line: bytes) -> str:
        place = f"{self._log}:{len(self._paths) + 1}"
        try:
            path = json.loads(line)
        except ValueError:
            path = None
        if not isinstance(path, str):
            raise ConfigurationError(f"{place}: expected a path as a JSON string, found {line[:60]!r}")
        return path
