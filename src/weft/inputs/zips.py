"""A zip file in; its members out, each with a stream of its bytes, or what is wrong with it."""

from __future__ import annotations

import stat
import zipfile
from collections.abc import Callable, Iterator
from io import BufferedReader, RawIOBase
from itertools import pairwise
from typing import BinaryIO, cast
from zlib import crc32

from weft.inputs.unpack import ArchiveError, MemberStream, Readable, UnpackedStream, UnpackingBudget, zip_decompressor

_ENTRY = b"PK\x01\x02"
_HEADER = 30  # bytes of a member's own header, without its name
_LARGEST_DIRECTORY = 64 * 1024 * 1024  # bytes
_ENCRYPTED, _UTF8 = 0x1, 0x800  # flags


def open_zip(
    file: BinaryIO, most: int, ratio: int, is_wanted: Callable[[str], bool]
) -> Iterator[tuple[str, MemberStream | Exception, UnpackingBudget]]:
    """The members that are wanted, to be read one after the other; raises where the archive lies or is none."""
    archive = zipfile.ZipFile(_Directory(cast(RawIOBase, file), most))
    members = archive.infolist()
    _check_places(members, archive.start_dir)
    budget = UnpackingBudget(file, ratio)
    for member in members:
        kind = stat.S_IFMT(member.external_attr >> 16)  # 0: written where files have no kinds
        if kind in (0, stat.S_IFREG) and is_wanted(member.filename):
            try:
                stream: MemberStream | Exception = _Member(file, member, budget)
            except ArchiveError:
                raise
            except Exception as error:  # of this member alone: others are found without it
                stream = error
            yield member.filename, stream, budget


class _Directory(BufferedReader):
    """A file of which only the directory is read: zipfile would hold one of any size and number of members."""

    def __init__(self, file: RawIOBase, most: int) -> None:
        super().__init__(file)
        self._most = most

    def read(self, size: int | None = -1, /) -> bytes:
        if size is not None and size > _LARGEST_DIRECTORY:
            raise ArchiveError(f"a directory of more than {_LARGEST_DIRECTORY} bytes")
        data = super().read(size)
        if data.count(_ENTRY) > self._most:
            raise ArchiveError(f"more than {self._most} members")
        return data

    def close(self) -> None:
        """The file is not its own."""


def _check_places(members: list[zipfile.ZipInfo], end: int) -> None:
    """Members that share bytes would be unpacked again and again; of those behind the directory there are none."""
    places = sorted((member.header_offset, _HEADER + member.compress_size) for member in members)
    for (start, size), (next_start, _) in pairwise([*places, (end, 0)]):
        if start < 0 or start + size > next_start:
            raise ArchiveError(f"members overlap at byte {max(0, next_start)}")


class _Member(MemberStream):
    """The bytes of a member; it has as many as the directory declares, with that checksum."""

    def __init__(self, file: BinaryIO, member: zipfile.ZipInfo, budget: UnpackingBudget) -> None:
        self._left, self._expected, self._checksum = member.file_size, member.CRC, 0
        if member.flag_bits & _ENCRYPTED:
            raise ValueError("encrypted")
        _seek_content(file, member)
        source = _ZipPart(budget, member.compress_size)
        decompressor = zip_decompressor(member.compress_type, source, member.file_size)
        self._content: MemberStream = source if decompressor is None else UnpackedStream(source, decompressor, budget)

    def read1(self, size: int = -1, /) -> bytes:
        # One byte more than there should be, to see whether there are more.
        data = self._content.read1(self._left + 1 if size < 0 else min(size, self._left + 1))
        self._left -= len(data)
        self._checksum = crc32(data, self._checksum)
        if self._left < 0 or (size and not data and self._left):
            raise ArchiveError(f"{'more' if self._left < 0 else 'fewer'} bytes than its directory declares")
        if size and not data and self._checksum != self._expected:
            raise ValueError("bad CRC-32")
        return data


class _ZipPart(MemberStream):
    """So many bytes of a source from here on."""

    def __init__(self, source: Readable, size: int) -> None:
        self._source, self._left = source, size

    def read1(self, size: int = -1, /) -> bytes:
        data = self._source.read(self._left if size < 0 else min(size, self._left))
        if not data and size and self._left:
            raise ArchiveError("unexpected end of data")  # the file has become shorter
        self._left -= len(data)
        return data


def _seek_content(file: BinaryIO, member: zipfile.ZipInfo) -> None:
    """Go to where a member's bytes begin, behind its own header, which must say what the directory says."""
    file.seek(member.header_offset)
    header = file.read(_HEADER)
    if len(header) < _HEADER or not header.startswith(b"PK\x03\x04"):
        raise ArchiveError(f"no member at byte {member.header_offset}")
    flags, name_size, more = (int.from_bytes(header[at : at + 2], "little") for at in (6, 26, 28))
    name = file.read(name_size)
    if name.decode("utf-8" if flags & _UTF8 else "cp437", "replace") != member.orig_filename:
        raise ArchiveError(f"another name in the directory than at byte {member.header_offset}")
    file.seek(more, 1)
