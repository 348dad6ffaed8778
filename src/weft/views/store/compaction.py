"""A source whose parts were refreshed often in; a version of the store with fewer files and fewer old rows out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa

from weft.views.store.manifest import FileEntry, Manifest, PartEntry
from weft.views.store.store import PartRows, SourceState, Store

_MOST_DEAD = 0.25  # of the rows in the files: with more, the parts are written anew
_MOST_CHANGES = 8  # files of refreshes that a source has: with more, they are put together


def compact_if_worth(store: Store, source: str, now: float) -> None:
    """Let go of rows that are no longer current, or put many small files together, if there are too many."""
    parts = [part for part in store.manifest().parts if part.source == source and part.files is not None]
    written = sum(file.part_rows for part in parts for file in part.files or ())
    if written - sum(part.rows for part in parts) > _MOST_DEAD * written:
        compact(store, source, now)
    elif len({file.name for part in parts for file in _changes(part)}) > _MOST_CHANGES:
        join_changes(store, source, now)


def compact(store: Store, source: str, now: float) -> Manifest:
    """Write the parts of a source anew, without what is no longer current."""
    with store.writing(), store.reading() as snapshot:
        entry, places = snapshot.manifest.source_of[source], snapshot.places(source)
        parts = [
            part
            if part.source != source or part.files is None
            else PartRows(
                part.id, source, part.signature, snapshot.part_rows(part.id, places), part.definition, part.pieces
            )
            for part in snapshot.manifest.parts
        ]
        state = SourceState(source, entry.location, entry.refreshed, places)
        sources = [state if each.name == source else each for each in snapshot.manifest.sources]
        return store.replace(snapshot.manifest.views, parts, sources, now, snapshot.manifest.budget)


def join_changes(store: Store, source: str, now: float) -> Manifest:
    """Write what refreshes of a source have found as one file: a part is read the slower the more files it has."""
    with store.writing(), store.reading() as snapshot:
        manifest = snapshot.manifest
        current = snapshot.places(source).region
        rows: dict[str, pa.Table] = {}
        for part in manifest.parts:
            if part.source == source and (changes := _changes(part)):
                found = snapshot.stored(replace(part, files=changes))
                is_current = np.isin(found["region"].to_numpy(), current)
                rows[part.id] = found.filter(pa.array(is_current)).drop_columns(["part"])
        files = store.write_change({part: each for part, each in rows.items() if each.num_rows})
        joined = tuple(_joined(part, files.get(part.id)) if part.id in rows else part for part in manifest.parts)
        return store.swap(replace(manifest, created=now, parts=joined))


def _joined(part: PartEntry, file: FileEntry | None) -> PartEntry:
    others = tuple(each for each in part.files or () if each.group is None)
    return replace(part, files=(*others, file) if file is not None else others)


def _changes(part: PartEntry) -> tuple[FileEntry, ...]:
    """The files of a part that refreshes have written."""
    return tuple(file for file in part.files or () if file.group is not None)
