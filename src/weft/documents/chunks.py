"""A stream of bytes in; chunks of it out, in UTF-8 if asked for, and a DocumentError where it cannot be read on."""

from __future__ import annotations

import codecs
import lzma
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from io import BufferedIOBase

from weft.errors import DocumentError

CHUNK = 1024 * 1024
#: What the libraries for compressed files and archives raise for bytes that they cannot read.
UNREADABLE: tuple[type[Exception], ...] = (
    *(OSError, EOFError, RuntimeError, ValueError, LookupError),
    *(zlib.error, lzma.LZMAError, struct.error, zipfile.BadZipFile, tarfile.TarError),
)


class Chunks(Iterator[bytes]):
    """The stream in chunks of a size, to its end or for a number of bytes."""

    def __init__(self, name: str, stream: BufferedIOBase, size: int = CHUNK, most: int | None = None) -> None:
        self.is_broken = False  # whether it ended where it could not be read on
        self._name, self._stream, self._size, self._left = name, stream, size, most
        self._reason = ""

    def __next__(self) -> bytes:
        parts: list[bytes] = []
        room = self._size if self._left is None else min(self._size, self._left)
        try:
            while room and not self.is_broken and (part := self._stream.read1(room)):
                parts.append(part)  # what could be read is not lost if the next part cannot
                room -= len(part)
        except UNREADABLE as error:
            self.is_broken, self._reason = True, reason_of(error)
        chunk = b"".join(parts)
        if self._left is not None:
            self._left -= len(chunk)
        if chunk:
            return chunk
        if self.is_broken:
            raise DocumentError(self._name, 1, 1, 0, self._reason)
        raise StopIteration


def reason_of(error: BaseException) -> str:
    """Why something cannot be read, in the words of the system or the library."""
    strerror = error.strerror if isinstance(error, OSError) else None
    return strerror or str(error) or type(error).__name__


def decode_chunks(name: str, chunks: Iterable[bytes], encoding: str | None) -> Iterator[bytes]:
    """Chunks in some encoding as UTF-8; raises DocumentError, once all before it is given, where they are not in it."""
    return iter(chunks) if encoding is None else _decode(name, chunks, encoding)


def _decode(name: str, chunks: Iterable[bytes], encoding: str) -> Iterator[bytes]:
    decoder = codecs.getincrementaldecoder(encoding)()
    for chunk in chunks:
        state = decoder.getstate()
        try:
            text = decoder.decode(chunk)
        except UnicodeDecodeError as error:
            decoder.setstate(state)
            yield decoder.decode(chunk[: max(0, error.start - len(state[0]))]).encode()
            raise DocumentError(name, 1, 1, 0, f"not {encoding}: {error.reason}") from None
        if text:
            yield text.encode()
    try:
        decoder.decode(b"", final=True)
    except UnicodeDecodeError as error:
        raise DocumentError(name, 1, 1, 0, f"not {encoding}: {error.reason}") from None
