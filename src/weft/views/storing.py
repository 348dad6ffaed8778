"""Queries and a choice of their parts in, a new version of the store out: all parts known, the chosen ones stored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace

from weft.views.parts import part_id
from weft.views.sources.source import Source, SourceError
from weft.views.store.manifest import Manifest, PartEntry, StoredSource, ViewEntry
from weft.views.store.pieces import pieces_of
from weft.views.store.refresh import SourceReading, read_anew
from weft.views.store.store import PartRows, Store
from weft.views.workload import Workload


@dataclass(frozen=True, slots=True)
class Wanted:
    """The queries that are known from now on, and what of them is stored: parts by id, or all parts of some queries.

    The ids of parts are as they would be without the `new` queries, which part them further. What is stored of the
    `left` sources stays as it is: these could not be weighed.
    """

    workload: Workload
    parts: frozenset[str] = frozenset()
    whole: frozenset[str] = frozenset()
    new: frozenset[str] = frozenset()
    left: tuple[SourceError, ...] = ()


@dataclass(frozen=True)
class StoredVersion(Manifest):
    """A version as it was stored, and the sources that did not answer: what there is of them is as it was."""

    missing: tuple[SourceError, ...] = ()


def store_parts(
    store: Store, sources: Mapping[str, Source], wanted: Wanted, now: float, budget: int | None
) -> StoredVersion:
    """Read the sources, which the queries are for, and swap in a version with the wanted parts.

    What is stored of a source that does not answer stays; if none does, nothing is stored, and the error is raised.
    """
    with store.writing():
        left = _Left(store.manifest(), wanted)
        readings = _read(sources, left, now)
        if left.errors and not readings:
            raise next(iter(left.errors.values()))
        return _stored(store, readings, wanted, left, now, budget)


def _read(sources: Mapping[str, Source], left: _Left, now: float) -> dict[str, SourceReading]:
    """The sources that answer; the others are left as they are, and the views that this takes are read too."""
    while True:
        views = left.views()
        selections = {view.name: view.selection for view in views}
        readings: dict[str, SourceReading] = {}
        for name, source in sources.items():
            try:
                if name not in left.errors:
                    readings[name] = read_anew(source, selections, now)
            except SourceError as error:
                left.errors[name] = error
        if left.views() == views:
            return readings


def _stored(
    store: Store, readings: Mapping[str, SourceReading], wanted: Wanted, left: _Left, now: float, budget: int | None
) -> StoredVersion:
    views = left.views()
    requires, parts = _parts(readings, wanted, [view.name for view in views])
    views = [replace(view, requires=(*requires[view.name], *left.requires(view.name))) for view in views]
    # Where nothing is stored it is not worth its space to know that some of the queries have no nodes there.
    needed = {part.source for part in parts if part.rows is not None}
    states = [each.state for name, each in readings.items() if name in needed or wanted.whole]
    made = store.replace(views, [*parts, *left.parts()], [*states, *left.sources()], now, budget)
    values = {each.name: getattr(made, each.name) for each in fields(made)}
    return StoredVersion(**values, missing=tuple(left.errors.values()))


class _Left:
    """What is stored of sources that do not answer, and the views that it takes to read it."""

    def __init__(self, manifest: Manifest, wanted: Wanted) -> None:
        self._manifest, self._wanted = manifest, wanted
        self.errors = {error.source: error for error in wanted.left}

    def sources(self) -> list[StoredSource]:
        """Those of which something is stored."""
        return [each for each in self._manifest.sources if each.name in self.errors]

    def views(self) -> list[ViewEntry]:
        """The wanted views, then those of before that parts which stay are made of; without what they require."""
        names = {name for part in self._old_parts() for name in part.signature}
        queries = self._wanted.workload.queries
        found = [ViewEntry(each.name, each.text, each.namespaces, each.frequency) for each in queries]
        names -= {each.name for each in queries}
        return found + [view for view in self._manifest.views if view.name in names]

    def _old_parts(self) -> list[PartEntry]:
        there = {each.name for each in self.sources()}
        return [part for part in self._manifest.parts if part.source in there]

    def parts(self) -> list[PartEntry]:
        """The parts that stay, and one for each query that is new there: where its nodes are is not known yet."""
        known = self._manifest.view_of
        queries = [each.name for each in self._wanted.workload.queries if each.name not in known]
        unknown = [_unknown(each.name, name) for each in self.sources() for name in queries]
        return self._old_parts() + unknown

    def requires(self, view: str) -> list[str]:
        """The parts that a view requires at these sources."""
        if view not in self._manifest.view_of:
            return [_unknown(each.name, view).id for each in self.sources()]
        return [part.id for each in self.sources() for part in self._manifest.required(view, each.name)]


def stored_for(manifest: Manifest, queries: frozenset[str]) -> frozenset[str]:
    """The stored parts by the ids that they have when no other queries are known."""
    stored = (part for part in manifest.parts if part.files is not None)
    return frozenset(part_id(part.source, queries.intersection(part.signature)) for part in stored)


def room_beside(manifest: Manifest, left: Sequence[SourceError], budget: float) -> float:
    """What a budget leaves beside what is stored of sources that are left as they are."""
    names = {error.source for error in left}
    files = {file.name: file.bytes for part in manifest.parts if part.source in names for file in part.files or ()}
    places = (each.documents.bytes + each.regions.bytes for each in manifest.sources if each.name in names)
    return max(0.0, budget - sum(files.values()) - sum(places)) if names else budget


def _unknown(source: str, query: str) -> PartEntry:
    """A part that is not stored: so its query is asked of the source."""
    return PartEntry(part_id(source, (query,)), source, (query,))


def _parts(
    readings: Mapping[str, SourceReading], wanted: Wanted, views: Sequence[str]
) -> tuple[dict[str, list[str]], list[PartRows]]:
    """By view the parts that it requires, and all parts, those that are wanted with their rows."""
    requires: dict[str, list[str]] = {view: [] for view in views}
    further = wanted.new | (frozenset(views) - {query.name for query in wanted.workload.queries})
    parts: list[PartRows] = []
    for name, reading in readings.items():
        classes, pieces = reading.classes, pieces_of(reading.classes)
        for query in requires:
            requires[query] += sorted(part_id(name, signature) for signature in classes.required(query))
        for signature, places in classes.homes().items():
            id = part_id(name, signature)
            is_chosen = part_id(name, signature - further) in wanted.parts
            is_wanted = is_chosen or any(id in requires[query] for query in wanted.whole)
            rows = classes.rows(places) if is_wanted else None
            parts.append(PartRows(id, name, tuple(sorted(signature)), rows, pieces=pieces[signature]))
    return requires, parts
