"""Folders of XML files and archives in; the documents in them out, one at a time, with an error for what is broken."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from errno import EINVAL, ELOOP
from io import BufferedIOBase, BufferedReader
from itertools import chain
from pathlib import Path

from weft.documents.document import Document, Limits
from weft.documents.source import HEAD, Source, encoding_of
from weft.errors import ConfigurationError, DocumentError, failure_of
from weft.inputs.archives import is_archive, is_gzip, is_hidden, open_members
from weft.inputs.chunks import CHUNK, Chunks, decode_chunks, reason_of
from weft.inputs.rows import WHOLE, Rows, check_row_tag, cut_rows, read_rows
from weft.inputs.unpack import ArchiveError, Gunzipped, UnpackingBudget

_SUFFIXES = (".xml", ".gz", ".zip", ".tar", ".tgz")
_LIMITS = Limits()
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_GONE = (FileNotFoundError, NotADirectoryError)


@dataclass(frozen=True, slots=True)
class File:
    """A file of documents; `id` is its path below the folder that was searched, `stream` the first folder of that."""

    path: str
    id: str
    stream: str
    timestamp: float
    size: int


@dataclass(frozen=True, slots=True)
class Piece:
    """What is read in one go: a file, or a part of one that is split by row tag."""

    file: File
    rows: Rows | None = None
    stamp: tuple[int, int] | None = None  # size and time of the file when it was split


# -- finding


def find_files(root: str | Path) -> list[File]:
    """The files of documents in a folder, at any depth, in the order of their ids; or the one file that the root is."""
    top = Path(root).absolute()
    try:
        if not str(root):
            raise FileNotFoundError
        status = top.stat()
    except (FileNotFoundError, NotADirectoryError):
        raise ConfigurationError(f"{root}: no such file or folder of documents") from None
    except OSError as error:
        raise ConfigurationError(f"{root}: {reason_of(error)}") from None
    if not stat.S_ISDIR(status.st_mode):
        return [_file(top, top.name, status)]
    return sorted(_files_below(top), key=lambda file: file.id)


def _files_below(top: Path) -> Iterator[File]:
    """What is no file, and what is gone since, is left out: it is found when it is there."""

    def refuse(error: OSError) -> None:
        if not isinstance(error, _GONE) or error.filename == str(top):
            raise ConfigurationError(f"{error.filename}: {reason_of(error)}")

    for folder, folders, names in os.walk(top, onerror=refuse):
        folders[:] = [name for name in folders if not is_hidden(name)]
        for name in names:
            if is_hidden(name) or not name.lower().endswith(_SUFFIXES):
                continue
            path = Path(folder, name)
            try:
                status = path.stat()
            except OSError as error:
                if isinstance(error, _GONE) or error.errno == ELOOP:
                    continue  # gone since, or a link to nothing
                raise ConfigurationError(f"{path}: {reason_of(error)}") from None
            if stat.S_ISREG(status.st_mode):
                yield _file(path, path.relative_to(top).as_posix(), status)


def _file(path: Path, below: str, status: os.stat_result) -> File:
    name = os.fsencode(below).decode("utf-8", "replace")  # an id is text, whatever bytes the path is made of
    folder, slash, _ = name.partition("/")
    return File(str(path), name, folder if slash else "", status.st_mtime, status.st_size)


# -- cutting


def pieces(files: Iterable[File], row_tag: str | None, most: int, chunk: int = CHUNK) -> list[Piece]:
    """What to read one by one: files, and large files that can be cut in parts of about that many bytes."""
    if row_tag is not None:
        check_row_tag(row_tag)
    if most < 1:
        raise ConfigurationError(f"pieces: expected a positive number of bytes, found {most}")
    cut: list[Piece] = []
    for file in files:
        is_plain = not is_archive(file.path) and not is_gzip(file.path)
        parts = _cut(file, row_tag, most, chunk) if row_tag is not None and is_plain and file.size > most else []
        cut += parts if len(parts) > 1 else [Piece(file)]
    return cut


def _cut(file: File, row_tag: str, most: int, chunk: int) -> list[Piece]:
    try:
        with _open(file.path) as stream:
            stamp = _stamp(stream)
            encoding = encoding_of(file.id, stream.read(HEAD))
            if encoding not in (None, "ascii"):
                return []  # offsets in it are not those of the file
            stream.seek(0)
            chunks = decode_chunks(file.id, Chunks(file.id, stream, chunk), encoding)
            return [Piece(file, rows, stamp) for rows in cut_rows(file.id, chunks, row_tag, most, encoding)]
    except Exception:
        return []  # told by who reads it


# -- reading


def read_piece(
    piece: Piece, row_tag: str | None, limits: Limits = _LIMITS, chunk: int = CHUNK
) -> Iterator[Document | DocumentError]:
    """The documents of a piece, one at a time; what cannot be read is an error in its place, and the rest goes on."""
    if row_tag is not None:
        check_row_tag(row_tag)
    try:
        with _open(piece.file.path) as stream:
            yield from _read_open(piece, stream, row_tag, limits, chunk)
    except Exception as error:  # whatever it is, it is this file's own: the others go on
        yield DocumentError(piece.file.id, 1, 1, 0, reason_of(error))


def _read_open(
    piece: Piece, stream: BufferedReader, row_tag: str | None, limits: Limits, chunk: int
) -> Iterator[Document | DocumentError]:
    stamp = _stamp(stream)
    if piece.stamp not in (None, stamp):
        yield _changed(piece, "since it was split into rows")
        return
    for opened in _contents(piece.file, stream, limits):
        if isinstance(opened, DocumentError):
            entries: Iterable[Document | DocumentError] = (opened,)
        else:
            name, content = opened
            chunks = _chunks(name, content, piece.rows, chunk)
            entries = _documents(name, chunks, row_tag, piece, limits)
        for entry in entries:
            # Rows go on; what is wrong with a file that changes meanwhile is that it changes.
            if (row_tag is None or isinstance(entry, DocumentError)) and _stamp(stream) != stamp:
                yield _changed(piece, "while it was read")
                return
            yield entry
        if isinstance(opened, tuple) and isinstance(chunks.failure, ArchiveError):
            return  # it is told, and nothing follows
    if _stamp(stream) != stamp:
        yield _changed(piece, "while it was read")


def _contents(
    file: File, stream: BufferedReader, limits: Limits
) -> Iterable[tuple[str, BufferedIOBase] | DocumentError]:
    if is_archive(file.path):
        return open_members(stream, file.path, file.id, limits)
    if is_gzip(file.path):
        budget = UnpackingBudget(stream, limits.max_ratio)
        return ((file.id, Gunzipped(budget, budget)),)
    return ((file.id, stream),)


def _open(path: str) -> BufferedReader:
    """The file; without waiting, if it has become a pipe since it was found."""
    descriptor = os.open(path, _FLAGS)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(EINVAL, "not a file")
    return os.fdopen(descriptor, "rb")


def _stamp(stream: BufferedReader) -> tuple[int, int]:
    status = os.fstat(stream.fileno())
    return status.st_size, status.st_mtime_ns


def _changed(piece: Piece, when: str) -> DocumentError:
    start = piece.rows.start if piece.rows else 0
    return DocumentError(f"{piece.file.id}@{start}" if start else piece.file.id, 1, 1, 0, f"changed {when}")


def _chunks(name: str, stream: BufferedIOBase, rows: Rows | None, chunk: int) -> Chunks:
    if rows is None:
        return Chunks(name, stream, chunk)
    stream.seek(rows.start)
    return Chunks(name, stream, chunk, None if rows.end is None else rows.end - rows.start)


def _documents(
    name: str, chunks: Chunks, row_tag: str | None, piece: Piece, limits: Limits
) -> Iterator[Document | DocumentError]:
    try:
        if row_tag is None:
            yield _read_whole(name, chunks, piece.file, limits)
        else:
            yield from _read_rows(name, chunks, row_tag, piece, limits)
    except Exception as error:  # whatever it is, it is this document's own: the others go on
        yield DocumentError(name, 1, 1, 0, failure_of(error))


def _read_whole(name: str, chunks: Chunks, file: File, limits: Limits) -> Document | DocumentError:
    parts: list[bytes] = []
    size = 0
    try:
        for part in chunks:
            parts.append(part)
            size += len(part)
            if size > limits.max_bytes:
                return DocumentError(name, 1, 1, 0, f"more than {limits.max_bytes} bytes")
    except DocumentError as error:
        return Source(name, b"".join(parts)).error(size, error.reason)
    return Document(b"".join(parts), name, file.stream, file.timestamp)


def _read_rows(
    name: str, chunks: Chunks, row_tag: str, piece: Piece, limits: Limits
) -> Iterator[Document | DocumentError]:
    file, rows = piece.file, piece.rows
    try:
        decoded = _in_utf8(name, chunks) if rows is None else decode_chunks(name, chunks, rows.encoding)
    except DocumentError as error:
        yield error
        return
    for row in read_rows(name, decoded, row_tag, limits, rows or WHOLE):
        if isinstance(row, DocumentError):
            yield row
        else:
            offset, data = row
            yield Document(data, f"{name}@{offset}", file.stream, file.timestamp)


def _in_utf8(name: str, chunks: Iterator[bytes]) -> Iterator[bytes]:
    """The chunks in UTF-8, from the encoding that the first of them tell."""
    head = b""
    while len(head) < HEAD and (chunk := next(chunks, b"")):
        head += chunk
    return decode_chunks(name, chain((head,), chunks), encoding_of(name, head))
