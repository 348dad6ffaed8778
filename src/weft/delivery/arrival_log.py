"""A folder that files arrive in, and a log of the order in which they were first seen; numbered files out.

The log begins with a line `weft arrivals VERSION`. Then it has a line for each file: a *mark*, and the path below the
folder as a JSON string. A mark is a checksum of the line and of the mark before it, so a line that was changed,
removed or moved is found; and an offset is a number of lines with the mark of the last of them, so a log that is not
the one that an offset was made with is found too. What lies between two offsets never changes: a restart reads what it
had planned, files that arrive with an old modification time are read like others, and queries may share one log.

A file is known by its path and read once: who changes it later changes nothing. It is seen as soon as it has its
name, so producers write it elsewhere on the same file system (or under a name that begins with `_` or `.`) and rename
it when it is whole. The log belongs to the checkpoints of its queries: remove it only together with them.
"""

from __future__ import annotations

import fcntl
import json
import os
from array import array
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from hashlib import blake2b
from math import nan
from pathlib import Path
from typing import BinaryIO

from weft.durable import sync
from weft.errors import ConfigurationError
from weft.inputs.archives import is_hidden
from weft.inputs.files import File, find_files

_TITLE = b"weft arrivals 1\n"
_ADVICE = "bring back the log that the checkpoint was made with, or begin with a new log and a new checkpoint"


class ArrivalLog:
    """The files of a folder by number. What it holds is a cache: all that counts is in the log.

    >>> Arrivals(Path("feed/_weft/arrivals.jsonl"), Path("feed")).update()  # doctest: +SKIP
    7
    """

    def __init__(self, log: Path, root: Path) -> None:
        self._log, self._root = log, root
        self._paths: list[str] = []  # in the order of arrival, relative to the root
        self._known: set[str] = set()
        self._marks = array("Q", [mark_after(0, _TITLE)])  # before each file, and after the last
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
            log.write(b"" if self._end else _TITLE)
            log.writelines(lines_after(self._marks[-1], sorted(new, key=self._arrival)))
            log.flush()
            self._read_on(log)
            if self._end > before:  # what others appended too, before an offset is made of it
                os.fsync(log.fileno())
                sync(self._log.parent)  # a log that was made just now must be found after a crash
        return len(self._paths)

    def mark(self, number: int) -> str:
        """The mark of the log where it had so many files."""
        return f"{self._marks[number]:016x}"

    def between(self, start: int, end: int) -> list[File]:
        """The files with the numbers from `start` up to, but not including, `end`, in the order of arrival."""
        self.expect(end)
        paths = self._paths[start:end]
        if any(path not in self._files for path in paths):  # planned before a restart
            self._list()
        return [self._files.get(path) or self._vanished(path) for path in paths]

    def expect(self, number: int, mark: str | None = None) -> None:
        """Raise ConfigurationError unless the log has so many files, and this mark there."""
        if number > len(self._paths) and self._log.exists():
            with self._log.open("rb") as log:
                fcntl.flock(log, fcntl.LOCK_SH)  # a line that is cut off just now must not be read half
                self._read_on(log)
        if number > len(self._paths):
            raise ConfigurationError(
                f"{self._log}: expected {number} files or more, found {len(self._paths)}: this is not the log that the "
                f"checkpoint was made with; {_ADVICE}"
            )
        if mark is not None and mark != self.mark(number):
            raise ConfigurationError(
                f"{self._log}: the first {number} files are not those that the checkpoint was made with; {_ADVICE}"
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
        """A file that was here once, nobody knows when: reading it gives an error in its place.

        Only what a listing found is read, so the path leads nowhere: what stands there now may be a link to elsewhere.
        """
        folder, slash, _ = path.partition("/")
        return File(str(self._root / "_weft" / "vanished" / path), path, folder if slash else "", nan, 0)

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

    def _read_on(self, log: BinaryIO) -> None:
        """Take in the lines that are whole, from the last one known."""
        if os.fstat(log.fileno()).st_size < self._end:
            raise ConfigurationError(f"{self._log}: expected {self._end} bytes or more: lines of the log are gone")
        log.seek(self._end)
        data = log.read()
        if self._end == 0:
            if not data.startswith(_TITLE) and not _TITLE.startswith(data):  # a part of it is what a crash can leave
                found = data[: len(_TITLE)].partition(b"\n")[0]
                raise self._damaged(1, f"expected {_TITLE.decode().strip()!r}, found {found!r}")
            self._end = len(_TITLE) if data.startswith(_TITLE) else 0
            data = data[len(_TITLE) :]
        for line in data.split(b"\n")[:-1]:  # what follows the last line's end is no line yet
            self._take(line)

    def _take(self, line: bytes) -> None:
        """The next line, if it is what was once written."""
        number = len(self._paths) + 2  # of the line
        mark, _, text = line.partition(b" ")
        expected = mark_after(self._marks[-1], text)
        if mark != b"%016x" % expected:
            raise self._damaged(number, "its checksum does not fit this line and those before it")
        path = _path(text)
        if path is None or path in self._known:
            raise self._damaged(number, f"expected the path of a new file below the folder, found {text[:60]!r}")
        self._paths.append(path)
        self._known.add(path)
        self._marks.append(expected)
        self._end += len(line) + 1

    def _damaged(self, line: int, why: str) -> ConfigurationError:
        return ConfigurationError(f"{self._log}:{line}: damaged: {why}; {_ADVICE}")


def mark_after(mark: int, text: bytes) -> int:
    """The mark of a line, from that of the line before."""
    return int.from_bytes(blake2b(b"%016x" % mark + text, digest_size=8).digest(), "big")


def lines_after(mark: int, paths: Iterable[str]) -> Iterator[bytes]:
    """The lines of some files, after a line with this mark."""
    for path in paths:
        text = json.dumps(path).encode()
        mark = mark_after(mark, text)
        yield b"%016x %s\n" % (mark, text)


def _path(text: bytes) -> str | None:
    """A path below the folder; None for what could lead out of it, and for what no listing would have found."""
    try:
        path = json.loads(text)
    except ValueError:
        return None
    if not isinstance(path, str) or any(not part or is_hidden(part) for part in path.split("/")):
        return None  # `..`, and the nothing before the first `/`, are hidden
    return path if "\0" not in path else None
