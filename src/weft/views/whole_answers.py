"""A workload and its answers in, out the choice among whole answers: what one would store without transformations."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from weft.columns.integers import Flags, Longs
from weft.views.answering import StoredView, ViewIndex, find_rewriting
from weft.views.nodes import SCHEMA, AnsweredRows
from weft.views.selection.candidates import Estimates, problem_of_views
from weft.views.selection.minimal import Parts
from weft.views.selection.problem import SpaceProblem
from weft.views.sizes import on_disk, part_sizes
from weft.views.workload import Workload

_SAMPLES = 32  # nodes of an answer


def problem_of_answers(workload: Workload, rows: AnsweredRows, parts: Parts, estimates: Estimates) -> SpaceProblem:
    """The choice among whole answers; one of them answers others too, where these are contained in it for certain."""
    problem = problem_of_views(parts, workload, estimates, contained_queries(workload, rows))
    return on_disk(problem, answer_sizes(workload, rows))


def answer_sizes(workload: Workload, rows: AnsweredRows) -> dict[str, int]:
    """By query what the store would take for it alone: parts of a workload that has no other."""
    return {
        query.name: sum(part_sizes(Workload((query,)), {name: [each[at]] for name, each in rows.items()}).values())
        for at, query in enumerate(workload.queries)
    }


def contained_queries(workload: Workload, rows: AnsweredRows) -> dict[str, frozenset[str]]:
    """By query the others that its whole answer, by itself, is enough to answer; of those that have nodes.

    Containment is decided only where it can be, by the nodes that there are: most pairs have nothing to do with each
    other.
    """
    may_lie = np.ones((len(workload.queries), len(workload.queries)), bool)
    has_nodes = np.zeros(len(workload.queries), bool)
    for each in rows.values():
        has_nodes |= [bool(table.num_rows) for table in each]
        may_lie &= _may_lie(each)
    found = {}
    for at, view in enumerate(workload.queries):
        index = ViewIndex([StoredView(view.name, view.selection)])
        others = (workload.queries[other] for other in np.flatnonzero(may_lie[at] & has_nodes).tolist() if other != at)
        found[view.name] = frozenset(
            query.name for query in others if find_rewriting(query.selection, index) is not None
        )
    return found


def _may_lie(answers: Sequence[pa.Table]) -> Flags:
    """By two answers of a source whether the nodes of the second may all be nodes of the first, or lie in these.

    It is so for some of its nodes: what is not certain is not denied.
    """
    begins, ends = _ranges(answers)
    sampled = [_sample(each) for each in begins]
    samples, of = np.concatenate(sampled), np.repeat(np.arange(len(answers)), [each.size for each in sampled])
    may_lie = np.ones((len(answers), len(answers)), bool)
    for view, (begin, end) in enumerate(zip(begins, ends, strict=True)):
        order = np.argsort(begin, kind="stable")
        reached = np.concatenate([[0], np.maximum.accumulate(end[order])])  # by what begins before or there
        lies = reached[np.searchsorted(begin[order], samples, side="right")] > samples
        may_lie[view, of[~lies]] = False
    return may_lie


def _ranges(answers: Sequence[pa.Table]) -> tuple[list[Longs], list[Longs]]:
    """Where the nodes of each answer begin and end, as if the documents of the source stood one behind the other."""
    table = pa.concat_tables([SCHEMA.empty_table(), *answers]).combine_chunks()
    document = pc.dictionary_encode(table["document"].combine_chunks()).indices.to_numpy().astype(np.int64)
    begin = table["offset"].to_numpy()
    end = begin + np.maximum(table["length"].to_numpy(), 1)
    start = document * (int(end.max(initial=0)) + 1)
    bounds = np.cumsum([each.num_rows for each in answers])[:-1]
    return np.split(start + begin, bounds), np.split(start + end, bounds)


def _sample(begin: Longs) -> Longs:
    """Some nodes of an answer, from all over it."""
    chosen: Longs = begin[np.unique(np.linspace(0, begin.size - 1, _SAMPLES).astype(np.int64))] if begin.size else begin
    return chosen
