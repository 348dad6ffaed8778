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
from weft.views.store.locks import StoreBusyError, exclusive, remove_unused, shared
from weft.views.store.manifest import (
    SEAL,
    FileEntry,
    Manifest,
    PartEntry,
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
from weft.views.store.pools import pooled, pools
from weft.views.store.snapshot import Snapshot

_SUFFIX = ".manifest"
WAIT = 10.0  # seconds for which another writer is waited for


@dataclass(frozen=True, slots=True)
class PartRows:
    """A part that is to be stored, with its rows (see weft.views.parts); without them it is to be known only."""

    id: str
    source: str
    signature: tuple[str, ...]
    rows: pa.Table | None
    definition: str = ""


@dataclass(frozen=True, slots=True)
class SourceState:
    """A source as it was when its parts were read, with the places of its regions."""

    name: str
    location: str
    refreshed: float
    places: RegionPlaces


class Store:
    """The folder of a store; it need not be there yet."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._files = folder / "files"
        self._lock = RLock()
        self._known: tuple[tuple[object, ...], Manifest] | None = None
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
                    return Snapshot(self._files, self._read(file))
            except FileNotFoundError:
                continue  # it was removed, so there is a newer one
        return Snapshot(self._files, Manifest(0, 0.0, None))

    def _read(self, file: Path) -> Manifest:
        """A manifest; the one that was read last is still known, for as long as its file is the same."""
        status = file.stat()
        key = file.name, status.st_ino, status.st_mtime_ns, status.st_size
        known = self._known
        if known is None or known[0] != key:
            known = self._known = key, read_manifest(read_sealed(file, SEAL))
        return known[1]

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

    def drop(self, view: str, now: float) -> Manifest:
        """Drop a view, and the parts that no other view requires."""
        with self.writing():
            manifest = self.manifest()
            known = [each.name for each in manifest.views if each.is_kept]
            if view not in known:
                told = f"one of {', '.join(known)}" if known else "a view, of which there are none"
                raise ConfigurationError(f"{self.folder}: expected {told}, found {view!r}")
            views = tuple(replace(each, is_kept=each.is_kept and each.name != view) for each in manifest.views)
            needed = {part for each in views if each.is_kept for part in each.requires}
            parts = tuple(each if each.id in needed else replace(each, rows=0, files=None) for each in manifest.parts)
            shared = {file.name for each in parts for file in each.files or ()}
            # A file that others share would keep what was dropped.
            rewritten = {
                each.source
                for each in manifest.parts
                if each.id not in needed and any(file.name in shared for file in each.files or ())
            }
            dropped = self.swap(replace(manifest, created=now, views=views, parts=parts))
            for source in sorted(rewritten):
                dropped = self.compact(source, now)
            return dropped

    def forget(self, source: str, now: float) -> Manifest:
        """Let go of all that is known of a source."""
        with self.writing():
            manifest = self.manifest()
            parts = tuple(each for each in manifest.parts if each.source != source)
            there = {part.id for part in parts}
            views = tuple(
                replace(each, requires=tuple(filter(there.__contains__, each.requires))) for each in manifest.views
            )
            sources = tuple(each for each in manifest.sources if each.name != source)
            return self.swap(replace(manifest, created=now, views=views, parts=parts, sources=sources))

    def compact(self, source: str, now: float) -> Manifest:
        """Write the parts of a source anew, without what is no longer current."""
        with self.writing(), self.reading() as snapshot:
            entry, places = snapshot.manifest.source_of[source], snapshot.places(source)
            parts = [
                part
                if part.source != source or part.files is None
                else PartRows(part.id, source, part.signature, snapshot.part_rows(part.id, places), part.definition)
                for part in snapshot.manifest.parts
            ]
            state = SourceState(source, entry.location, entry.refreshed, places)
            sources = [state if each.name == source else each for each in snapshot.manifest.sources]
            return self.replace(snapshot.manifest.views, parts, sources, now, snapshot.manifest.budget)

    def write_rows(self, parts: Mapping[str, pa.Table]) -> dict[str, FileEntry]:
        """Write rows of parts of one source, with their regions, for a version that is to be swapped in."""
        found: dict[str, FileEntry] = {}
        for pool in pools(parts):
            file = self._write(
                "parts" if len(pool) > 1 else next(iter(pool)), pooled(pool, STORED_SCHEMA.field("part"))
            )
            for part, rows in pool.items():
                found[part] = replace(file, own=rows.num_rows) if len(pool) > 1 else file
        return found

    def write_source(
        self, name: str, location: str, refreshed: float, places: RegionPlaces, next_region: int = 0
    ) -> StoredSource:
        """Write the places of a source for a version that is to be swapped in.

        `next_region` is above all numbers that regions have had: files may still have rows of those that are gone.
        """
        documents, regions = places.tables()
        entries = self._write("documents", documents), self._write("regions", regions)
        return StoredSource(
            name, location, refreshed, *entries, max(next_region, int(places.region.max(initial=-1)) + 1)
        )

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

    def _write(self, name: str, table: pa.Table) -> FileEntry:
        entry = write_file(self._files, name, table)
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
            entry = PartEntry(part.id, part.source, tuple(sorted(part.signature)), part.definition)
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
                needed |= {file.name for file in read_manifest(read_sealed(self._manifest_file(number), SEAL)).files()}
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
