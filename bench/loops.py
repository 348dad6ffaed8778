"""Queries by id in, loops over all of them out: what one does without Weft, by lxml and by pygixml."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from lxml import etree

from bench.measure import Child, timed

FoundIds = Sequence[Sequence[str]]
_TIMEOUT = 120.0  # seconds for one slice of pygixml


class Loop(Protocol):
    """One query after the other, for one document after the other."""

    def time(self, documents: list[bytes]) -> tuple[float, FoundIds]:
        """The seconds for all, parsing included, and for each document the ids that match."""

    def close(self) -> None:
        """Nothing more will be asked."""


class LxmlLoop:
    """`etree.XPath`, compiled once; with its extensions, as by default, every call sets up regular expressions."""

    def __init__(self, queries: dict[str, str], extensions: bool = True) -> None:
        self._compiled = [
            (name, etree.XPath(query, regexp=extensions, smart_strings=extensions)) for name, query in queries.items()
        ]

    def time(self, documents: list[bytes]) -> tuple[float, FoundIds]:
        """Parse and loop, here."""
        return timed(lambda some: [self._match(document) for document in some], documents)

    def close(self) -> None:
        """Let the compiled queries go."""
        self._compiled = []

    def _match(self, document: bytes) -> list[str]:
        tree = etree.fromstring(document)
        return [name for name, path in self._compiled if path(tree)]


class PygixmlLoop:
    """pygixml in a child process, which times itself; raises ChildLostError if it crashed or is not installed."""

    def __init__(self, queries: dict[str, str]) -> None:
        self._child = Child("bench.pygixml_loop", queries)

    def time(self, documents: list[bytes]) -> tuple[float, FoundIds]:
        """Parse and loop, there."""
        seconds, found = self._child.ask(documents, _TIMEOUT)
        return seconds, found

    def close(self) -> None:
        """End the child."""
        self._child.close()


LOOPS: dict[str, Callable[[dict[str, str]], Loop]] = {
    "lxml": LxmlLoop,  # as one writes it
    "lxml_tuned": lambda queries: LxmlLoop(queries, extensions=False),
    "pygixml": PygixmlLoop,
}
