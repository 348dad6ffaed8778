"""Files with names in, files in folders out, batch by batch: every batch once, whatever fails in between.

    PATH/<destination, or the subscription>/<batch>-<subscription>-<key>.xml     a message
    PATH/<batch>-rejected-<key>.xml and .json                                    a rejected document and its error
    PATH/_weft/staging/<task>/<number>     what tasks wrote, before it is moved into place
    PATH/_weft/intents/<batch>             the names that a commit is about to move into place
    PATH/_weft/commits/<batch>             the names of a batch that was delivered
    PATH/_weft/committed                   a number: all batches up to this one were delivered

Batches are numbered by the query that writes them, so each query needs a PATH of its own. Intents, commits and the
number are sealed; a name in them that would lead out of PATH is refused, and so is a folder below PATH that is a link.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

from weft.durable import Seal, read_sealed, sync, write_sealed
from weft.errors import ConfigurationError

KEPT = 100  # batches whose records are kept in full
STALE = 3600.0  # seconds after which what a task wrote and nobody committed is taken for a killed job's
_ADVICE = "remove it, and what it stands for is delivered anew if it comes again; or begin with another folder"
_NAMES, _NUMBER = Seal("delivery", 1, _ADVICE), Seal("delivered", 1, _ADVICE)
_KEY = r"-[0-9a-f]{16}(?:-\d+)?\."
_OURS = re.compile(  # a path below PATH, and no folder above it or of records
    rf"(?:[^/._][^/]*/)(\d{{10,}})-[^/]+{_KEY}(?:xml|json)|(\d{{10,}})-rejected{_KEY}(?:xml|json)", re.ASCII
)
_WHOLE = re.compile(r"\d{1,19}", re.ASCII)


class Name(NamedTuple):
    """What a file will be called once its batch is known."""

    folder: str  # empty: PATH itself
    base: str
    ending: str


@dataclass(frozen=True, slots=True)
class Staged:
    """What a task wrote: files 0, 1, 2, ... of its staging folder, and their names."""

    folder: Path
    names: tuple[Name, ...]


class Outbox:
    """A folder that batches are delivered to, with the records that make sure that each is delivered once."""

    def __init__(self, path: Path) -> None:
        self._path, records = path, path / "_weft"
        self._staging, self._intents, self._commits = (records / name for name in ("staging", "intents", "commits"))
        self._committed, self._lock = records / "committed", records / "lock"
        for folder in (records, self._staging, self._intents, self._commits):
            _make(folder)

    def stage(self, files: Iterable[tuple[Name, bytes]]) -> Staged:
        """Write a task's files where nobody sees them yet."""
        folder = self._staging / uuid4().hex
        _make(folder)
        names = []
        try:
            for number, (name, content) in enumerate(files):
                (folder / str(number)).write_bytes(content)
                names.append(name)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        return Staged(folder, tuple(names))

    def drop(self, staged: Iterable[Staged]) -> None:
        """Remove what tasks staged."""
        for task in staged:
            shutil.rmtree(task.folder, ignore_errors=True)

    def commit(self, staged: Sequence[Staged], batch: int | None, *, overwrite: bool = False) -> None:
        """Deliver what tasks staged as a batch, unless the batch was delivered before; without a batch, as the next."""
        with self._locked():
            if batch is not None:
                self._drop_stale({task.folder for task in staged}, time.time() - STALE)
            number = self._next() if batch is None else batch
            if overwrite or not self._delivered(number):
                self._deliver(staged, number, overwrite=overwrite)
            self._compact()
        self.drop(staged)

    def take_back(self, batch: int) -> None:
        """Let a batch that was delivered be delivered anew: its record is an intent again."""
        record = self._commits / str(batch)
        with self._locked():
            if record.exists():
                _names(record)
                record.replace(self._intents / str(batch))
                sync(self._commits, self._intents)

    def _deliver(self, staged: Sequence[Staged], batch: int, *, overwrite: bool) -> None:
        """A kill between any two steps leaves an intent or a commit, and either tells the next attempt what to do."""
        if lost := [task.folder for task in staged if not task.folder.is_dir()]:
            raise ConfigurationError(
                f"{self._path}: expected a folder that all machines share, found no {lost[0]} here"
            )
        sources = [task.folder / str(number) for task in staged for number in range(len(task.names))]
        names = _numbered((name for task in staged for name in task.names), batch)
        intent = self._intents / str(batch)
        if intent.exists():  # an earlier attempt died in the middle
            self._remove(_names(intent))
        write_sealed(intent, _NAMES, json.dumps(names))
        self._move(sources, names)
        if overwrite:
            self._remove_earlier(intent, set(names))
        intent.replace(self._commits / str(batch))
        sync(self._commits, self._intents)

    def _remove(self, names: Sequence[str]) -> None:
        for folder in self._folders(names):
            _refuse_link(folder)
        for name in names:
            (self._path / name).unlink(missing_ok=True)

    def _folders(self, names: Sequence[str]) -> set[Path]:
        return {(self._path / name).parent for name in names} - {self._path}

    def _move(self, sources: Sequence[Path], names: Sequence[str]) -> None:
        for folder in self._folders(names):
            _make(folder)
        for source, name in zip(sources, names, strict=True):
            source.replace(self._path / name)

    def _remove_earlier(self, intent: Path, names: set[str]) -> None:
        """Remove all files of other batches, then their records; what is not ours by name stays."""
        # A folder with records is the PATH of another query; a hidden one is nobody's destination.
        inside = [
            folder
            for folder in self._path.glob("[!._]*/")
            if not folder.is_symlink() and not (folder / "_weft").exists()
        ]
        for file in chain.from_iterable(folder.iterdir() for folder in (self._path, *inside)):
            name = str(file.relative_to(self._path))
            if _OURS.fullmatch(name) and name not in names and file.is_file():
                file.unlink()
        for record in chain(self._intents.iterdir(), self._commits.iterdir()):
            if record != intent:
                record.unlink()
        self._committed.unlink(missing_ok=True)

    def _delivered(self, batch: int) -> bool:
        if (self._intents / str(batch)).exists():  # beside a commit: overwriting the batch died in the middle
            return False
        record = self._commits / str(batch)
        if record.exists():
            _names(record)  # one that is damaged is refused
            return True
        return batch <= self._all_up_to()

    def _next(self) -> int:
        committed = max(self._all_up_to(), *_batches(self._commits), -1)
        return max(committed + 1, *_batches(self._intents), 0)  # an intent beyond: what died there is done again

    def _all_up_to(self) -> int:
        if not self._committed.exists():
            return -1
        text = read_sealed(self._committed, _NUMBER).decode()
        if not _WHOLE.fullmatch(text):
            raise ConfigurationError(f"{self._committed}: expected a batch's number, found {text[:60]!r}; {_ADVICE}")
        return int(text)

    def _compact(self) -> None:
        """Keep the records of the latest batches, and of the others one number."""
        old = sorted(_batches(self._commits))[:-KEPT]
        if old:
            write_sealed(self._committed, _NUMBER, str(old[-1]))
        for batch in old:
            (self._commits / str(batch)).unlink()

    def _drop_stale(self, ours: set[Path], before: float) -> None:
        for folder in set(self._staging.iterdir()) - ours:
            with suppress(FileNotFoundError):  # its task may be removing it just now
                if folder.stat().st_mtime < before:
                    shutil.rmtree(folder, ignore_errors=True)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """One commit at a time: two appends at once must not take the same number."""
        file = os.open(self._lock, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)
        try:
            fcntl.flock(file, fcntl.LOCK_EX)  # ends with the process, however that ends
            yield
        finally:
            os.close(file)


