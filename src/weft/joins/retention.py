"""Shapes in, whether a document can still be reached by some window out."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from weft.documents.document import Document, is_in_stream
from weft.joins.shapes import Shape
from weft.joins.state import Held, State

#: So many seconds, and then so many documents of these streams; None: for ever.
_Span = tuple[float | None, int, frozenset[str]]


def make_is_over(shapes: Iterable[Shape], state: State, watermark: float) -> Callable[[Held], bool]:
    """The test that a document is out of reach: all windows of the queries that read its stream have passed it."""
    spans: dict[str, set[_Span]] = {}
    for shape in shapes:
        seconds, documents = shape.span
        span = seconds, documents, frozenset(side.stream for side in shape.sides)
        for side in shape.sides:
            spans.setdefault(side.stream, set()).add(span)
    of_stream: dict[str, set[_Span]] = {}

    def reaching(stream: str) -> set[_Span]:
        if stream not in of_stream:
            document = Document("", stream=stream)
            of_stream[stream] = {each for name, some in spans.items() if is_in_stream(document, name) for each in some}
        return of_stream[stream]

    def is_over(one: Held) -> bool:
        for seconds, documents, streams in reaching(one.document.stream):
            if seconds is None or one.timestamp + seconds >= watermark:
                return False
            if any(state.after(stream, one.timestamp + seconds) < documents for stream in streams):
                return False
        return True

    return is_over
