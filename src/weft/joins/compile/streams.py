"""Which streams queries read and publish in, a refusal out where a query would read what comes of its own messages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from weft.errors import ConfigurationError

#: A stream, and the way to it.
_StreamWay = tuple[str, "_StreamWay | None"]


class PublishedStreams:
    """The streams that are published, and those that they are made of."""

    def __init__(self) -> None:
        self._reads: dict[int, tuple[str, frozenset[str]]] = {}  # by query: what it publishes, what it reads
        self._sources: dict[str, Counter[str]] = {}  # by stream: what the queries that publish it read
        self._readers: Counter[str] = Counter()  # how many of all these queries read a stream

    def __bool__(self) -> bool:
        return bool(self._reads)

    def add(self, number: int, publish: str | None, reads: Iterable[str]) -> None:
        """Take in a query; raises ConfigurationError if streams would run in a circle."""
        if publish is None:
            return
        read = frozenset(reads)
        circle = self._circle(publish, read)
        if circle is not None:
            way = " <- ".join(stream or "every stream" for stream in circle)
            raise ConfigurationError(f"PUBLISH {publish}: expected no query to read its own messages, found {way}")
        self._reads[number] = publish, read
        self._sources.setdefault(publish, Counter()).update(read)
        self._readers.update(read)

    def remove(self, number: int) -> None:
        """Let a query go."""
        publish, read = self._reads.pop(number, ("", frozenset()))
        if not publish:
            return
        for counted in (self._sources[publish], self._readers):
            counted.subtract(read)
            for stream in read:
                if not counted[stream]:
                    del counted[stream]
        if not self._sources[publish]:
            del self._sources[publish]

    def _circle(self, publish: str, read: frozenset[str]) -> list[str] | None:
        """The way from a stream back to itself, if there is one."""
        if not self._readers[publish] and publish not in read and "" not in read:
            return None  # a circle would come back through a query that reads the stream
        ways: list[_StreamWay] = [(stream, (publish, None)) for stream in sorted(read)]
        seen: set[str] = set()
        while ways:
            way = ways.pop()
            stream = way[0]
            if stream in ("", publish):  # a block that names no stream reads every one
                return _streams(way)
            if stream not in seen:
                seen.add(stream)
                ways += [(source, way) for source in sorted(self._sources.get(stream, ()))]
        return None


def _streams(way: _StreamWay | None) -> list[str]:
    """The streams of a way, its first one first."""
    streams = []
    while way is not None:
        streams.append(way[0])
        way = way[1]
    return streams[::-1]