def _numbered(names: Iterable[Name], batch: int) -> list[str]:
    """Paths below PATH; a name that comes again gets -2, -3, ...: the same document twice is two messages."""
    seen: Counter[Name] = Counter()
    paths = []
    for name in names:
        seen[name] += 1
        again = f"-{seen[name]}" if seen[name] > 1 else ""
        paths.append(str(Path(name.folder, f"{batch:010d}-{name.base}{again}{name.ending}")))
    return paths


def _batches(folder: Path) -> list[int]:
    return [int(record.name) for record in folder.iterdir() if _WHOLE.fullmatch(record.name)]


def _names(record: Path) -> list[str]:
    """The names in an intent or a commit; raises ConfigurationError unless all are of its batch, and below PATH."""
    try:
        names = json.loads(read_sealed(record, _NAMES))
    except ValueError:
        names = None
    for name in names if isinstance(names, list) else [names]:
        found = _OURS.fullmatch(name) if isinstance(name, str) and "\0" not in name else None
        if found is None or int(found[1] or found[2]) != int(record.name):
            what = f"expected names of files of batch {record.name}, found {name!r:.60}"
            raise ConfigurationError(f"{record}: {what}; {_ADVICE}")
    return list(names)


def _refuse_link(folder: Path) -> None:
    if folder.is_symlink():
        raise ConfigurationError(f"{folder}: expected a folder, found a link; put the folder itself there")


def _make(folder: Path) -> None:
    _refuse_link(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigurationError(
            f"expected a folder that can be written to, found {folder}: {error.strerror}"
        ) from error
