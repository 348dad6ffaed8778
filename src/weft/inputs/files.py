"""Folders of XML files and archives in; the documents in them out, one at a time, with an error for what is broken."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from errno import EINVAL, ELOOP, ENOENT
from functools import partial
from io import BufferedIOBase, BufferedReader
from itertools import chain
from pathlib import Path

from weft.documents.document import Document, Limits
from weft.documents.source import HEAD, SourceBytes, encoding_of
from weft.errors import ConfigurationError, DocumentError, failure_of
from weft.inputs.archives import is_archive, is_gzip, is_hidden, open_members
from weft.inputs.chunks import CHUNK, Chunks, decode_chunks, reason_of
from weft.inputs.rows import WHOLE, Rows, check_row_tag, cut_rows, read_rows
from weft.inputs.unpack import ArchiveError, Gunzipped, UnpackingBudget

_SUFFIXES = (".xml", ".gz", ".zip", ".tar", ".tgz")
_LIMITS = Limits()
_OPENING = 5  # bytes, those of "<?xml"
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_GONE = (FileNotFoundError, NotADirectoryError)
#: Makes a document of its data and its id.
Make = Callable[[bytes, str], Document]
#: Takes the path of what cannot be looked into, and why.
RefuseFolder = Callable[[str, Exception], None]


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


def _refuse(path: str, error: Exception) -> None:
    """Raise ConfigurationError: a folder is read as a whole or not at all."""
    reason = "no such file or folder of documents" if isinstance(error, _GONE) else reason_of(error)
    raise ConfigurationError(f"{path}: {reason}") from None


def find_files(root: str | Path, refuse: RefuseFolder = _refuse) -> list[File]:
    """The files of documents in a folder, at any depth, in the order of their ids; or the one file that the root is.

    A `refuse` that returns lets the rest be found.
    """
    top = Path(root).absolute()
    try:
        if not str(root):
            raise FileNotFoundError(ENOENT, os.strerror(ENOENT))
        status = top.stat()
    except (OSError, ValueError) as error:  # ValueError: a name that no file can have
        refuse(str(root), error)
        return []
    if not stat.S_ISDIR(status.st_mode):
        return [_file(top, top.name, status)]
    return sorted(files_below(str(root), top, refuse), key=lambda file: file.id)


def path_below(root: str, id: str) -> str:
    """The path of a file that was found in a folder, for those who know the folder by the name they gave."""
    return f"{root.rstrip('/')}/{id}"


def files_below(root: str, top: Path, refuse: RefuseFolder) -> Iterator[File]:
    """What is no file, and what is gone since, is left out: it is found when it is there."""

    def refuse_folder(error: OSError) -> None:
        if error.filename == str(top):
            refuse(root, error)
        elif not isinstance(error, _GONE):
            refuse(path_below(root, Path(error.filename).relative_to(top).as_posix()), error)

    for folder, folders, names in os.walk(top, onerror=refuse_folder):
        folders[:] = [name for name in folders if not is_hidden(name)]
        for name in names:
            if is_hidden(name) or not name.lower().endswith(_SUFFIXES):
                continue
            path = Path(folder, name)
            below = path.relative_to(top).as_posix()
            try:
                status = path.stat()
            except OSError as error:
                if not isinstance(error, _GONE) and error.errno != ELOOP:  # gone since, or a link to nothing
                    refuse(path_below(root, below), error)
                continue
            if stat.S_ISREG(status.st_mode):
                yield _file(path, below, status)


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


def read_stream(
    name: str, stream: BufferedIOBase, row_tag: str | None, limits: Limits = _LIMITS
) -> Iterator[Document | DocumentError]:
    """The documents of what is read once, as it comes: standard input, or a pipe. It is not unpacked."""
    return _documents(name, Chunks(name, stream, as_it_comes=True), row_tag, None, Document, limits)


def _read_open(
    piece: Piece, stream: BufferedReader, row_tag: str | None, limits: Limits, chunk: int
) -> Iterator[Document | DocumentError]:
    stamp = _stamp(stream)
    make = partial(Document, stream=piece.file.stream, timestamp=piece.file.timestamp)
    if piece.stamp not in (None, stamp):
        yield _changed(piece, "since it was split into rows")
        return
    for opened in _contents(piece.file, stream, limits):
        if isinstance(opened, DocumentError):
            entries: Iterable[Document | DocumentError] = (opened,)
        else:
            name, content = opened
            chunks = _chunks(name, content, piece.rows, chunk)
            entries = _documents(name, chunks, row_tag, piece.rows, make, limits)
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
    name: str, chunks: Chunks, row_tag: str | None, rows: Rows | None, make: Make, limits: Limits
) -> Iterator[Document | DocumentError]:
    try:
        if row_tag is None:
            yield _read_whole(name, chunks, make, limits)
        else:
            yield from _read_rows(name, chunks, row_tag, rows, make, limits)
    except Exception as error:  # whatever it is, it is this document's own: the others go on
        yield DocumentError(name, 1, 1, 0, failure_of(error))


def _read_whole(name: str, chunks: Chunks, make: Make, limits: Limits) -> Document | DocumentError:
    parts: list[bytes] = []
    size = 0
    try:
        for part in chunks:
            parts.append(part)
            size += len(part)
            if size > limits.max_bytes:
                return DocumentError(name, 1, 1, 0, f"more than {limits.max_bytes} bytes")
    except DocumentError as error:
        return SourceBytes(name, b"".join(parts)).error(size, error.reason)
    return make(b"".join(parts), name)


def _read_rows(
    name: str, chunks: Chunks, row_tag: str, rows: Rows | None, make: Make, limits: Limits
) -> Iterator[Document | DocumentError]:
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
            yield make(data, f"{name}@{offset}")


def _in_utf8(name: str, chunks: Iterator[bytes]) -> Iterator[bytes]:
    """The chunks in UTF-8, from the encoding that the first of them tell."""
    head = b""
    while len(head) < HEAD and not _tells_encoding(head) and (chunk := next(chunks, b"")):
        head += chunk
    return decode_chunks(name, chain((head,), chunks), encoding_of(name, head))


def _tells_encoding(head: bytes) -> bool:
    """Whether a document that begins so is in UTF-8, whatever follows; of others more must be seen."""
    if len(head) < _OPENING or head[:1] != b"<" or 0 in head[:_OPENING]:
        return False
    declaration, end, _ = head.partition(b"?>")
    is_other = b"encoding" in declaration and b"utf-8" not in declaration.lower()
    return head[:_OPENING] != b"<?xml" or bool(end and not is_other)
