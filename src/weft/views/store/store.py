"""Materialized views on disk: versions of a manifest, and the Parquet files that it names, in one folder.

A version is there as a whole or not at all: its files are written first, the sealed manifest last. One process writes
at a time. Readers hold the manifest that they read; the writer removes files that neither the newest two manifests
nor any manifest that is held has a use for, which clears up after writers that were killed too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from threading import RLock

import pyarrow as pa

from weft.durable import read_sealed, sync_files, write_sealed
from weft.errors import ConfigurationError
from weft.views.store.files import read_file, write_file
from weft.views.store.held import HELD_BYTES, FileMemory
from weft.views.store.locks import StoreBusyError, exclusive, remove_unused, shared
from weft.views.store.manifest import (
    SEAL,
    FileEntry,
    Manifest,
    PartEntry,
    PieceEntry,
    StoredSource,
    ViewEntry,
    read_manifest,
    write_manifest,
)
from weft.views.store.places import (
    DOCUMENTS_SCHEMA,
    REGIONS_SCHEMA,
    STORED_SCHEMA,
    RegionPlaces,
    check_versions,
    with_regions,
)
from weft.views.store.pools import entries_of, pooled, pools
from weft.views.store.snapshot import Snapshot, places_key, regions_key, size_of_regions

_SUFFIX = ".manifest"
_MOST_KNOWN = 4  # manifests in memory
_IN_A_CHANGE = 4  # times as large are what shares a row group there: many of them take longer to write than to read
WAIT = 10.0  # seconds for which another writer is waited for


@dataclass(frozen=True, slots=True)
class PartRows:
    """A part that is to be stored, with its rows (see weft.views.parts); without them it is to be known only."""

    id: str
    source: str
    signature: tuple[str, ...]
    rows: pa.Table | None
    definition: str = ""
    pieces: tuple[PieceEntry, ...] | None = None


@dataclass(frozen=True, slots=True)
class SourceState:
    """A source as it was when its parts were read, with the places of its regions."""

    name: str
    location: str
    refreshed: float
    places: RegionPlaces


class Store:
    """The folder of a store; it need not be there yet."""

    def __init__(self, folder: Path, held_bytes: int = HELD_BYTES) -> None:
        if folder.exists() and not folder.is_dir():
            raise ConfigurationError(f"{folder}: expected the folder of a query server, found a file")
        self.folder = folder
        self._held = FileMemory(held_bytes)
        self._files = folder / "files"
        self._lock = RLock()
        self._known: dict[tuple[object, ...], Manifest] = {}  # by what tells that a manifest's file is the same
        self._writers = 0  # how often the thread that has the lock is inside `writing`
        self._unsynced: list[Path] = []  # files of the version that is being written

    # -- reading

    @contextmanager
    def reading(self) -> Iterator[Snapshot]:
        """Hold the newest version: nothing that it needs is removed meanwhile."""
        with ExitStack() as held:
            yield self._hold(held)

    def _hold(self, held: ExitStack) -> Snapshot:
        while numbers := self._numbers():
            file = self._manifest_file(numbers[-1])
            try:
                if held.enter_context(shared(file)):
                    return Snapshot(self._files, self._read(file), self._held)
            except FileNotFoundError:
                continue  # it was removed, so there is a newer one
        return Snapshot(self._files, Manifest(0, 0.0, None))

    def _read(self, file: Path) -> Manifest:
        """A manifest; those that were read last are still known, for as long as their files are the same."""
        status = file.stat()
        key = file.name, status.st_ino, status.st_mtime_ns, status.st_size
        if (found := self._known.get(key)) is None:
            found = read_manifest(read_sealed(file, SEAL))
            self._known = {**dict(list(self._known.items())[1 - _MOST_KNOWN :]), key: found}
        return found

    def manifest(self) -> Manifest:
        """The newest version; an empty one if nothing was stored yet."""
        with self.reading() as snapshot:
            return snapshot.manifest

    def rows(self, parts: Sequence[str], view: str | None = None) -> pa.Table:
        """The nodes of parts, or those of a view in them (see Snapshot.rows)."""
        with self.reading() as snapshot:
            return snapshot.rows(parts, view)

    def check(self) -> list[str]:
        """What is wrong with the files of the newest version: one text for each that is damaged."""
        problems: list[str] = []
        with self.reading() as snapshot:
            manifest = snapshot.manifest
            schemas = {source.documents.name: DOCUMENTS_SCHEMA for source in manifest.sources}
            schemas |= {source.regions.name: REGIONS_SCHEMA for source in manifest.sources}
            for file in manifest.files():
                try:
                    read_file(self._files, file, schemas.get(file.name, STORED_SCHEMA))
                except ConfigurationError as error:
                    problems.append(str(error))
        return problems

    # -- writing

    @contextmanager
    def writing(self, wait: float = WAIT) -> Iterator[None]:
        """Be the only one who writes; raises StoreBusyError if another does so for longer than `wait` seconds."""
        if not self._lock.acquire(timeout=wait):
            raise StoreBusyError(str(self.folder), "another thread of this process", wait)
        try:
            with nullcontext() if self._writers else exclusive(self.folder / "lock", wait):
                self._writers += 1
                try:
                    yield
                finally:
                    self._writers -= 1
        finally:
            self._lock.release()

    def replace(
        self,
        views: Sequence[ViewEntry],
        parts: Sequence[PartRows | PartEntry],
        sources: Sequence[SourceState | StoredSource],
        now: float,
        budget: int | None = None,
    ) -> Manifest:
        """Swap in a new version. What is given as an entry of the newest version stays as it is."""
        unknown = {part for view in views for part in view.requires} - {part.id for part in parts}
        if unknown:
            raise ValueError(f"views require parts that are not given: {', '.join(sorted(unknown))}")
        with self.writing():
            places = {each.name: each.places.number_anew() for each in sources if isinstance(each, SourceState)}
            written = self._write_parts([part for part in parts if isinstance(part, PartRows)], places)
            kept = tuple(part if isinstance(part, PartEntry) else written[part.id] for part in parts)
            named = tuple(
                each
                if isinstance(each, StoredSource)
                else self.write_source(each.name, each.location, each.refreshed, places[each.name])
                for each in sources
            )
            return self.swap(Manifest(0, now, budget, tuple(views), kept, named))

    def write_rows(self, parts: Mapping[str, pa.Table]) -> dict[str, FileEntry]:
        """Write rows of parts of one source, with their regions, for a version that is to be swapped in."""
        found: dict[str, FileEntry] = {}
        for pool in pools(parts):
            name, rows = "parts" if len(pool) > 1 else next(iter(pool)), pooled(pool, STORED_SCHEMA.field("part"))
            found |= entries_of(self._write(name, [rows]), [pool])
        return found

    def write_change(self, parts: Mapping[str, pa.Table]) -> dict[str, FileEntry]:
        """The same for rows that a refresh has found: all in one file, with row groups that are read by themselves."""
        groups = list(pools(parts, _IN_A_CHANGE))
        if not groups:
            return {}
        file = self._write("change", [pooled(pool, STORED_SCHEMA.field("part")) for pool in groups])
        regions = {part: rows["region"].to_numpy() for part, rows in parts.items()}
        self._held.put(regions_key(file), regions, size_of_regions(regions))
        return entries_of(file, groups, in_groups=True)

    def write_source(
        self, name: str, location: str, refreshed: float, places: RegionPlaces, next_region: int = 0
    ) -> StoredSource:
        """Write the places of a source for a version that is to be swapped in.

        `next_region` is above all numbers that regions have had: files may still have rows of those that are gone.
        """
        tables = dict(zip(("documents", "regions"), places.tables(), strict=True))
        documents, regions = (self._write(each, [table]) for each, table in tables.items())
        self._held.put(places_key(documents, regions), places, places.size())
        least = int(places.region.max(initial=-1)) + 1
        return StoredSource(name, location, refreshed, documents, regions, max(next_region, least))

    def swap(self, manifest: Manifest) -> Manifest:
        """Make this the newest version, under the next number, and remove what nobody needs any more."""
        assert self._writers, "only inside `writing`"
        needed = {file.name for file in manifest.files()}
        sync_files([file for file in dict.fromkeys(self._unsynced) if file.name in needed])
        self._unsynced = []
        numbers = self._numbers()
        manifest = replace(manifest, number=(numbers[-1] if numbers else 0) + 1)
        write_sealed(self._manifest_file(manifest.number), SEAL, write_manifest(manifest))
        self._clear()
        return manifest

    def _write(self, name: str, groups: Sequence[pa.Table]) -> FileEntry:
        entry = write_file(self._files, name, groups)
        self._unsynced.append(self._files / entry.name)
        return entry

    def _write_parts(self, parts: Sequence[PartRows], places: Mapping[str, RegionPlaces]) -> dict[str, PartEntry]:
        """By id the entries of parts, those with rows written."""
        files: dict[str, FileEntry] = {}
        for source, its_places in places.items():
            rows = {part.id: part.rows for part in parts if part.source == source and part.rows is not None}
            for id, each in rows.items():
                check_versions(id, each, its_places)
            files |= self.write_rows({part: with_regions(each, its_places) for part, each in rows.items()})
        found = {}
        for part in parts:
            entry = PartEntry(part.id, part.source, tuple(sorted(part.signature)), part.definition, pieces=part.pieces)
            if part.rows is not None:
                entry = replace(entry, rows=part.rows.num_rows, files=(files[part.id],))
            found[part.id] = entry
        return found

    def _clear(self) -> None:
        """Remove old manifests that nobody holds, and files that none of those left names."""
        for number in self._numbers()[:-2]:
            remove_unused(self._manifest_file(number))
        needed: set[str] = set()
        for number in self._numbers():
            try:
                needed |= {file.name for file in self._read(self._manifest_file(number)).files()}
            except ConfigurationError:
                continue  # an old one that is damaged: nobody can read it
        for file in [*self._files.glob("*"), *self.folder.glob(f"*{_SUFFIX}.part")]:
            if file.name not in needed:
                file.unlink()

    def _numbers(self) -> list[int]:
        found = (file.name.removesuffix(_SUFFIX) for file in self.folder.glob(f"*{_SUFFIX}"))
        return sorted(int(name) for name in found if name.isascii() and name.isdigit())

    def _manifest_file(self, number: int) -> Path:
        return self.folder / f"{number:08d}{_SUFFIX}"
