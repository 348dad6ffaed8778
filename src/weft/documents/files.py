"""Folders of XML files and archives in; the documents in them out, one at a time, with an error for what is broken."""

from __future__ import annotations

import gzip
import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from io import BufferedIOBase
from itertools import chain
from pathlib import Path

from weft.documents.archives import is_archive, is_hidden, open_members
from weft.documents.chunks import CHUNK, Chunks, decode_chunks, reason_of
from weft.documents.document import Document, Limits
from weft.documents.rows import WHOLE, Rows, check_row_tag, cut_rows, read_rows
from weft.documents.source import HEAD, Source, encoding_of
from weft.errors import ConfigurationError, DocumentError

_SUFFIXES = (".xml", ".gz", ".zip", ".tar", ".tgz")
_LIMITS = Limits()


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
    for folder, folders, names in os.walk(top, onerror=_refuse_folder):
        folders[:] = [name for name in folders if not is_hidden(name)]
        for name in names:
            if is_hidden(name) or not name.lower().endswith(_SUFFIXES):
                continue
            path = Path(folder, name)
            try:
                status = path.stat()
            except OSError:
                continue  # gone since, or a link to nothing
            if stat.S_ISREG(status.st_mode):
                yield _file(path, path.relative_to(top).as_posix(), status)


def _refuse_folder(error: OSError) -> None:
    if not isinstance(error, FileNotFoundError):
        raise ConfigurationError(f"{error.filename}: {reason_of(error)}")


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
        is_plain = not is_archive(file.path) and not _is_gzip(file.path)
        parts = _cut(file, row_tag, most, chunk) if row_tag is not None and is_plain and file.size > most else []
        cut += [Piece(file, part) for part in parts] if len(parts) > 1 else [Piece(file)]
    return cut


def _cut(file: File, row_tag: str, most: int, chunk: int) -> list[Rows]:
    try:
        with Path(file.path).open("rb") as stream:
            encoding = encoding_of(file.id, stream.read(HEAD))
            if encoding not in (None, "ascii"):
                return []  # offsets in it are not those of the file
            stream.seek(0)
            chunks = decode_chunks(file.id, Chunks(file.id, stream, chunk), encoding)
            return cut_rows(file.id, chunks, row_tag, most, encoding)
    except (OSError, DocumentError):
        return []  # told by who reads it


# -- reading


def read_piece(
    piece: Piece, row_tag: str | None, limits: Limits = _LIMITS, chunk: int = CHUNK
) -> Iterator[Document | DocumentError]:
    """The documents of a piece, one at a time; what cannot be read is an error in its place, and the rest goes on."""
    if row_tag is not None:
        check_row_tag(row_tag)
    file = piece.file
    is_broken = False
    for opened in _open(file):
        if isinstance(opened, DocumentError):
            if not (is_broken and opened.document == file.id):  # else the member that breaks off has told it
                yield opened
            continue
        name, stream = opened
        chunks = _chunks(name, stream, piece.rows, chunk)
        if row_tag is None:
            yield _read_whole(name, chunks, file, limits)
        else:
            yield from _read_rows(name, chunks, row_tag, piece, limits)
        is_broken = chunks.is_broken


def _open(file: File) -> Iterator[tuple[str, BufferedIOBase] | DocumentError]:
    if is_archive(file.path):
        yield from open_members(file.path, file.id)
        return
    try:
        with Path(file.path).open("rb") as stream:
            yield file.id, stream
    except OSError as error:
        yield DocumentError(file.id, 1, 1, 0, reason_of(error))


def _chunks(name: str, stream: BufferedIOBase, rows: Rows | None, chunk: int) -> Chunks:
    if _is_gzip(name):
        return Chunks(name, gzip.GzipFile(fileobj=stream, mode="rb"), chunk)
    if rows is None:
        return Chunks(name, stream, chunk)
    stream.seek(rows.start)
    return Chunks(name, stream, chunk, None if rows.end is None else rows.end - rows.start)


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


def _is_gzip(name: str) -> bool:
    return name.lower().endswith(".gz")
