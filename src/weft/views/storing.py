"""Queries and a choice of their parts in, a new version of the store out: all parts known, the chosen ones stored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from weft.views.parts import part_id
from weft.views.sources.source import Source
from weft.views.store.manifest import Manifest, ViewEntry
from weft.views.store.refresh import SourceReading, read_anew
from weft.views.store.store import PartRows, Store
from weft.views.workload import Workload


@dataclass(frozen=True, slots=True)
class Wanted:
    """The queries that are known from now on, and what of them is stored: parts by id, or all parts of some queries.

    The ids of parts are as they would be without the `new` queries, which part them further.
    """

    workload: Workload
    parts: frozenset[str] = frozenset()
    whole: frozenset[str] = frozenset()
    new: frozenset[str] = frozenset()


def store_parts(
    store: Store, sources: Mapping[str, Source], wanted: Wanted, now: float, budget: int | None
) -> Manifest:
    """Read the sources, which the queries are for, and swap in a version with the wanted parts."""
    with store.writing():
        selections = {query.name: query.selection for query in wanted.workload.queries}
        readings = {name: read_anew(source, selections, now) for name, source in sources.items()}
        requires, parts = _parts(readings, wanted)
        views = [
            ViewEntry(each.name, each.text, each.namespaces, each.frequency, tuple(requires[each.name]))
            for each in wanted.workload.queries
        ]
        # Where nothing is stored it is not worth its space to know that some of the queries have no nodes there.
        needed = {part.source for part in parts if part.rows is not None}
        states = [each.state for name, each in readings.items() if name in needed or wanted.whole]
        return store.replace(views, parts, states, now, budget)


def _parts(readings: Mapping[str, SourceReading], wanted: Wanted) -> tuple[dict[str, list[str]], list[PartRows]]:
    """By query the parts that it requires, and all parts, those that are wanted with their rows."""
    requires: dict[str, list[str]] = {query.name: [] for query in wanted.workload.queries}
    parts: list[PartRows] = []
    for name, reading in readings.items():
        classes = reading.classes
        for query in requires:
            requires[query] += sorted(part_id(name, signature) for signature in classes.required(query))
        for signature, places in classes.homes().items():
            id = part_id(name, signature)
            is_chosen = part_id(name, signature - wanted.new) in wanted.parts
            is_wanted = is_chosen or any(id in requires[query] for query in wanted.whole)
            rows = classes.rows(places) if is_wanted else None
            parts.append(PartRows(id, name, tuple(sorted(signature)), rows))
    return requires, parts
