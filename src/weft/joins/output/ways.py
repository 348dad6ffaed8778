"""Documents and the ways of slots in, the nodes that each way leads to from a node out.

All ways are asked of all documents at once. If that is too much, or fails, each is asked of each document alone, when
somebody wants to know, and what fails there is known from then on: it costs only those who want that.
"""

from __future__ import annotations

from collections.abc import Callable

from weft.columns.integers import Ints
from weft.documents.document import Document
from weft.documents.local import LocalNodes
from weft.documents.table import NodeTable
from weft.engine.engine import Engine
from weft.errors import failure_of
from weft.joins.output.tables import Tables

_MOST = 1 << 20  # nodes that ways may lead to at once
_KEPT = 1 << 22  # nodes that are remembered of documents that are asked alone


class WayError(Exception):
    """Where a way leads in a document cannot be told; what it says is the reason."""


class Ways:
    """What ways find in the documents of a table."""

    def __init__(self, engine: Engine, alone: Callable[[int], Engine], table: NodeTable, tables: Tables) -> None:
        self._alone, self._tables, self._local = alone, tables, LocalNodes(table)
        self._apart: dict[tuple[int, int], dict[int, list[int]] | WayError] = {}  # by document's identity, and way
        self._size = 0
        self._together: dict[tuple[int, int], list[int]] | None = None
        try:
            self._together = _lists(*engine.match(table).edges(_MOST))
        except Exception:
            self._together = None

    def nodes(self, way: int, document: Document, place: int, node: int) -> list[int]:
        """Where a way leads from a node of the document at a place; raises WayError if that cannot be told."""
        if self._together is not None:
            return self._together.get((way, self._local.node(place, node)), [])
        found = self._apart.get((id(document), way))
        if found is None:
            found = self._ask(way, document)
        if isinstance(found, WayError):
            raise found
        return [self._local.node(place, each) for each in found.get(node, [])]

    def _ask(self, way: int, document: Document) -> dict[int, list[int]] | WayError:
        if self._size > _KEPT:
            self._apart = {key: found for key, found in self._apart.items() if isinstance(found, WayError)}
            self._size = 0
        found: dict[int, list[int]] | WayError
        try:
            table = self._tables.of([document], alone=True)[0]
            ways, above, below = self._alone(way).match(table).edges(_MOST)
            local = LocalNodes(table).local
            found = {node: nodes for (_, node), nodes in _lists(ways, local(above), local(below)).items()}
            self._size += below.size
        except Exception as error:
            found = WayError(failure_of(error))
        self._apart[id(document), way] = found
        return found


def _lists(ways: Ints, above: Ints, below: Ints) -> dict[tuple[int, int], list[int]]:
    """The nodes by way and the node above."""
    lists: dict[tuple[int, int], list[int]] = {}
    for way, top, node in zip(ways.tolist(), above.tolist(), below.tolist(), strict=True):
        lists.setdefault((way, top), []).append(node)
    return lists
