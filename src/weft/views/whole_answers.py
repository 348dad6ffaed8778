"""A workload and its answers in, out the choice among whole answers: what one would store without transformations."""

from __future__ import annotations

from weft.views.answering import StoredView, ViewIndex, find_rewriting
from weft.views.nodes import AnsweredRows
from weft.views.selection.candidates import Estimates, problem_of_views
from weft.views.selection.minimal import Parts
from weft.views.selection.problem import SpaceProblem
from weft.views.sizes import on_disk, part_sizes
from weft.views.workload import Workload


def problem_of_answers(workload: Workload, rows: AnsweredRows, parts: Parts, estimates: Estimates) -> SpaceProblem:
    """The choice among whole answers; one of them answers others too, where these are contained in it for certain."""
    problem = problem_of_views(parts, workload, estimates, contained_queries(workload))
    return on_disk(problem, answer_sizes(workload, rows))


def answer_sizes(workload: Workload, rows: AnsweredRows) -> dict[str, int]:
    """By query what the store would take for it alone: parts of a workload that has no other."""
    return {
        query.name: sum(part_sizes(Workload((query,)), {name: [each[at]] for name, each in rows.items()}).values())
        for at, query in enumerate(workload.queries)
    }


def contained_queries(workload: Workload) -> dict[str, frozenset[str]]:
    """By query the others that its whole answer, by itself, is enough to answer."""
    indexes = {query.name: ViewIndex([StoredView(query.name, query.selection)]) for query in workload.queries}
    return {
        view: frozenset(
            query.name
            for query in workload.queries
            if query.name != view and find_rewriting(query.selection, index) is not None
        )
        for view, index in indexes.items()
    }
