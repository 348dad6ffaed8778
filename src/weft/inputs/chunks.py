"""A stream of bytes in; chunks of it out, in UTF-8 if asked for, and a DocumentError where it cannot be read on."""

from __future__ import annotations

import codecs
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from io import BufferedIOBase
from lzma import LZMAError

from weft.errors import DocumentError, failure_of
from weft.inputs.tars import SparseError
from weft.inputs.unpack import ArchiveError

CHUNK = 1024 * 1024
# What is raised on purpose for bytes that cannot be read: its words alone tell enough.
_KNOWN = (
    ArchiveError,
    SparseError,
    OSError,
    EOFError,
    ValueError,
    NotImplementedError,
    zipfile.BadZipFile,
    zlib.error,
    LZMAError,
)


class Chunks(Iterator[bytes]):
    """The stream in chunks of a size, to its end or for a number of bytes; or, `as_it_comes`, in parts of these."""

    def __init__(
        self,
        name: str,
        stream: BufferedIOBase,
        size: int = CHUNK,
        most: int | None = None,
        *,
        as_it_comes: bool = False,
    ) -> None:
        self._as_it_comes = as_it_comes
        self.failure: Exception | None = None  # why it ended where it could not be read on
        self._name, self._stream, self._size, self._left = name, stream, size, most

    def __next__(self) -> bytes:
        parts: list[bytes] = []
        room = self._size if self._left is None else min(self._size, self._left)
        try:
            while room and self.failure is None and (part := self._stream.read1(room)):
                parts.append(part)  # what could be read is not lost if the next part cannot
                room -= len(part)
                if self._as_it_comes:
                    break
        except Exception as error:  # whatever it is, it is this stream's own: the others go on
            self.failure = error
        chunk = b"".join(parts)
        if self._left is not None:
            self._left -= len(chunk)
        if chunk:
            return chunk
        if self.failure is not None:
            raise DocumentError(self._name, 1, 1, 0, reason_of(self.failure))
        raise StopIteration


def reason_of(error: BaseException) -> str:
    """Why something cannot be read, in the words of the system or the library; with its kind where that is no words."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return str(error) if isinstance(error, _KNOWN) and str(error) else failure_of(error)


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
