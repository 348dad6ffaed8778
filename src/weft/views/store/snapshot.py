"""One version of a store, held while it is read: its manifest, the places of its regions, and the rows of its parts."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from weft.columns.integers import Flags, Longs
from weft.errors import ConfigurationError
from weft.views.nodes import SCHEMA
from weft.views.store.extraction import extract
from weft.views.store.files import read_columns, read_file
from weft.views.store.held import FileMemory
from weft.views.store.manifest import FileEntry, Manifest, PartEntry, StoredSource
from weft.views.store.places import (
    DOCUMENTS_SCHEMA,
    REGIONS_SCHEMA,
    STORED_SCHEMA,
    DocumentEntry,
    RegionPlaces,
    current_rows,
    places_of,
)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A manifest, the folder where its files are, and what is held of them in memory."""

    folder: Path
    manifest: Manifest
    held: FileMemory = field(default_factory=FileMemory)

    def documents(self, source: str) -> tuple[DocumentEntry, ...]:
        """The documents of a source as they were read last."""
        return self.places(source).documents

    def places(self, source: str) -> RegionPlaces:
        """Where the regions of a source's documents are."""
        entry = self.manifest.source_of[source]
        make = partial(_places, self.folder, entry.documents, entry.regions)
        return self.held.get(places_key(entry.documents, entry.regions), make, RegionPlaces.size)

    def stored(self, *parts: PartEntry) -> pa.Table:
        """What the files of parts that have the same ones have of them, by region; what is not current too."""
        for part in parts:
            if part.files is None:
                told = f"part {part.id} of {part.source}: expected it to be stored, found that it is not"
                raise ConfigurationError(told)
        ids = pa.array([part.id for part in parts], pa.string())
        tables = [STORED_SCHEMA.empty_table()]
        for file in parts[0].files or ():
            rows = read_file(self.folder, file, STORED_SCHEMA)
            tables.append(rows if file.own is None else rows.filter(pc.is_in(rows["part"], ids)))
        return pa.concat_tables(tables)

    def regions(self, parts: Iterable[PartEntry]) -> dict[str, Longs]:
        """By part the regions that the rows lie in which its files have."""
        found: dict[str, Longs] = {}
        for part in parts:
            own = [np.zeros(0, np.int64)]
            for file in part.files or ():
                make = partial(_regions_by_part, self.folder, file)
                by_part = self.held.get(regions_key(file), make, size_of_regions)
                own.append(by_part.get(part.id, own[0]))
            found[part.id] = np.concatenate(own)
        return found

    def part_rows(self, part: str, places: RegionPlaces | None = None) -> pa.Table:
        """The current rows of a part (PART_SCHEMA): those of nested nodes without their fragments."""
        entry = self._entry(part)
        return current_rows(self.stored(entry), places or self.places(entry.source))

    def rows(self, parts: Iterable[str], view: str | None = None) -> pa.Table:
        """The nodes of parts (nodes.SCHEMA), or those of a view in them, each once, by source, document and offset."""
        by_source: dict[str, list[PartEntry]] = {}
        for entry in map(self._entry, dict.fromkeys(parts)):
            by_source.setdefault(entry.source, []).append(entry)
        found = [SCHEMA.empty_table()]
        for source in self._in_order(by_source):
            its_parts = by_source[source.name]
            files = tuple((part.id, *(file.name for file in part.files or ())) for part in its_parts)
            key = "rows", view, source.documents.name, source.regions.name, files
            found.append(self.held.get(key, partial(self._rows_at, source.name, its_parts, view), _size_of_rows))
        return pa.concat_tables(found)

    def _in_order(self, names: Collection[str]) -> list[StoredSource]:
        """The sources of these names that are known; of one there is no order to look for."""
        if len(names) > 1:
            return [each for each in self.manifest.sources if each.name in names]
        return [self.manifest.source_of[name] for name in names if name in self.manifest.source_of]

    def _rows_at(self, source: str, parts: list[PartEntry], view: str | None) -> pa.Table:
        places = self.places(source)
        tables = [self._nodes(current_rows(self.stored(*group), places), view) for group in _by_files(parts)]
        return tables[0] if len(tables) == 1 else in_document_order(pa.concat_tables(tables), places)

    def _nodes(self, rows: pa.Table, view: str | None) -> pa.Table:
        return extract(rows, np.ones(rows.num_rows, bool) if view is None else _has_view(rows, view))

    def _entry(self, part: str) -> PartEntry:
        if (entry := self.manifest.part_of.get(part)) is None:
            raise ConfigurationError(f"{self.folder}: expected a part {part}, found none")
        return entry


def _places(folder: Path, documents: FileEntry, regions: FileEntry) -> RegionPlaces:
    return places_of(read_file(folder, documents, DOCUMENTS_SCHEMA), read_file(folder, regions, REGIONS_SCHEMA))


def _regions_by_part(folder: Path, file: FileEntry) -> dict[str, Longs]:
    """By part the regions of the rows that a file has."""
    read = read_columns(folder, file, ["region", "part"])
    region, part = read["region"].to_numpy(), read["part"].combine_chunks().dictionary_encode()
    codes = part.indices.to_numpy()
    return {id: region[codes == code] for code, id in enumerate(part.dictionary.to_pylist())}


def places_key(documents: FileEntry, regions: FileEntry) -> tuple[str, str, str]:
    """What the places in two files are held under."""
    return "places", documents.name, regions.name


def regions_key(file: FileEntry) -> tuple[str, str]:
    """What the regions of a file's parts are held under."""
    return "regions", file.name


def size_of_regions(found: Mapping[str, Longs]) -> int:
    """The bytes that regions of parts take in memory."""
    return sum(each.nbytes for each in found.values())


def _size_of_rows(rows: pa.Table) -> int:
    size: int = rows.nbytes
    return size


def _by_files(parts: Iterable[PartEntry]) -> Iterable[list[PartEntry]]:
    """Parts that have the same files together."""
    groups: dict[tuple[tuple[str, int | None], ...], list[PartEntry]] = {}
    for part in parts:
        groups.setdefault(tuple((file.name, file.group) for file in part.files or ()), []).append(part)
    return groups.values()


def _has_view(rows: pa.Table, view: str) -> Flags:
    views = rows["views"].combine_chunks()
    is_it = pc.equal(pc.list_flatten(views), view).to_numpy(zero_copy_only=False)
    has_view = np.zeros(rows.num_rows, bool)
    has_view[pc.list_parent_indices(views).to_numpy()[is_it]] = True
    return has_view


def in_document_order(rows: pa.Table, places: RegionPlaces) -> pa.Table:
    """Rows of a source in the order of its documents; a node that is there twice is there once, as it comes first."""
    place = {each.id: at for at, each in enumerate(places.documents)}
    encoded = rows["document"].combine_chunks().dictionary_encode()
    of_code = np.array([place[each] for each in encoded.dictionary.to_pylist()], np.int64)
    document = of_code[encoded.indices.to_numpy()] if len(encoded) else np.zeros(0, np.int64)
    offset = rows["offset"].to_numpy()
    order = np.lexsort((offset, document))
    document, offset = document[order], offset[order]
    is_new = np.ones(order.size, bool)
    is_new[1:] = (document[1:] != document[:-1]) | (offset[1:] != offset[:-1])
    return rows.take(order[is_new])
