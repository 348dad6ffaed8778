"""A DTD says where the element ends that decides: with it, checked and trusted, beside without it."""

from __future__ import annotations

from collections.abc import Callable
from statistics import median

from bench.goals import Goal
from bench.in_or_out.runs import Runner
from bench.in_or_out.section import Section
from bench.in_or_out.workload import auction_dtd, auctions
from bench.report import Table
from bench.table import compact
from weft import Dtd

_SEED, _ROUNDS = 40, 9


def measure_abandonment(size: int, advance: Callable[[], object]) -> Section:
    """The plan that a search comes to in the end, in each of the three ways; gains are medians over rounds."""
    workload = auctions(size, _SEED)
    ways: dict[str, tuple[Dtd | None, bool]] = {
        "without a DTD": (None, False),
        "with it, checked": (auction_dtd(), False),
        "with it, trusted": (auction_dtd(), True),
    }
    runners = [Runner(workload, dtd, trusted=trusted) for dtd, trusted in ways.values()]
    plans = [runner.settled() for runner in runners]
    rounds: list[list[float]] = []
    for _ in range(_ROUNDS):
        rounds.append([runner.time(plan) for runner, plan in zip(runners, plans, strict=True)])
    advance()
    best = [min(times) for times in zip(*rounds, strict=True)]
    gains = [median(times[0] / times[way] for times in rounds) for way in range(len(runners))]
    found = {name: (seconds, plan.scan) for name, seconds, plan in zip(ways, best, plans, strict=True)}
    number = len(workload.elements)
    rows = tuple(
        (name, scan, compact(1e6 * seconds / number), compact(gain))
        for (name, (seconds, scan)), gain in zip(found.items(), gains, strict=True)
    )
    size_of_one = sum(len(each.data) for each in workload.elements) // number
    title = f"What can match no more is passed over: auctions of {size_of_one:,} bytes"
    goal = Goal("what can match no more is passed over, checked: times as fast as without", least=1.25)
    figures = {"abandonment_gain_dtd": gains[1], "abandonment_gain_trusted": gains[2]}
    table = Table(title, ("way", "first pass", "µs an element", "×"), rows)
    return Section(figures, {"abandonment_gain_dtd": goal}, (table,))
