"""Shapes in, whether a document can still be reached by some window out."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from weft.documents.document import Document, is_in_stream
from weft.documents.moment import END, START
from weft.joins.compile.shapes import Hop, Shape
from weft.joins.match.state import Held, State

_ENDLESS = END - START


def make_is_over(shapes: Iterable[Shape], state: State, watermark: int) -> Callable[[Held], bool]:
    """The test that a document is out of reach: nothing that is still to come can be in a match with it."""
    ways: dict[str, set[tuple[Hop, ...]]] = {}
    for shape in shapes:
        for stream, way in shape.ways():
            ways.setdefault(stream, set()).add(way)
    known: dict[str, tuple[int, list[tuple[Hop, ...]]]] = {}

    def reaching(stream: str) -> tuple[int, list[tuple[Hop, ...]]]:
        """The most time that windows in time reach from a stream's documents, and the ways of other windows."""
        if stream not in known:
            document = Document("", stream=stream)
            some = {way for name, of_stream in ways.items() if is_in_stream(document, name) for way in of_stream}
            counted = [way for way in some if any(window.documents is not None for window, _ in way)]
            known[stream] = max((_length(way) for way in some.difference(counted)), default=-_ENDLESS), counted
        return known[stream]

    def is_over(one: Held) -> bool:
        length, counted = reaching(one.document.stream)
        if one.timestamp + length >= watermark:
            return False
        return all(_end(way, one.timestamp, state) < watermark for way in counted)

    return is_over


def _length(way: tuple[Hop, ...]) -> int:
    return sum(_ENDLESS if window.nanoseconds is None else window.nanoseconds for window, _ in way)


def _end(way: tuple[Hop, ...], timestamp: int, state: State) -> int:
    """The latest moment that a way can lead to: each window goes on from where the one before can end at the latest."""
    for window, stream in way:
        if window.nanoseconds is not None:
            timestamp += window.nanoseconds
        elif window.documents is None:
            return END
        else:
            last = state.history.later(stream, timestamp, window.documents)
            if last is None:
                return END
            timestamp = last[1]
    return timestamp
