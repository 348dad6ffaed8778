"""Rows of messages or of rejected documents in, one file each under a folder out: every batch once, whatever fails.

    PATH/<destination, or the subscription>/<batch>-<subscription>-<key>.xml     a message
    PATH/<batch>-rejected-<key>.xml and .json                                    a rejected document and its error
    PATH/_weft/staging/<task>/<number>     what tasks wrote, before it is moved into place
    PATH/_weft/intents/<batch>             the names that a commit is about to move into place
    PATH/_weft/commits/<batch>             the names of a batch that was delivered
    PATH/_weft/committed                   a number: all batches up to this one were delivered

Batches are numbered by the query that writes them, so each query needs a PATH of its own.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote
from uuid import uuid4

from pyspark.sql.datasource import DataSourceArrowWriter, DataSourceStreamArrowWriter, WriterCommitMessage
from pyspark.sql.types import StringType, StructType

from weft.errors import ConfigurationError
from weft.spark.paths import local_path

if TYPE_CHECKING:
    from pyarrow import RecordBatch

KEPT = 100  # batches whose records are kept in full
STALE = 3600.0  # seconds after which what a task wrote and nobody committed is taken for a killed job's
_LONGEST = 180  # bytes of a quoted name; batch, key and number fit beside it in the 255 of a file name
_MESSAGE = ("subscription", "destination", "message", "position")
_REJECTED = ("error", "line", "column", "source")
_KEY = r"-[0-9a-f]{16}(-\d+)?\."
_OURS = re.compile(rf"[^/]+/\d{{10,}}-.+{_KEY}xml|\d{{10,}}-rejected{_KEY}(xml|json)")  # a path below PATH
_EXPECTED = (
    "expected columns subscription: string, destination: string, message: string, position: int,"
    " or a column rejected: struct<error:string,line:int,column:int,source:binary>"
)


class Name(NamedTuple):
    """What a file will be called once its batch is known."""

    folder: str  # empty: PATH itself
    base: str
    ending: str


@dataclass(frozen=True, slots=True)
class Staged(WriterCommitMessage):
    """What a task wrote: files 0, 1, 2, ... of its staging folder, and their names."""

    folder: Path
    names: tuple[Name, ...]


class MessageWriter(DataSourceArrowWriter):
    """`df.write.format("weft").mode("append").option("batchId", "12").save(path)`: a batch that is there is left alone.

    Without `batchId` it is the next batch. Overwriting leaves nothing of any batch that was there, nor its record.
    """

    def __init__(self, options: Mapping[str, str], schema: StructType, overwrite: bool) -> None:
        options = {name.lower(): value for name, value in options.items()}
        self._rows, self._outbox, self._overwrite = Rows(schema), _outbox(options), overwrite
        batch = options.get("batchid")
        if batch is not None and not re.fullmatch(r"\d{1,19}", batch, re.ASCII):
            raise ConfigurationError(f"option batchId: expected a whole number from 0 on, found {batch!r}")
        self._batch = None if batch is None else int(batch)

    def write(self, iterator: Iterator[RecordBatch]) -> Staged:
        """On an executor: stage the messages of a task."""
        return self._outbox.stage(self._rows.files(iterator))

    def commit(self, messages: list[WriterCommitMessage | None]) -> None:
        """On the driver: deliver what the tasks staged."""
        self._outbox.commit(_staged(messages), self._batch, overwrite=self._overwrite)

    def abort(self, messages: list[WriterCommitMessage | None]) -> None:
        """On the driver: drop what the tasks staged."""
        self._outbox.drop(_staged(messages))


class MessageStreamWriter(DataSourceStreamArrowWriter):
    """`df.writeStream.format("weft").start(path)`: a batch that Spark replays is delivered once."""

    def __init__(self, options: Mapping[str, str], schema: StructType) -> None:
        options = {name.lower(): value for name, value in options.items()}
        self._rows, self._outbox = Rows(schema), _outbox(options)

    def write(self, iterator: Iterator[RecordBatch]) -> Staged:
        """On an executor: stage the messages of a task."""
        return self._outbox.stage(self._rows.files(iterator))

    def commit(self, messages: list[WriterCommitMessage | None], batchId: int) -> None:
        """On the driver: deliver what the tasks staged."""
        self._outbox.commit(_staged(messages), batchId)

    def abort(self, messages: list[WriterCommitMessage | None], batchId: int) -> None:  # noqa: ARG002
        """On the driver: drop what the tasks staged."""
        self._outbox.drop(_staged(messages))


def _staged(messages: Iterable[WriterCommitMessage | None]) -> list[Staged]:
    return [message for message in messages if isinstance(message, Staged)]  # a failed task has none


def _outbox(options: Mapping[str, str]) -> Outbox:
    path = options.get("path")
    if not path:
        raise ConfigurationError("path: expected the folder to write messages to, found none")
    try:
        folder = local_path(path)
    except ConfigurationError as error:
        advice = "a message is a file in a local or mounted folder; to write elsewhere use the formats parquet or json"
        raise ConfigurationError(f"{error}; {advice}") from error
    return Outbox(folder)


class Rows:
    """The rows of a DataFrame as files: which columns make a message, and which tell where it came from."""

    def __init__(self, schema: StructType) -> None:
        types = {field.name: field.dataType for field in schema.fields}
        rejected = types.get("rejected")
        self._rejects = isinstance(rejected, StructType) and set(_REJECTED) <= set(rejected.names)
        if "message" in types or not self._rejects:
            texts = all(isinstance(types.get(name), StringType) for name in _MESSAGE[:3])
            if not texts or "position" not in types:
                raise ConfigurationError(f"{_EXPECTED}; found {schema.simpleString()}")
        taken = (*(_MESSAGE if "message" in types else ()), *(("rejected",) if self._rejects else ()))
        self._keys = sorted(set(types) - set(taken))  # sorted: the order of columns makes no new names

    def files(self, batches: Iterable[RecordBatch]) -> Iterator[tuple[Name, bytes]]:
        """Name and content of each file: one for a message, two for a rejected document."""
        for row in chain.from_iterable(batch.to_pylist() for batch in batches):
            keys = {name: row[name] for name in self._keys}
            if self._rejects and row["rejected"] is not None:
                yield from _rejected_files(row["rejected"], keys)
            elif "message" in row:
                yield _message_file(row, keys)


def _message_file(row: dict[str, Any], keys: dict[str, Any]) -> tuple[Name, bytes]:
    subscription, message = row["subscription"], row["message"]
    if subscription is None or message is None:
        found = {name: row[name] for name in _MESSAGE}
        raise ConfigurationError(f"expected a subscription and a message, or a value in 'rejected', found {found}")
    to = subscription if row["destination"] is None else row["destination"]
    key = _digest(subscription, row["position"], *keys.values())
    return Name(quoted(to), f"{quoted(subscription)}-{key}", ".xml"), f"{message}\n".encode()


def _rejected_files(rejected: dict[str, Any], keys: dict[str, Any]) -> Iterator[tuple[Name, bytes]]:
    source = rejected["source"] or b""
    content = source.encode() if isinstance(source, str) else bytes(source)
    base = f"rejected-{_digest(content, *keys.values())}"
    about = keys | {name: rejected[name] for name in ("error", "line", "column")}
    yield Name("", base, ".xml"), content
    yield Name("", base, ".json"), (json.dumps(about, ensure_ascii=False, default=_shown) + "\n").encode()


def _shown(value: object) -> str:
    return value.decode(errors="backslashreplace") if isinstance(value, bytes) else str(value)


def _digest(*values: object) -> str:
    return blake2b(repr(values).encode(), digest_size=8).hexdigest()  # repr keeps values apart, and 1 from "1"


@lru_cache(1 << 16)  # also: equal names are one object, so what a task returns stays small
def quoted(name: str) -> str:
    """One file name for any text, and no two alike: `a/b` becomes `a%2Fb`, `..` becomes `%2E.`; a long one is cut."""
    text = quote(name, safe="") or "%"
    if text[0] in "._":  # hidden files, folders above, and our own records
        text = f"%{ord(text[0]):02X}{text[1:]}"
    if len(text) <= _LONGEST:
        return text
    return f"{re.sub('%.?$', '', text[:_LONGEST])}+{_digest(name)}"  # no name that is not cut has a "+"


class Outbox:
    """A folder that batches are delivered to, with the records that make sure that each is delivered once."""

    def __init__(self, path: Path) -> None:
        self._path, records = path, path / "_weft"
        self._staging, self._intents, self._commits = (records / name for name in ("staging", "intents", "commits"))
        self._committed, self._lock = records / "committed", records / "lock"
        for folder in (self._staging, self._intents, self._commits):
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
            for name in json.loads(intent.read_text()):
                (self._path / name).unlink(missing_ok=True)
        _write(intent, json.dumps(names))
        self._move(sources, names)
        if overwrite:
            self._remove_earlier(intent, set(names))
        intent.replace(self._commits / str(batch))
        _sync(self._commits, self._intents)

    def _move(self, sources: Sequence[Path], names: Sequence[str]) -> None:
        for folder in {(self._path / name).parent for name in names}:
            _make(folder)
        for source, name in zip(sources, names, strict=True):
            source.replace(self._path / name)

    def _remove_earlier(self, intent: Path, names: set[str]) -> None:
        """Remove all files of other batches, then their records; what is not ours by name stays."""
        # A folder with records is the PATH of another query; a hidden one is nobody's destination.
        inside = [folder for folder in self._path.glob("[!._]*/") if not (folder / "_weft").exists()]
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
        return (self._commits / str(batch)).exists() or batch <= self._all_up_to()

    def _next(self) -> int:
        committed = max(self._all_up_to(), *_batches(self._commits), -1)
        return max(committed + 1, *_batches(self._intents), 0)  # an intent beyond: what died there is done again

    def _all_up_to(self) -> int:
        return int(self._committed.read_text()) if self._committed.exists() else -1

    def _compact(self) -> None:
        """Keep the records of the latest batches, and of the others one number."""
        old = sorted(_batches(self._commits))[:-KEPT]
        if old:
            _write(self._committed, str(old[-1]))
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
        with self._lock.open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)  # ends with the process, however that ends
            yield


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
    return [int(record.name) for record in folder.iterdir() if record.name.isdigit()]


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigurationError(
            f"expected a folder that can be written to, found {folder}: {error.strerror}"
        ) from error


def _write(file: Path, text: str) -> None:
    """The whole file or nothing, and on the disk when this returns."""
    temporary = file.with_name(f"{file.name}.part")
    with temporary.open("w") as opened:
        opened.write(text)
        opened.flush()
        os.fsync(opened.fileno())
    temporary.replace(file)
    _sync(file.parent)


def _sync(*folders: Path) -> None:
    for folder in folders:
        opened = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)
