"""Where the regions of a source's documents are, and which rows of a part that makes current, at which offsets.

Rows are written once, with the version and the offset that they had then, and the number of the region that they lie
in. What a refresh changes is where regions are: a row counts if its region is among the places, as often as it is, and
its offset moves with the region. So for any reader of the Parquet files the rows of a part, as they are now, are

    SELECT p.document, p.version, r.offset + p.offset - p.written AS offset, r.path, r.value, r.fragment
    FROM rows r JOIN regions p ON r.region = p.region WHERE r.part = '...'
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from weft.columns.integers import Longs, expand
from weft.errors import DocumentError
from weft.views.parts import PART_SCHEMA

#: What the files of parts have; small parts share one.
STORED_SCHEMA = PART_SCHEMA.append(pa.field("region", pa.int64(), nullable=False)).append(
    pa.field("part", pa.string(), nullable=False)
)
DOCUMENTS_SCHEMA = pa.schema(
    [pa.field("id", pa.string(), nullable=False)]
    + [pa.field(name, pa.string()) for name in ("version", "token", "head", "tail", "rejected")]
)
REGIONS_SCHEMA = pa.schema(
    [pa.field("document", pa.string(), nullable=False), pa.field("version", pa.string())]
    + [pa.field(name, pa.int64(), nullable=False) for name in ("digest", "region", "offset", "written")]
)


_ENTRY_BYTES = 600  # of an entry and its texts in memory


@dataclass(frozen=True, slots=True)
class DocumentEntry:
    """A document as it was read; the version is unknown if that was at the source and nothing was selected.

    Head and tail are the digests of what is around its regions, None where it is one region as a whole. A document
    that was rejected has the reason, and no region.
    """

    id: str
    version: str | None
    token: str | None = None
    head: str | None = None
    tail: str | None = None
    rejected: str | None = None

    @property
    def error(self) -> DocumentError | None:
        """Why it was rejected."""
        if self.rejected is None:
            return None
        line, column, offset, reason = self.rejected.split(":", 3)
        return DocumentError(self.id, int(line), int(column), int(offset), reason)


def rejection(error: DocumentError) -> str:
    """An error as an entry keeps it."""
    return f"{error.line}:{error.column}:{error.offset}:{error.reason}"


@dataclass(frozen=True, slots=True)
class RegionPlaces:
    """The documents of a source in their order, and columns of their regions, by document and offset."""

    documents: tuple[DocumentEntry, ...]
    document: Longs  # the place of the region's document
    digest: Longs  # a hash of its bytes; 0 for a document as a whole, which is never found again
    region: Longs  # its number
    offset: Longs  # where it begins
    written: Longs  # where it began when its rows were written

    def tables(self) -> tuple[pa.Table, pa.Table]:
        """As documents and regions."""
        listed = {name: [getattr(each, name) for each in self.documents] for name in DOCUMENTS_SCHEMA.names}
        ids, versions = pa.array(listed["id"], pa.string()), pa.array(listed["version"], pa.string())
        columns = [ids.take(pa.array(self.document)), versions.take(pa.array(self.document))]
        columns += [self.digest, self.region, self.offset, self.written]
        return pa.table(listed, schema=DOCUMENTS_SCHEMA), pa.table(columns, schema=REGIONS_SCHEMA)

    def size(self) -> int:
        """About how many bytes it takes in memory."""
        return 5 * self.region.nbytes + _ENTRY_BYTES * len(self.documents)

    def number_anew(self) -> RegionPlaces:
        """The same with all rows to be written anew: regions have new numbers, and were written where they are."""
        return replace(self, region=np.arange(self.region.size), written=self.offset)


def places_of(documents: pa.Table, regions: pa.Table) -> RegionPlaces:
    """From documents and regions as tables."""
    entries = tuple(DocumentEntry(**row) for row in documents.to_pylist())
    encoded = regions["document"].combine_chunks().dictionary_encode()
    place = {entry.id: at for at, entry in enumerate(entries)}
    of_code = np.array([place[each] for each in encoded.dictionary.to_pylist()], np.int64)
    document = of_code[encoded.indices.to_numpy()] if len(encoded) else np.zeros(0, np.int64)
    numbers = (regions[name].to_numpy() for name in ("digest", "region", "offset", "written"))
    return RegionPlaces(entries, document, *numbers)


def with_regions(rows: pa.Table, places: RegionPlaces) -> pa.Table:
    """Rows of a part (PART_SCHEMA) with the numbers of the regions that they lie in."""
    place = {entry.id: at for at, entry in enumerate(places.documents)}
    encoded = rows["document"].combine_chunks().dictionary_encode()
    of_code = np.array([place[each] for each in encoded.dictionary.to_pylist()], np.int64)
    document = of_code[encoded.indices.to_numpy()] if len(encoded) else np.zeros(0, np.int64)
    offset = rows["offset"].to_numpy()
    width = int(max(offset.max(initial=0), places.offset.max(initial=0))) + 1
    at = np.searchsorted(places.document * width + places.offset, document * width + offset, side="right") - 1
    return rows.append_column(STORED_SCHEMA.field("region"), [pa.array(places.region[at])])


def check_versions(part: str, rows: pa.Table, places: RegionPlaces) -> None:
    """The rows of a part are about the documents as they are told to be: versions are never mixed."""
    versions = {each.id: each.version for each in places.documents if each.rejected is None}
    for row in rows.group_by(["document", "version"]).aggregate([]).to_pylist():
        expected = versions.get(row["document"])
        if expected != row["version"]:
            told = f"expected {row['document']} in version {expected}, found rows of {row['version']}"
            raise ValueError(f"part {part}: {told}")


def current_rows(stored: pa.Table, places: RegionPlaces) -> pa.Table:
    """The current rows (PART_SCHEMA) of a part, given what its files have, by region: in document order."""
    region = stored["region"].to_numpy()
    first = np.searchsorted(region, places.region, side="left")
    which, index = expand(first, np.searchsorted(region, places.region, side="right"))
    if index.size != region.size or (index != np.arange(region.size)).any():
        stored = stored.take(index)
    shift = pa.array((places.offset - places.written)[which])
    document = pa.array(places.document[which])
    columns = {name: stored[name] for name in PART_SCHEMA.names}
    columns["document"] = pa.array([each.id for each in places.documents], pa.string()).take(document)
    columns["version"] = pa.array([each.version for each in places.documents], pa.string()).take(document)
    columns["offset"] = _moved(stored["offset"], shift)
    columns["inside"] = _moved(stored["inside"], shift)
    return pa.table(columns, schema=PART_SCHEMA)


def _moved(offsets: pa.ChunkedArray, shift: pa.Array) -> pa.ChunkedArray:
    return pc.add(offsets, shift)
