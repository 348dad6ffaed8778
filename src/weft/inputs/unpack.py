"""Compressed bytes in; what they hold out, a piece at a time: however small a bomb is, no more of it is ever made.

Every decompressor is asked for so many bytes at most. All that is unpacked of one file, at any depth, is paid from one
budget, so that neither many small members nor one archive in another go around it.
"""

from __future__ import annotations

import bz2
import lzma
import zlib
from io import BufferedIOBase
from typing import Protocol

_PIECE = 16 * 1024  # bytes that are given to a decompressor at once, and taken from it
_FREE = 16 * 1024 * 1024  # bytes that may be unpacked at any ratio: small files are never refused for it
LARGEST_DICTIONARY = 64 * 1024 * 1024  # bytes that LZMA may look back, and so are held
_GZIP, _RAW = 31, -15  # how zlib is told the format


class ArchiveError(Exception):
    """An archive of which nothing more can be read, because it lies or breaks off; other errors are a member's own."""


class Readable(Protocol):
    """Whatever bytes can be taken from."""

    def read(self, size: int, /) -> bytes: ...


class Decompressor(Protocol):
    """What bz2, lzma and, with `Inflate`, zlib have in common."""

    @property
    def eof(self) -> bool: ...
    @property
    def needs_input(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int) -> bytes: ...


class UnpackingBudget:
    """What may be unpacked of one file: so many times what was read of it."""

    def __init__(self, file: Readable, ratio: int) -> None:
        self._file, self._ratio = file, ratio
        self._taken = self._given = 0

    def read(self, size: int, /) -> bytes:
        """Bytes of the file, which pay for what is unpacked."""
        data = self._file.read(size)
        self._taken += len(data)
        return data

    def spend(self, size: int) -> None:
        """So many bytes have been unpacked; raises ArchiveError if they are too many."""
        self._given += size
        if self._given > _FREE + self._ratio * self._taken:
            raise ArchiveError(f"unpacks to more than {self._ratio} times its size")


class Inflate:
    """zlib's decompressor in the form of the others."""

    def __init__(self, bits: int = _RAW) -> None:
        self._inner = zlib.decompressobj(bits)

    @property
    def eof(self) -> bool:
        return self._inner.eof

    @property
    def needs_input(self) -> bool:
        return not self._inner.unconsumed_tail

    @property
    def unused_data(self) -> bytes:
        return self._inner.unused_data

    def decompress(self, data: bytes, max_length: int) -> bytes:
        return self._inner.decompress(self._inner.unconsumed_tail + data, max_length)


class MemberStream(BufferedIOBase):
    """A stream that is read with `read1`: so are all of this room."""

    def readable(self) -> bool:
        return True

    def read(self, size: int | None = -1, /) -> bytes:
        """At most so many bytes, which may be fewer; none at the end alone."""
        return self.read1(-1 if size is None else size)


class UnpackedStream(MemberStream):
    """What a decompressor makes of a source."""

    def __init__(self, source: Readable, decompressor: Decompressor, budget: UnpackingBudget) -> None:
        self._source, self._decompressor, self._budget = source, decompressor, budget

    def read1(self, size: int = -1, /) -> bytes:
        most = _PIECE if size < 0 else min(size, _PIECE)
        while most and not self._decompressor.eof:
            is_hungry = self._decompressor.needs_input
            piece = self._source.read(_PIECE) if is_hungry else b""
            data = self._decompressor.decompress(piece, most)
            if data:
                self._budget.spend(len(data))
                return data
            if is_hungry and not piece:
                break
        return b""


class Gunzipped(UnpackedStream):
    """What is in a gzip file, which may be several, one behind the other, and zeros."""

    def __init__(self, source: Readable, budget: UnpackingBudget) -> None:
        super().__init__(source, Inflate(_GZIP), budget)
        self._rest = b""  # bytes that were read before the decompressor was there
        self._is_begun = self._is_done = False

    def read1(self, size: int = -1, /) -> bytes:
        while size and not self._is_done:
            if self._is_begun:
                if data := self._feed(size) or super().read1(size):
                    return data
                if not self._decompressor.eof:
                    raise EOFError("ended before the end of what is compressed in it")
            self._begin_next()
        return b""

    def _feed(self, size: int) -> bytes:
        rest, self._rest = self._rest, b""
        data = self._decompressor.decompress(rest, _PIECE if size < 0 else min(size, _PIECE)) if rest else b""
        self._budget.spend(len(data))
        return data

    def _begin_next(self) -> None:
        rest = self._decompressor.unused_data.lstrip(b"\0")
        while not rest and (piece := self._source.read(_PIECE)):
            rest = piece.lstrip(b"\0")
        self._is_begun, self._is_done = True, not rest  # an empty file holds nothing, and is whole
        self._decompressor, self._rest = Inflate(_GZIP), rest


def zip_decompressor(method: int, source: Readable, size: int) -> Decompressor | None:
    """The decompressor of a member of a zip file that has so many bytes; None for one that is stored as it is."""
    match method:
        case 0:
            return None
        case 8:
            return Inflate()
        case 12:
            return bz2.BZ2Decompressor()
        case 14:
            return _lzma_decompressor(source, size)
    raise ValueError(f"compression method {method} is not supported")


def _lzma_decompressor(source: Readable, size: int) -> Decompressor:
    """LZMA as zip files have it: a version, the length of the properties, and these."""
    head = source.read(9)
    if len(head) < 9 or head[2:4] != b"\5\0":
        raise ValueError("unknown LZMA properties")
    # Nobody looks back further than to the first byte: a dictionary need not be larger than the member.
    dictionary = min(int.from_bytes(head[5:9], "little"), max(size, 4096))
    if dictionary > LARGEST_DICTIONARY:
        raise ValueError(f"an LZMA dictionary of {dictionary} bytes, more than {LARGEST_DICTIONARY}")
    rest, lc = divmod(head[4], 9)
    pb, lp = divmod(rest, 5)
    filters = [{"id": lzma.FILTER_LZMA1, "dict_size": dictionary, "lc": lc, "lp": lp, "pb": pb}]
    return lzma.LZMADecompressor(lzma.FORMAT_RAW, filters=filters)
