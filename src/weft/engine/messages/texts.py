"""Sources of texts in, the text of each row out: made when somebody reads it, and once for all rows that have it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Protocol, overload

import numpy as np

from weft.columns.integers import Ints, Longs
from weft.kernel.stretches import Stretches

_WIDEST = 4  # bytes of a character
_AT_ONCE = 4_096  # rows whose texts are made together, where all are read
_FEW, _MANY = 8, 256  # where rows are read one by one: first so many, then twice as many, and so on
_HELD = 1 << 18  # bytes of texts that are made before they are read
_KEPT = 1 << 24  # bytes of texts that are kept, because others may want them too


class TextSource(Protocol):
    """Texts by number, made when they are read."""

    def strings(self, numbers: Ints) -> list[str]:
        """Some of them."""

    def joined(self, numbers: Ints) -> tuple[bytes | bytearray, Longs]:
        """Some of them in UTF-8, one behind the other, and where each ends."""

    def sizes(self, numbers: Ints) -> Longs:
        """No fewer bytes than each of these has, known before they are made."""


class ListedTexts:
    """Texts that are there already."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = texts

    def strings(self, numbers: Ints) -> list[str]:
        """Some of them."""
        return [self._texts[number] for number in numbers.tolist()]

    def joined(self, numbers: Ints) -> tuple[bytes, Longs]:
        """Some of them in UTF-8, one behind the other, and where each ends."""
        return together([text.encode("utf-8", "surrogatepass") for text in self.strings(numbers)])

    def sizes(self, numbers: Ints) -> Longs:
        """No fewer bytes than each of these has."""
        return np.array([_WIDEST * len(self._texts[number]) for number in numbers.tolist()], np.int64)


class TextStretch:
    """The texts of some rows that stand together, made when somebody reads them."""

    def __init__(self, texts: Texts, start: int, end: int) -> None:
        self._texts, self._start, self._end = texts, start, end

    def __iter__(self) -> Iterator[str]:
        return map(self._texts.text, range(self._start, self._end))


class Texts(Sequence[str]):
    """The texts of rows."""

    def __init__(self, sources: Sequence[TextSource], source: Ints, number: Ints) -> None:
        """`source` has for each row the place of its source, `number` the number of its text there."""
        self._sources, self._source, self._number = sources, source, number
        self._made: tuple[int, list[str]] = (0, [])  # the texts of some rows, from one on
        self._known: dict[tuple[int, int], str] = {}  # by source and number
        self._kept_size = 0

    @classmethod
    def of(cls, source: TextSource, number: Ints) -> Texts:
        """Rows that have one source."""
        return cls([source], np.zeros(number.size, np.int32), number)

    @classmethod
    def together(cls, parts: Sequence[Texts]) -> Texts:
        """The rows of several, one part behind the other."""
        if len(parts) == 1:
            return parts[0]
        none, before, source = np.zeros(0, np.int32), 0, []
        for part in parts:
            source.append(part._source + np.int32(before))
            before += len(part._sources)
        sources = [each for part in parts for each in part._sources]
        return cls(sources, np.concatenate([none, *source]), np.concatenate([none, *(each._number for each in parts)]))

    def take(self, rows: Longs | Ints) -> Texts:
        """Some rows, in this order."""
        return Texts(self._sources, self._source[rows], self._number[rows])

    def stretch(self, start: int, end: int) -> TextStretch:
        """Some rows that stand together."""
        return TextStretch(self, start, end)

    # -- many at once

    def sizes(self, start: int, end: int) -> Longs:
        """No fewer bytes than each of a stretch of rows has, known before any is made."""
        sizes = np.zeros(end - start, np.int64)
        for each, rows, number in self._by_source(start, end):
            sizes[rows] = self._sources[each].sizes(number)
        return sizes

    def joined(self, start: int, end: int) -> tuple[bytes | bytearray, Longs]:
        """A stretch of rows in UTF-8, one behind the other, and where each ends."""
        parts = [(rows, *self._sources[each].joined(number)) for each, rows, number in self._by_source(start, end)]
        if len(parts) == 1:
            return parts[0][1:]
        part = np.zeros(end - start, np.int32)
        begin, behind = np.zeros(end - start, np.int64), np.zeros(end - start, np.int64)
        for at, (rows, _, ends) in enumerate(parts):
            part[rows], begin[rows[1:]], behind[rows] = at, ends[:-1], ends
        nothing = np.zeros(end - start, np.int32), begin
        made = Stretches([bytes(data) for _, data, _ in parts], (part, begin, behind), nothing, [b""])
        return made.joined(np.arange(end - start, dtype=np.int32))

    def __iter__(self) -> Iterator[str]:
        for start in range(0, len(self), _AT_ONCE):
            end = min(start + _AT_ONCE, len(self))
            texts = np.empty(end - start, object)
            for each, rows, number in self._by_source(start, end):
                distinct, place = np.unique(number, return_inverse=True)
                made = np.empty(distinct.size, object)
                made[:] = self._sources[each].strings(distinct)
                texts[rows] = made[place]
            yield from texts.tolist()

    def _by_source(self, start: int, end: int) -> Iterator[tuple[int, Longs, Ints]]:
        """For each source of a stretch of rows which of these are its, and the numbers of their texts there."""
        source, number = self._source[start:end], self._number[start:end]
        for each in np.unique(source).tolist():
            rows = np.flatnonzero(source == each)
            yield each, rows, number[rows]

    # -- one by one

    def __len__(self) -> int:
        return int(self._number.size)

    def text(self, row: int) -> str:
        """The text of a row. Those behind it are made with it, more and more of them as long as they are read."""
        start, made = self._made
        if not start <= row < start + len(made):
            is_next = row == start + len(made)
            start, made = self._made = row, self._texts_from(row, min(2 * len(made), _MANY) if is_next else 0)
        return made[row - start]

    def _texts_from(self, row: int, most: int) -> list[str]:
        """The texts of some rows; those that others want as well are made once, as far as they can be kept."""
        end = min(row + max(most, _FEW), len(self))
        end = row + max(int(np.searchsorted(np.cumsum(self.sizes(row, end)), _HELD, "right")), 1)
        keys = list(zip(self._source[row:end].tolist(), self._number[row:end].tolist(), strict=True))
        kept = self._known  # only ever grows: other threads may read here too
        found = {key: kept[key] for key in keys if key in kept}
        missing = sorted({key for key in keys if key not in found})
        for source, some in groupby(missing, itemgetter(0)):
            numbers = [number for _, number in some]
            made = self._sources[source].strings(np.array(numbers, np.int32))
            found |= {(source, number): text for number, text in zip(numbers, made, strict=True)}
            self._kept_size += sum(map(len, made))
        if self._kept_size > _KEPT:
            self._known, self._kept_size = dict(found), sum(map(len, found.values()))
        else:
            kept.update(found)
        return [found[key] for key in keys]

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> list[str]: ...
    def __getitem__(self, at: int | slice) -> str | list[str]:
        if isinstance(at, slice):
            return list(self.take(np.arange(len(self))[at]))
        return self.text(range(len(self))[at])


def together(texts: list[bytes]) -> tuple[bytes, Longs]:
    """Texts one behind the other, and where each ends."""
    ends: Longs = np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)))
    return b"".join(texts), ends
