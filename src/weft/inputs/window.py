"""The chunks of a large file in; a window that moves over it out, which knows the line and column of its places."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from weft.errors import DocumentError

_BEHIND = 64  # bytes that stay behind the place: a parser that has them already may still find fault with them
_CONTINUATION = bytes(range(0x80, 0xC0))  # the bytes of UTF-8 that are not the first of a character


class FileWindow:
    """`data[at]` is the place that has been reached; `data[0]` lies at the offset `base` of the file."""

    def __init__(self, name: str, chunks: Iterable[bytes], place: tuple[int, int, int] = (0, 1, 1)) -> None:
        self.data = bytearray()
        self.at = 0
        self.kept: int | None = None  # a position from which on everything is kept
        self.base, self._line, self._column = place
        self._mark = 0  # the position that line and column are of
        self.name, self._chunks = name, iter(chunks)

    @property
    def offset(self) -> int:
        """The place as an offset of the file."""
        return self.base + self.at

    def grow(self) -> bool:
        """Take in the next chunk, and drop what is not needed any more; False if there is none."""
        try:
            chunk = next(self._chunks, b"")
        except DocumentError as error:
            raise self.error(len(self.data), error.reason) from None
        if not chunk:
            return False
        dropped = max(0, self.at - _BEHIND) if self.kept is None else self.kept
        self._move_mark(dropped)
        del self.data[:dropped]
        self.base += dropped
        self.at -= dropped
        self._mark -= dropped
        if self.kept is not None:
            self.kept = 0
        self.data += chunk
        return True

    def place(self, position: int) -> tuple[int, int, int]:
        """Offset, line and column of a position; places are asked for from the first to the last."""
        position = max(position, self._mark)
        self._move_mark(position)
        return self.base + position, self._line, self._column

    def error(self, position: int, reason: str, name: str | None = None) -> DocumentError:
        """What is wrong at a position, with the file or with the row of that name."""
        offset, line, column = self.place(position)
        return DocumentError(name or self.name, line, column, offset, reason)

    def _move_mark(self, to: int) -> None:
        if to <= self._mark:
            return
        last = self.data.rfind(b"\n", self._mark, to)
        if last >= 0:
            passed = np.frombuffer(self.data, np.uint8, to - self._mark, self._mark)
            self._line += int(np.count_nonzero(passed == ord("\n")))  # several times faster than bytes.count
            del passed  # the window could not grow
            self._mark, self._column = last + 1, 1
        self._column += len(self.data[self._mark : to].translate(None, _CONTINUATION))
        self._mark = to
