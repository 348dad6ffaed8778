"""The documents of a source that have changed in; where its regions are now, and the nodes of the new ones, out.

Why that is enough. A region holds whole children of the root, and `is_local` says that nothing selected in a region
depends on more than its bytes and the head. So regions that are found again have the rows that they had, wherever
they stand now. The new ones are read as one small document: head, new regions, tail. The whole document is as
well-formed as this one, if head and tail are as they were: each region begins with `<` where, as far as nothing is
wrong, the parser is right inside the root. The first error of the whole document is not in a region that is found
again, since the parser comes to it as it came to it before. So it is in a new one, which begins in the same state in
the small document, and is found there as well: what a region leaves open meets a `<` next, in both. (Comments, sections
and instructions that are left open have no bounds: such a document is no document with regions.)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from weft.columns.integers import Longs
from weft.documents.document import Document, Limits
from weft.plans.plan import Selection
from weft.views.nodes import SCHEMA, Selected, select
from weft.views.parts import Classes, classify
from weft.views.store.cutting import Cut, cut
from weft.views.store.places import DocumentEntry, RegionPlaces


@dataclass(frozen=True, slots=True)
class _Compared:
    """A document that was read again, and for each region the one among the old places that it is, -1 if it is new."""

    cut: Cut
    old: Longs
    is_excerpt: bool  # what is new can be read without the rest

    def new_regions(self) -> list[int]:
        """The regions that are new."""
        return np.flatnonzero(self.old < 0).tolist()

    def to_read(self) -> bytes:
        """The document that has what is new."""
        return self.cut.excerpt(self.new_regions()) if self.is_excerpt else self.cut.data


class Change:
    """What is new in a source since its regions were placed."""

    def __init__(self, source: str, before: RegionPlaces, views: Mapping[str, Selection], limits: Limits) -> None:
        self._source, self._before, self._views, self._limits = source, before, views, limits
        self._place = {entry.id: at for at, entry in enumerate(before.documents)}
        self._first = np.searchsorted(before.document, np.arange(len(before.documents) + 1))
        self._compared: dict[str, _Compared] = {}
        self._renewed: dict[str, DocumentEntry] = {}  # documents of which only the token is new
        self.bytes_read = 0

    def add(self, document: Document, token: str) -> None:
        """Compare a document that may have changed, or is new, with what it was."""
        found = cut(document, token, tuple(self._views.values()), self._limits)
        place = self._place.get(document.id)
        if place is not None:
            entry, first, end = self._before.documents[place], int(self._first[place]), int(self._first[place + 1])
            if entry.version == found.entry.version:
                self._renewed[document.id] = replace(entry, token=token)
                return
            if found.entry.head is not None and (entry.head, entry.tail) == (found.entry.head, found.entry.tail):
                old = _find(found.digest, self._before.digest[first:end])
                self._compared[document.id] = _Compared(found, np.where(old < 0, -1, old + first), True)
                return
        self._compared[document.id] = _Compared(found, np.full(len(found.digest), -1), False)

    def made(self, order: Sequence[str], next_region: int) -> tuple[RegionPlaces, Classes]:
        """The places of all regions, of documents in this order, and the classes of the nodes in the new regions."""
        rows = self._read([each for each in order if each in self._compared])
        places = self._places(order, next_region)
        return places, classify(self._source, dict(zip(self._views, rows, strict=True)), order)

    def _read(self, documents: Sequence[str]) -> list[pa.Table]:
        """The nodes of the new regions, with their offsets in the documents."""
        found = self._select([each for each in documents if (self._compared[each].old < 0).any()])
        again: list[str] = []
        for error in found.rejected:
            compared = self._compared[error.document]
            if compared.is_excerpt:  # where the error is, the whole document tells
                self._compared[error.document] = replace(compared, old=np.full(compared.old.size, -1), is_excerpt=False)
                again.append(error.document)
            else:
                cut_without = compared.cut.rejected(error)
                self._compared[error.document] = _Compared(cut_without, np.zeros(0, np.int64), False)
        rows = self._moved(found.rows, documents)
        if again:
            rows = [pa.concat_tables(both) for both in zip(rows, self._read(again), strict=True)]
        return rows

    def _select(self, documents: Sequence[str]) -> Selected:
        batch = [Document(self._compared[each].to_read(), id=each) for each in documents]
        self.bytes_read += sum(len(each.data) for each in batch)
        return select(self._source, batch, list(self._views.values()), self._limits)

    def _moved(self, tables: Sequence[pa.Table], documents: Sequence[str]) -> list[pa.Table]:
        """Rows of what was read, with the versions and the offsets of the documents themselves."""
        place = {each: at for at, each in enumerate(documents)}
        starts = [self._starts(self._compared[each]) for each in documents]
        document = np.repeat(np.arange(len(documents)), [read.size for read, _ in starts])
        read = np.concatenate([np.zeros(0, np.int64), *(each for each, _ in starts)])
        shift = np.concatenate([np.zeros(0, np.int64), *(there for _, there in starts)]) - read
        width = max([1, *(len(self._compared[each].cut.data) + 1 for each in documents)])
        keys = document * width + read
        versions = pa.array([self._compared[each].cut.entry.version for each in documents], pa.string())
        moved: list[pa.Table] = []
        for table in tables:
            its_places = np.array([place[each] for each in table["document"].to_pylist()], np.int64)
            offset = table["offset"].to_numpy()
            at = np.searchsorted(keys, its_places * width + offset, side="right") - 1
            columns = {name: table[name] for name in SCHEMA.names}
            columns["version"] = versions.take(pa.array(its_places))
            columns["offset"] = offset + shift[at]
            moved.append(pa.table(columns, schema=SCHEMA))
        return moved

    @staticmethod
    def _starts(compared: _Compared) -> tuple[Longs, Longs]:
        """Where the regions begin that were read: in what was read, and in the document."""
        if not compared.is_excerpt:
            return np.zeros(1, np.int64), np.zeros(1, np.int64)
        bounds, new = compared.cut.bounds, np.flatnonzero(compared.old < 0)
        sizes = bounds[new + 1] - bounds[new]
        return bounds[0] + np.cumsum(sizes) - sizes, bounds[new]

    def _places(self, order: Sequence[str], next_region: int) -> RegionPlaces:
        before = self._before
        entries: list[DocumentEntry] = []
        old: list[Longs] = [np.zeros(0, np.int64)]  # the places among the old ones, -1 for new regions
        offsets: list[Longs] = [np.zeros(0, np.int64)]
        digests: list[Longs] = [np.zeros(0, np.int64)]
        for document in order:
            if (compared := self._compared.get(document)) is not None:
                entries.append(compared.cut.entry)
                old.append(compared.old)
                offsets.append(compared.cut.bounds[:-1])
                digests.append(compared.cut.digest)
                continue
            place = self._place[document]
            first, end = int(self._first[place]), int(self._first[place + 1])
            entries.append(self._renewed.get(document, before.documents[place]))
            old.append(np.arange(first, end))
            offsets.append(before.offset[first:end])
            digests.append(before.digest[first:end])
        places, offset = np.concatenate(old), np.concatenate(offsets)
        is_new = places < 0
        region, written = np.empty(places.size, np.int64), offset.copy()
        region[is_new] = next_region + np.arange(int(is_new.sum()))
        region[~is_new] = before.region[places[~is_new]]
        written[~is_new] = before.written[places[~is_new]]
        document_of = np.repeat(np.arange(len(entries)), [each.size for each in old[1:]])
        return RegionPlaces(tuple(entries), document_of, np.concatenate(digests), region, offset, written)


def _find(wanted: Longs, known: Longs) -> Longs:
    """Where each number is among known ones, -1 if it is not."""
    order = np.argsort(known, kind="stable")
    at = np.minimum(np.searchsorted(known[order], wanted), known.size - 1)
    return np.where(known[order[at]] == wanted, order[at], -1) if known.size else np.full(wanted.size, -1)
