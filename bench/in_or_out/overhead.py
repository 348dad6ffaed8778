"""Figure 10: what run-time optimization takes, beside what plans run, for two queries on two streams."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random

from bench.goals import Goal
from bench.in_or_out.runs import run
from bench.in_or_out.section import Section
from bench.in_or_out.workload import Workload, make_workload
from bench.report import Table
from bench.table import compact
from weft.optimizer import ElementMatcher
from weft.optimizer.unit_costs import unit_costs

_SEED, _TIMES = 10, 4  # that each stream is passed, as one
#: How many patterns each of the two groups has: 5 and 10 in all.
_QUERIES = {5: (2, 3), 10: (4, 6)}
_WORDS = ("one", "two", "three", "four")


def measure_overhead(size: int, advance: Callable[[], object]) -> Section:
    """Four settings, each from all in to the end of its stream."""
    rows: list[tuple[str, ...]] = []
    shares: list[float] = []
    for patterns, stream in ((patterns, stream) for patterns in _QUERIES for stream in (1, 2)):
        workload = _two_groups(patterns, stream, size)
        unit_costs.cache_clear()  # each pays for measuring them
        matcher = ElementMatcher(workload.query)
        for _ in range(_TIMES):
            run(matcher, workload.elements)
        overhead = matcher.overhead
        parts = (
            *(overhead.running, overhead.searching, overhead.statistics),
            *(overhead.migrating, overhead.probing),
        )
        share = overhead.share or 0.0
        rows.append((f"{patterns}, {stream}", *(compact(part / 1e6) for part in parts), f"{share:.1%}"))
        shares.append(share)
        advance()
    columns = ("patterns, stream", "plans ms", "search ms", "statistics ms", "migration ms", "probing ms", "beside")
    table = Table("Figure 10: what run-time optimization takes", columns, tuple(rows))
    goal = Goal("statistics, searches and migrations, a share of the time; the largest", most=0.03)
    note = (
        "Statistics are as many observations as were made, times what one takes, and what it took to count for them; "
        "they are part of the plans' time. Probing is what was tried once: first passes, and the unit costs."
    )
    return Section({"overhead_share": max(shares)}, {"overhead_share": goal}, (table,), (note,))


def _two_groups(patterns: int, stream: int, size: int) -> Workload:
    """Elements with two groups of values: in stream 1 nearly all pass, in stream 2 few of the second group."""
    groups = dict(zip("gh", _QUERIES[patterns], strict=True))
    shares = {"g": 0.95, "h": 0.95 if stream == 1 else 0.3}

    def leaves(random: Random, group: str) -> Iterator[str]:
        for at in range(groups[group]):
            value = random.randrange(10, 100) if random.random() < shares[group] else random.randrange(10)
            yield f"<v{at}>{value}</v{at}><t>{' '.join(random.choices(_WORDS, k=8))}</t>"

    def element(random: Random) -> str:
        inner = "".join(f"<{group}>{''.join(leaves(random, group))}</{group}>" for group in groups)
        return f"<e>{inner}</e>"

    conditions = {group: "".join(f"[v{at} > 9]" for at in range(number)) for group, number in groups.items()}
    query = "/e" + "".join(f"[{group}{tests}]" for group, tests in conditions.items())
    return make_workload(query, element, size, _SEED + stream)
