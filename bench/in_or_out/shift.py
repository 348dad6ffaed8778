"""Selectivities that flip half-way: plans that follow them beside the best one that does not."""

from __future__ import annotations

from collections.abc import Callable

from bench.goals import Goal
from bench.in_or_out.runs import Runner, run
from bench.in_or_out.section import Section
from bench.in_or_out.workload import SHIFT_GROUPS, Workload, halves_of, shifting
from bench.measure import timed
from bench.report import Table
from bench.table import compact
from weft.optimizer import ElementMatcher, ElementPlan
from weft.optimizer.drawing import draw_runs
from weft.optimizer.search import min_exhaust
from weft.optimizer.unit_costs import unit_costs

_SEED = 30
_ROUNDS = 3
_LEARNING = 4_096  # elements


def measure_shift(size: int, advance: Callable[[], object]) -> Section:
    """The best fixed plan is the fastest of those that are cheapest for each half, for both, and between them."""
    workload = shifting(size, _SEED)
    runner = Runner(workload)
    seconds = runner.seconds(list(dict.fromkeys(_fixed_plans(workload))))
    advance()
    adaptive: list[tuple[float, ElementMatcher]] = []
    for _ in range(_ROUNDS):
        adaptive.append(timed(_adapted, workload))
    taken, matcher = min(adaptive, key=lambda one: one[0])
    advance()
    best = min(seconds)
    number = len(workload.elements)
    rows = [
        ("the best fixed plan", compact(1e6 * best / number)),
        (f"adaptive, {matcher.migrations} migrations", compact(1e6 * taken / number)),
    ]
    table = Table("Selectivities that flip half-way, µs an element", ("plan", "µs"), tuple(rows))
    goal = Goal("selectivities flip half-way: the best fixed plan over adaptive, time", least=1.3)
    figures = {"adaptive_gain_on_shift": best / taken, "shift_migrations": matcher.migrations}
    drawings = {"in_or_out_shift.svg": draw_runs(matcher)}
    return Section(figures, {"adaptive_gain_on_shift": goal}, (table,), drawings=drawings)


def _adapted(workload: Workload) -> ElementMatcher:
    """Run a stream with a plan that follows."""
    matcher = ElementMatcher(workload.query)
    run(matcher, workload.elements)
    return matcher


def _fixed_plans(workload: Workload) -> list[ElementPlan]:
    """The cheapest by what is known after some of the whole stream, or of a half; and both halves' orders in turns."""
    tree = ElementMatcher(workload.query).tree
    plans = []
    for part in (workload.elements, *halves_of(workload)):
        matcher = ElementMatcher(workload.query, optimizer="fixed", units=unit_costs())
        matcher.matches(part[:: -(-len(part) // _LEARNING)])
        plans.append(min_exhaust(matcher.model(), matcher.plan.inside).best.plan)
    even, odd = (tuple(range(first, SHIFT_GROUPS, 2)) for first in (0, 1))
    for first, second in ((even, odd), (odd, even)):
        turns = tuple(each for pair in zip(first, second, strict=True) for each in pair)
        plans.append(ElementPlan(tree, frozenset(), turns))
    return plans
