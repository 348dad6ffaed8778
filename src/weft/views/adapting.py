"""Queries that were asked and what is stored in, what to store from now on out: what is there is not fetched again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa

from weft.views.planning import Recommendation
from weft.views.selection.adapt import adapt, carried
from weft.views.selection.minimal import find_parts
from weft.views.store.manifest import Manifest, ViewEntry
from weft.views.workload import Workload, WorkloadQuery, workload_of


@dataclass(frozen=True, slots=True)
class Adaptation:
    """What to have from now on, and whether that is not what is stored."""

    recommended: Recommendation
    is_change: bool


def queries_of(views: Sequence[ViewEntry]) -> list[WorkloadQuery]:
    """Views as queries of a workload."""
    return [WorkloadQuery(each.text, each.selection, each.frequency, each.name, each.namespaces) for each in views]


def with_views(workload: Workload, manifest: Manifest) -> Workload:
    """The queries of a workload first, then the views that are not among them."""
    return workload_of([*workload.queries, *queries_of(manifest.views)])


def adapt_views(
    found: Recommendation, manifest: Manifest, rows: Mapping[str, Sequence[pa.Table]], horizon: float, margin: float
) -> Adaptation:
    """Choose again, given what is stored; `rows` has what each source answers to the workload with all views.

    Parts have other ids when new queries part them further, so they are found again by the nodes that they have.
    """
    asked = with_views(found.workload, manifest)
    place = {query.selection: at for at, query in enumerate(asked.queries)}
    before = Workload(tuple(queries_of(manifest.views)))
    places = [place[query.selection] for query in before.queries]
    old = find_parts(before, {source: [each[at] for at in places] for source, each in rows.items()})
    names = frozenset(query.name for query in found.workload.queries)
    common = names.intersection(view.name for view in manifest.views)
    stored = [part for part in manifest.parts if part.files is not None and part.source in rows]
    held = carried(old, [part.id for part in stored], found.parts, common)
    current = [at for at, each in enumerate(found.problem.candidates) if each.key in held]
    choice = adapt(current, found.problem, found.budget, horizon, margin)
    is_idle = any(names.isdisjoint(part.signature) for part in stored)
    return Adaptation(replace(found, choice=choice), is_idle or frozenset(choice.keys) != held)
