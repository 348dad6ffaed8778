"""A stream of a tar file in; its files out, each with a stream of its bytes. Every header is read once, and leads on.

Python's tarfile goes where headers send it, which may be back; it holds the maps of sparse files, and searches notes
on members in quadratic time. A document needs none of that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from weft.inputs.unpack import ArchiveError, MemberStream, Readable

_BLOCK = 512
_PIECE = 64 * 1024
_LARGEST_NOTE = 1024 * 1024  # bytes: long names and other notes on a member are held
_FILES, _SPARSE = (b"0", b"\0", b"7"), b"S"
_WITHOUT_CONTENT = (b"1", b"2", b"3", b"4", b"5", b"6")  # links, devices, folders and pipes, whatever their size
_LONG_NAME, _NOTES, _OTHER_NOTES = b"L", (b"x", b"X"), (b"K", b"g")


class SparseError(Exception):
    """A member that is written as a file with holes, which no XML document has."""


@dataclass(frozen=True, slots=True)
class _TarHeader:
    name: bytes
    size: int
    kind: bytes
    goes_on: bool  # whether more headers of a sparse file follow


@dataclass(slots=True)
class _Notes:
    """What was said about the next member before its header."""

    name: bytes | None = None
    size: int | None = None
    is_sparse: bool = False


def open_tar(
    source: Readable, skip: Callable[[int], None], most: int, is_wanted: Callable[[str], bool]
) -> Iterator[tuple[str, MemberStream | Exception]]:
    """The files that are wanted, each to be read before the next; raises ArchiveError where it cannot be read on."""
    notes = _Notes()
    for _ in range(most + 1):
        header = _header(_read(source, _BLOCK))
        if header is None:
            return
        if header.kind in (_LONG_NAME, *_NOTES, *_OTHER_NOTES):
            _note(notes, header, _read_note(source, header.size))
            continue
        size = header.size if notes.size is None else notes.size
        name = (notes.name or header.name).decode("utf-8", "surrogateescape")
        is_sparse, notes = notes.is_sparse or header.kind == _SPARSE, _Notes()
        if header.kind in _WITHOUT_CONTENT or (header.kind == b"\0" and name.endswith("/")):
            continue
        while header.kind == _SPARSE and header.goes_on:
            header = _TarHeader(b"", 0, _SPARSE, _read(source, _BLOCK)[504] != 0)
        content = _TarContent(source, size)
        if is_sparse and is_wanted(name):
            yield name, SparseError("a sparse file, which no XML document is")
        elif header.kind in _FILES and is_wanted(name):
            yield name, content
        skip(content.left + -size % _BLOCK)
    raise ArchiveError(f"more than {most} members")


class _TarContent(MemberStream):
    """The bytes of a file; what is wrong with the stream below is wrong with all that follows."""

    def __init__(self, source: Readable, size: int) -> None:
        self._source, self.left = source, size

    def read1(self, size: int = -1, /) -> bytes:
        try:
            data = self._source.read(min(self.left, _PIECE if size < 0 else size))
        except Exception as error:
            raise ArchiveError(str(error)) from error
        if size and self.left and not data:
            raise ArchiveError("unexpected end of data")
        self.left -= len(data)
        return data


# -- headers


def _read(source: Readable, size: int) -> bytes:
    data = b""
    while len(data) < size and (piece := source.read(size - len(data))):
        data += piece
    if len(data) < size:
        raise ArchiveError("unexpected end of data")
    return data


def _header(block: bytes) -> _TarHeader | None:
    """What a header says; None for the end of the archive."""
    if not block.strip(b"\0"):
        return None
    unsigned = sum(block[:148]) + 256 + sum(block[156:])
    signed = unsigned - 256 * sum(1 for byte in block[:148] + block[156:] if byte > 127)  # as some old ones count
    if _number(block[148:156]) not in (unsigned, signed):
        raise ArchiveError("bad checksum")
    name, prefix = (part.split(b"\0", 1)[0] for part in (block[:100], block[345:500]))
    if prefix and block[257:263] == b"ustar\0":
        name = prefix + b"/" + name
    return _TarHeader(name, _size(_number(block[124:136])), block[156:157], block[482] != 0)


def _number(field: bytes) -> int:
    """Octal digits or, where they do not suffice, bytes."""
    if field[0] in (0x80, 0xFF):
        return int.from_bytes(field[1:], "big") - (256 ** (len(field) - 1) if field[0] == 0xFF else 0)
    digits = field.split(b"\0", 1)[0].strip()
    if digits.strip(b"01234567"):
        raise ArchiveError(f"expected a number in a header, found {digits!r}")
    return int(digits or b"0", 8)


def _size(size: int) -> int:
    if size < 0:
        raise ArchiveError(f"a member of {size} bytes")
    return size


# -- notes on a member


def _read_note(source: Readable, size: int) -> bytes:
    if size > _LARGEST_NOTE:
        raise ArchiveError(f"a header of {size} bytes")
    return _read(source, size + -size % _BLOCK)[:size]


def _note(notes: _Notes, header: _TarHeader, content: bytes) -> None:
    if header.kind == _LONG_NAME:
        notes.name = content.split(b"\0", 1)[0]
    elif header.kind in _NOTES:
        for key, value in _records(content):
            if key in (b"path", b"GNU.sparse.name"):
                notes.name = value
            elif key == b"size":
                if not value.isdigit() or len(value) > 20:
                    raise ArchiveError(f"a member of {value[:20].decode('utf-8', 'replace')!r} bytes")
                notes.size = int(value)
            notes.is_sparse |= key.startswith(b"GNU.sparse.")


def _records(content: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Notes of the form `LENGTH KEY=VALUE` and a line's end, as pax writes them."""
    at = 0
    while at < len(content) and content[at]:
        digits, _, _ = content[at : at + 20].partition(b" ")
        end = at + int(digits) if digits.isdigit() else 0
        record = content[at + len(digits) + 1 : end]
        key, equals, value = record.partition(b"=")
        if end > len(content) or not equals or not value.endswith(b"\n"):
            raise ArchiveError("broken notes on a member")
        yield key, value[:-1]
        at = end
