"""A buffer of characters in UTF-8 in, strings out: each is made when it is asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import overload

import numpy as np
from numpy.typing import NDArray

from weft.columns.integers import Longs

Characters = NDArray[np.uint8]


class Strings(Sequence[str]):
    """The strings of a buffer, one behind the other: `starts` tells where each begins, and where the last one ends."""

    def __init__(self, characters: Characters, starts: Longs) -> None:
        data = characters.tobytes()
        # In ASCII a byte is a character, and a slice of one long string costs least.
        self._whole: str | bytes = data.decode() if data.isascii() else data
        self._starts: list[int] = starts.tolist()

    @property
    def is_ascii(self) -> bool:
        """Whether each character is one byte."""
        return isinstance(self._whole, str)

    def __len__(self) -> int:
        return len(self._starts) - 1

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[str, ...]: ...
    def __getitem__(self, at: int | slice) -> str | tuple[str, ...]:
        if isinstance(at, slice):
            return tuple(self[each] for each in range(*at.indices(len(self))))
        at = range(len(self))[at]  # as for a list: from the end if it is negative, IndexError if it is not there
        return self.between(self._starts[at], self._starts[at + 1])

    def __iter__(self) -> Iterator[str]:
        return map(self.between, self._starts, self._starts[1:])

    def joined(self, first: int, last: int) -> str:
        """Some strings that follow each other, as one."""
        return self.between(self._starts[first], self._starts[last])

    def between(self, start: int, end: int) -> str:
        """The characters between two places of the buffer; a character that is cut at the end is left out."""
        part = self._whole[start:end]
        return part if isinstance(part, str) else part.decode("utf-8", "ignore")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and not isinstance(other, str) and tuple(self) == tuple(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Strings({list(self)!r})"
