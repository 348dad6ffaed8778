"""Documents in, their node tables out: those of the latest documents are kept, so that they are not scanned again."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from weft.documents.build import read
from weft.documents.document import Document, Limits
from weft.documents.gather import concatenate, select
from weft.documents.table import NodeTable

_KEPT_BYTES = 1024 * 1024  # of sources; a node table takes several times as much


class Tables:
    """The node tables of the latest batches, as many as their sources are small enough for."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._tables: deque[NodeTable] = deque()
        self._of: dict[int, tuple[NodeTable, int]] = {}  # by identity of the document: its table and place
        self._size = 0

    def keep(self, table: NodeTable) -> None:
        """Remember the documents of a batch, and forget the oldest."""
        self._tables.append(table)
        self._size += _size(table)
        self._of.update((id(document), (table, at)) for at, document in enumerate(table.documents))
        while self._size > _KEPT_BYTES and len(self._tables) > 1:
            oldest = self._tables.popleft()
            self._size -= _size(oldest)
            for document in oldest.documents:
                if self._of[id(document)][0] is oldest:
                    del self._of[id(document)]

    def of(self, documents: Iterable[Document], alone: bool = False) -> tuple[NodeTable, dict[int, int]]:
        """One table that has these documents, perhaps among others, and the place of each in it by its identity.

        Raises DocumentError for one that is no longer kept and cannot be read.
        """
        wanted = {id(document): document for document in documents}
        found: dict[int, tuple[NodeTable, list[int]]] = {}  # by identity of the table: the places in it
        unknown: list[Document] = []
        for key, document in wanted.items():
            if (known := self._of.get(key)) is None:
                unknown.append(document)
            else:
                found.setdefault(id(known[0]), (known[0], []))[1].append(known[1])
        if len(found) == 1 and not unknown and not alone:  # the others in it cost nothing
            table, _ = next(iter(found.values()))
        else:
            parts = [select(table, places) for table, places in found.values()]
            table = concatenate([*parts, *([self._read(unknown)] if unknown else [])])
        return table, {id(document): at for at, document in enumerate(table.documents)}

    def _read(self, documents: list[Document]) -> NodeTable:
        table = read(documents, self._limits)
        if table.rejected:
            raise table.rejected[0]
        return table


def _size(table: NodeTable) -> int:
    return sum(map(len, table.sources))
