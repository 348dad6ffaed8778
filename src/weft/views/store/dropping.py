"""A view, or a source, in that is no longer wanted; a version of the store without what nobody else needs out."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

from weft.errors import ConfigurationError
from weft.views.store.compaction import compact
from weft.views.store.files import DamagedFileError
from weft.views.store.manifest import Manifest
from weft.views.store.places import DocumentEntry
from weft.views.store.store import Store


def drop_view(store: Store, view: str, now: float) -> Manifest:
    """Drop a view, and the parts that no other view requires."""
    with store.writing():
        manifest = store.manifest()
        known = [each.name for each in manifest.views if each.is_kept]
        if view not in known:
            told = f"one of {', '.join(known)}" if known else "a view, of which there are none"
            raise ConfigurationError(f"{store.folder}: expected {told}, found {view!r}")
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
        dropped = store.swap(replace(manifest, created=now, views=views, parts=parts))
        for source in sorted(rewritten):
            dropped = compact(store, source, now)
        return dropped


def forget_source(store: Store, source: str, now: float) -> tuple[str, ...]:
    """Let go of all that is known of a source; its documents come back, none where they cannot be read."""
    with store.writing():
        manifest = store.manifest()
        documents: tuple[DocumentEntry, ...] = ()
        with store.reading() as snapshot, suppress(DamagedFileError):
            documents = snapshot.documents(source)
        parts = tuple(each for each in manifest.parts if each.source != source)
        there = {part.id for part in parts}
        views = tuple(
            replace(each, requires=tuple(filter(there.__contains__, each.requires))) for each in manifest.views
        )
        sources = tuple(each for each in manifest.sources if each.name != source)
        store.swap(replace(manifest, created=now, views=views, parts=parts, sources=sources))
        return tuple(each.id for each in documents)
