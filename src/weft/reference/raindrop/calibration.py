"""Nothing in, what the smallest parts of this reference's work take on this machine out: C of the paper's Table 2."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from time import process_time_ns

from weft.documents.build import read
from weft.documents.document import Document
from weft.documents.table import NodeTable
from weft.optimizer.navigation import passes_step
from weft.optimizer.pattern_tree import PatternTree, TreePattern
from weft.plans.plan import Step
from weft.reference.raindrop.equations import StackCosts
from weft.reference.raindrop.stack_automaton import StackAutomaton

_TAGS, _ROUNDS = 2_000, 5
_TREE = PatternTree("e", (TreePattern(None, (Step("p"),)),))


@cache
def stack_costs() -> StackCosts:
    """Nanoseconds, measured once in a process; the best of some rounds, as what disturbs only ever adds."""
    table = read([Document(f"<e>{'<n>text</n>' * _TAGS}</e>")])
    step = Step("n")
    non_empty, empty = _best(lambda: _start_tags(deep=False)), _best(lambda: _start_tags(deep=True))
    visit = _best(lambda: sum(passes_step(step, table.names[name]) for name in table.name[: table.elements].tolist()))
    return StackCosts(
        non_empty=max(non_empty, empty),
        empty=empty,
        backtrack=_best(_end_tags),
        visit=visit,
        compose=_best(lambda: _composed(table)),
    )


def _best(work: Callable[[], object]) -> float:
    """Nanoseconds for one of the tags."""
    times = []
    for _ in range(_ROUNDS):
        start = process_time_ns()
        work()
        times.append(process_time_ns() - start)
    return max(min(times), 1) / _TAGS


def _start_tags(*, deep: bool) -> None:
    """Start tags, one inside of the other: with `deep` an empty set is on top of all but one, else one state."""
    automaton = StackAutomaton(_TREE)
    automaton.begin()
    begin = automaton.stack[-1]
    for _ in range(_TAGS):
        automaton.start("n")
        if not deep:
            automaton.stack[-1] = begin


def _end_tags() -> None:
    automaton = StackAutomaton(_TREE)
    automaton.begin()
    automaton.stack *= _TAGS + 1
    for _ in range(_TAGS):
        automaton.end()


def _composed(table: NodeTable) -> list[tuple[str, int, int]]:
    """Each node as an object that knows its name, and where it begins and ends."""
    rows = zip(table.name[: table.elements].tolist(), table.start.tolist(), table.last.tolist(), strict=False)
    return [(table.names[name], start, last) for name, start, last in rows]
