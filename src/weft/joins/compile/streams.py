"""Which streams queries read and publish in, a refusal out where a query would read what comes of its own messages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from weft.errors import ConfigurationError


class PublishedStreams:
    """The streams that are published, and those that they are made of."""

    def __init__(self) -> None:
        self._reads: dict[int, tuple[str, frozenset[str]]] = {}  # by query: what it publishes, what it reads

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

    def remove(self, number: int) -> None:
        """Let a query go."""
        self._reads.pop(number, None)

    def renumber(self, numbers: Mapping[int, int]) -> None:
        """Queries have new numbers."""
        self._reads = {numbers[number]: read for number, read in self._reads.items()}

    def _circle(self, publish: str, read: frozenset[str]) -> list[str] | None:
        """The way from a stream back to itself, if there is one."""
        made = [*self._reads.values(), (publish, read)]
        ways = [[publish, stream] for stream in sorted(read)]
        seen: set[str] = set()
        while ways:
            way = ways.pop()
            if way[-1] in ("", publish):  # a block that names no stream reads every one
                return way
            if way[-1] not in seen:
                seen.add(way[-1])
                ways += [[*way, stream] for name, streams in made if name == way[-1] for stream in sorted(streams)]
        return None
