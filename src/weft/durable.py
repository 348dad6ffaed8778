"""Files that are there as a whole or not at all, also after a crash; sealed ones show if anything changed them since.

A sealed file is a line `weft KIND VERSION`, its content, and a line with the checksum of all before it. Who reads it
gets the content as it was written, or an error that names the file and says what to do.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import BinaryIO

from weft.errors import ConfigurationError

_CHUNK = 1 << 20
_DIGEST = 16  # bytes of a checksum
_SYNCED_AT_ONCE = 16
_SEAL = 2 * _DIGEST + 1  # the last line


@dataclass(frozen=True, slots=True)
class Seal:
    """What a sealed file is for, the version of its content, and what to do when one is damaged."""

    name: str
    version: int
    advice: str


def write_atomically(file: Path, content: str | Iterable[bytes], is_synced: bool = True) -> None:
    """Write a file from text, or from pieces; when this returns it is on the disk. One process at a time may do so.

    One that is not synced is so by `sync_files`, with others at once.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    temporary = file.with_name(f"{file.name}.part")
    try:
        with temporary.open("wb") as opened:
            for piece in [content.encode("utf-8")] if isinstance(content, str) else content:
                opened.write(piece)
            opened.flush()
            if is_synced:
                os.fsync(opened.fileno())
        temporary.replace(file)
    finally:
        temporary.unlink(missing_ok=True)
    if is_synced:
        sync(file.parent)


def sync_files(files: Sequence[Path]) -> None:
    """When this returns these files are on the disk: disks do that for several at once in the time of one."""
    if files:
        with ThreadPoolExecutor(min(len(files), _SYNCED_AT_ONCE)) as pool:
            list(pool.map(sync, files))
        sync(*{file.parent for file in files})


def write_sealed(file: Path, kind: Seal, content: str | Iterable[bytes]) -> None:
    """Write a sealed file; when this returns it is on the disk."""

    def pieces() -> Iterator[bytes]:
        seal = blake2b(digest_size=_DIGEST)
        for piece in (_title(kind), *([content.encode("utf-8")] if isinstance(content, str) else ())):
            seal.update(piece)
            yield piece
        for piece in () if isinstance(content, str) else content:
            seal.update(piece)
            yield piece
        yield seal.hexdigest().encode() + b"\n"

    write_atomically(file, pieces())


def read_sealed(file: Path, kind: Seal) -> bytes:
    """The content of a sealed file; raises ConfigurationError if it is damaged, FileNotFoundError if there is none."""
    with open_sealed(file, kind) as (opened, size):
        return opened.read(size)


@contextmanager
def open_sealed(file: Path, kind: Seal) -> Iterator[tuple[BinaryIO, int]]:
    """A sealed file, checked to its end and open where its content begins, and how many bytes that has."""
    with file.open("rb") as opened:
        title, found = _title(kind), opened.readline(200)
        if found != title:
            raise _damaged(file, kind, f"expected {title.decode().strip()!r}, found {_shown(found)}")
        size = os.fstat(opened.fileno()).st_size - len(title) - _SEAL
        seal = blake2b(title, digest_size=_DIGEST)
        left = size
        while left > 0 and (chunk := opened.read(min(left, _CHUNK))):
            seal.update(chunk)
            left -= len(chunk)
        if left or opened.read() != seal.hexdigest().encode() + b"\n":
            raise _damaged(file, kind, "its checksum does not fit its content")
        opened.seek(len(title))
        yield opened, size


@contextmanager
def in_turn(folder: Path) -> Iterator[None]:
    """Who else comes to this folder meanwhile waits; a process that ends lets go, however it ends."""
    folder.mkdir(parents=True, exist_ok=True)
    lock = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def sync(*paths: Path) -> None:
    """What was renamed in these folders stays so, and what was written to these files."""
    for path in paths:
        opened = os.open(path, os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)


def _title(kind: Seal) -> bytes:
    return f"weft {kind.name} {kind.version}\n".encode()


def _damaged(file: Path, kind: Seal, why: str) -> ConfigurationError:
    return ConfigurationError(f"{file}: damaged: {why}; {kind.advice}")


def _shown(line: bytes) -> str:
    return repr(line[:60].decode("utf-8", "backslashreplace").strip())
