"""A workload in; out which of its queries are better left to the sources, since others lie in their answers.

What lies in a node of another query is stored in that one's part, and only there (Tajima and Fukui's minimal view
set). So a small answer that is asked for often is held only with the large ones around it. Where these are not worth
their space, the workload without them has the small one as a part of its own. And a part costs some space by itself:
where a few answers that contain most others are better stored as they are, the others are left aside too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from weft.views.answering import StoredView, ViewIndex, find_rewriting
from weft.views.nodes import AnsweredRows
from weft.views.selection.candidates import Estimates, as_a_whole, problem_of_parts
from weft.views.selection.minimal import Parts, find_parts
from weft.views.selection.problem import QueryLoad, SpaceChoice, SpaceProblem
from weft.views.sizes import on_disk, part_sizes
from weft.views.sources.source import size_of
from weft.views.whole_answers import problem_of_answers
from weft.views.workload import Workload

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
    problem = problem_of_parts(parts, inside, estimates)
    problem = on_disk(problem, part_sizes(inside, their_rows))
    loads, pieces = _asides(workload, inside, rows, parts, estimates)
    queries = (*problem.queries, *loads)
    return PlannedParts(inside, parts, replace(problem, pieces=(*problem.pieces, *pieces), queries=queries))


def _asides(
    workload: Workload, inside: Workload, rows: AnsweredRows, parts: Parts, estimates: Estimates
) -> tuple[list[QueryLoad], list[int]]:
    """What the queries left aside ask for, and pieces that only they have, which nothing holds.

    One that the others' answers contain for certain is answered by these, if they are held as a whole.
    """
    index = ViewIndex([StoredView(query.name, query.selection) for query in inside.queries])
    known = {query.name for query in inside.queries}
    loads: list[QueryLoad] = []
    own: list[int] = []
    for at, query in enumerate(workload.queries):
        if query.name in known:
            continue
        rewriting = find_rewriting(query.selection, index)
        requests = []
        for source, each in rows.items():
            if not each[at].num_rows:
                continue
            size = size_of(each[at])
            held = () if rewriting is None else _pieces_of(rewriting.views, source, parts)
            if not held:
                held = (len(parts.pieces) + len(own),)
                own.append(size)
            requests.append(as_a_whole(estimates.request(query.name, source, held, size), size))
        loads.append(QueryLoad(query.name, query.frequency, tuple(requests)))
    return loads, own


def _pieces_of(views: Sequence[str], source: str, parts: Parts) -> tuple[int, ...]:
    """The pieces of views at a source."""
    pieces = enumerate(parts.pieces)
    return tuple(at for at, piece in pieces if piece.source == source and not piece.signature.isdisjoint(views))


def plan_with_asides(
    workload: Workload, rows: AnsweredRows, estimates: Estimates, select: Callable[[SpaceProblem], SpaceChoice]
) -> tuple[PlannedParts, SpaceChoice]:
    """The best of the workload as it is, without some of the queries that others lie in, the largest tried first, and
    with those alone whose whole answers would be stored if there were no parts."""
    aside: frozenset[str] = frozenset()
    best = plan(workload, rows, estimates)
    choice = select(best.problem)
    alone = frozenset(select(problem_of_answers(workload, rows, best.parts, estimates)).keys)
    for name in _enclosing(best.parts)[:_MOST_TRIED]:
        other = plan(workload, rows, estimates, aside | {name})
        found = select(other.problem)
        if found.benefit > choice.benefit:
            aside, best, choice = aside | {name}, other, found
    other = plan(workload, rows, estimates, frozenset(query.name for query in workload.queries) - alone)
    found = select(other.problem)
    return (other, found) if found.benefit > choice.benefit else (best, choice)


def _enclosing(parts: Parts) -> list[str]:
    """The queries in whose nodes others lie that are not theirs, those with the most bytes first."""
    bytes_of: dict[str, int] = {}
    for piece in parts.pieces:
        for name in piece.signature:
            bytes_of[name] = bytes_of.get(name, 0) + piece.bytes
    found = {name for piece in parts.pieces for name in piece.home - piece.signature}
    return sorted(found, key=lambda name: (-bytes_of.get(name, 0), name))
