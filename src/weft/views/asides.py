"""A workload in; out which of its queries are better left to the sources, since others lie in their answers.

What lies in a node of another query is stored in that one's part, and only there (Tajima and Fukui's minimal view
set). So a small answer that is asked for often is held only with the large ones around it. Where these are not worth
their space, the workload without them has the small one as a part of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa

from weft.views.selection.candidates import Estimates, problem_of_parts
from weft.views.selection.minimal import Parts, find_parts
from weft.views.selection.problem import QueryLoad, SpaceChoice, SpaceProblem
from weft.views.sizes import on_disk, part_sizes
from weft.views.sources.source import size_of
from weft.views.workload import Workload

AnsweredRows = Mapping[str, Sequence[pa.Table]]  # by source those of each query
_MOST_TRIED = 12  # queries


@dataclass(frozen=True, slots=True)
class PlannedParts:
    """The queries whose parts may be stored, these parts, and the problem of choosing, with all queries in it."""

    workload: Workload
    parts: Parts
    problem: SpaceProblem


def plan(
    workload: Workload, rows: AnsweredRows, estimates: Estimates, aside: frozenset[str] = frozenset()
) -> PlannedParts:
    """The problem of a workload of which some queries are always asked of the sources."""
    kept = [at for at, query in enumerate(workload.queries) if query.name not in aside]
    inside = Workload(tuple(workload.queries[at] for at in kept))
    their_rows = {source: [each[at] for at in kept] for source, each in rows.items()}
    parts = find_parts(inside, their_rows)
    problem = problem_of_parts(parts, inside, estimates, copies=False)
    problem = on_disk(problem, part_sizes(inside, their_rows))
    return PlannedParts(inside, parts, _with_asides(problem, workload, rows, estimates, aside))


def _with_asides(
    problem: SpaceProblem, workload: Workload, rows: AnsweredRows, estimates: Estimates, aside: frozenset[str]
) -> SpaceProblem:
    pieces, loads = list(problem.pieces), list(problem.queries)
    for at, query in enumerate(workload.queries):
        if query.name not in aside:
            continue
        requests = []
        for source, each in rows.items():
            if each[at].num_rows:
                size = size_of(each[at])
                requests.append(estimates.request(query.name, source, (len(pieces),), size))
                pieces.append(size)
        loads.append(QueryLoad(query.name, query.frequency, tuple(requests)))
    return replace(problem, pieces=tuple(pieces), queries=tuple(loads))


def plan_with_asides(
    workload: Workload, rows: AnsweredRows, estimates: Estimates, select: Callable[[SpaceProblem], SpaceChoice]
) -> tuple[PlannedParts, SpaceChoice]:
    """The best of the workload as it is and without some of the queries that others lie in, the largest tried first."""
    aside: frozenset[str] = frozenset()
    best = plan(workload, rows, estimates)
    choice = select(best.problem)
    for name in _enclosing(best.parts)[:_MOST_TRIED]:
        other = plan(workload, rows, estimates, aside | {name})
        found = select(other.problem)
        if found.benefit > choice.benefit:
            aside, best, choice = aside | {name}, other, found
    return best, choice


def _enclosing(parts: Parts) -> list[str]:
    """The queries in whose nodes others lie that are not theirs, those with the most bytes first."""
    bytes_of: dict[str, int] = {}
    for piece in parts.pieces:
        for name in piece.signature:
            bytes_of[name] = bytes_of.get(name, 0) + piece.bytes
    found = {name for piece in parts.pieces for name in piece.home - piece.signature}
    return sorted(found, key=lambda name: (-bytes_of.get(name, 0), name))
