"""The nodes of a source's new regions in, its parts with them out: as a new version of the store."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa

from weft.columns.integers import Longs
from weft.views.parts import Classes, definition_of, part_id
from weft.views.store.manifest import PartEntry
from weft.views.store.pieces import join_pieces, pieces_of
from weft.views.store.places import RegionPlaces, with_regions
from weft.views.store.snapshot import Snapshot
from weft.views.store.store import Store


def merge_parts(
    store: Store, snapshot: Snapshot, location: str, places: RegionPlaces, classes: Classes, now: float
) -> None:
    """Swap in a version that has the new nodes, and in which regions are where they are now.

    A view whose nodes were all stored stays so: parts that come up for it are stored. It does not where its nodes
    come to lie in a part that is known, but was not chosen to be stored: then it requires that one too.
    """
    manifest, source = snapshot.manifest, classes.source
    texts = {view.name: view.text for view in manifest.views}
    parts = {part.id: part for part in manifest.parts}
    of_signature = {frozenset(part.signature): part for part in manifest.parts if part.source == source}
    kept = (view.name for view in manifest.views if view.is_kept)
    stored_views = {view for view in kept if manifest.is_stored(view, source)}
    requires = {view.name: dict.fromkeys(view.requires) for view in manifest.views}
    new_rows: dict[str, pa.Table] = {}
    pieces = pieces_of(classes)
    for signature, at in classes.homes().items():
        views = _views(classes, at)
        part = of_signature.get(signature)
        if part is None:
            is_wanted = not views.isdisjoint(stored_views)
            new = part_id(source, signature), source, tuple(sorted(signature))
            part = PartEntry(*new, definition_of(signature, texts), files=() if is_wanted else None, pieces=())
        if part.pieces is not None:
            part = replace(part, pieces=join_pieces(part.pieces, pieces[signature]))
        if part.files is not None:
            new_rows[part.id] = with_regions(classes.rows(at), places)
        parts[part.id] = part
        for view in views:
            requires[view][part.id] = None
    for id, file in store.write_change(new_rows).items():
        parts[id] = replace(parts[id], files=(*(parts[id].files or ()), file))
    parts = _without_empty(parts, source, snapshot, places)
    views_now = tuple(
        replace(view, requires=tuple(each for each in requires[view.name] if each in parts)) for view in manifest.views
    )
    entry = store.write_source(source, location, now, places, manifest.source_of[source].next_region)
    sources = tuple(entry if each.name == source else each for each in manifest.sources)
    store.swap(replace(manifest, created=now, views=views_now, parts=tuple(parts.values()), sources=sources))


def _without_empty(
    parts: dict[str, PartEntry], source: str, snapshot: Snapshot, places: RegionPlaces
) -> dict[str, PartEntry]:
    """Parts with the number of rows that they have now; those that are stored and have none are left out."""
    stored = {id: part for id, part in parts.items() if part.source == source and part.files is not None}
    counts = np.bincount(places.region)  # a region may be at several places
    rows = {id: _count(each, counts) for id, each in snapshot.regions(stored.values()).items()}
    return {
        id: replace(part, rows=rows.get(id, part.rows)) for id, part in parts.items() if id not in rows or rows[id] > 0
    }


def _count(regions: Longs, counts: Longs) -> int:
    """How many rows are current that lie in these regions."""
    return int(counts[regions[regions < counts.size]].sum())


def _views(classes: Classes, at: Longs) -> set[str]:
    """The views that nodes are in."""
    return {view for number in np.unique(classes.number[at]).tolist() for view in classes.signatures[number]}
