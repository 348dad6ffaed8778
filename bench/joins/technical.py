"""Parameters of the technical benchmark in, the times of all ways on two documents out (sections 6.1 and 6.2).

The paper joins two fixed documents. Here they are a new pair each time, the first of which is all of the state that the
second has anything in common with; the second alone is timed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from bench.joins.arena import Arena, Standing, Terms, no_garbage
from bench.joins.ways import Order
from bench.joins.workload import ZIPF, make_pair, make_queries, three_level, two_level

_SEED = 2
_ORDER: Order = (
    "queries"  # with R_T last, 12 leaves that all agree are 12 ** k combinations before the first query is seen
)


@dataclass(frozen=True, slots=True)
class Setting:
    """One point of figures 8 to 15: table 5's parameters, and K for three levels."""

    levels: int = 2
    queries: int = 1_000
    leaves: int = 6
    zipf: float = ZIPF
    most: int = 4


@dataclass(frozen=True, slots=True)
class TechnicalEffort:
    """Which values each parameter takes while the others have their defaults."""

    queries: tuple[int, ...] = (10, 100, 1_000, 10_000, 100_000)
    leaves: tuple[int, ...] = (4, 6, 8, 12)
    most: tuple[int, ...] = (2, 3, 4, 5)
    zipf: tuple[float, ...] = (0.0, 0.8, 1.6)
    pairs: int = 2
    sampled: int = 8

    def figures(self) -> dict[int, list[Setting]]:
        """The points of each of the paper's figures, by its number."""
        two, three = Setting(), Setting(levels=3)
        return {
            8: [replace(two, queries=value) for value in self.queries],
            9: [replace(two, leaves=value) for value in self.leaves],
            10: [replace(two, zipf=value) for value in self.zipf],
            11: [replace(three, queries=value) for value in self.queries],
            12: [replace(three, most=value) for value in self.most],
            13: [replace(three, zipf=value) for value in self.zipf],
        }


def measure_technical(effort: TechnicalEffort, after_point: Callable[[], object]) -> dict[Setting, Standing]:
    """Every point once, although figures share some."""
    found: dict[Setting, Standing] = {}
    for points in effort.figures().values():
        for setting in points:
            if setting not in found:
                found[setting] = measure_point(setting, effort.pairs, effort.sampled)
            after_point()
    return found


def measure_point(setting: Setting, pairs: int, sampled: int) -> Standing:
    """The first pair is checked, and warms all ways up."""
    schema = two_level(setting.leaves) if setting.levels == 2 else three_level()
    most = None if setting.levels == 2 else setting.most
    queries = make_queries(schema, setting.queries, _SEED, setting.zipf, most)
    arena = Arena(queries, Terms(("materialized", "none"), sampled, _ORDER))
    rounds = []
    with no_garbage():
        for number in range(pairs + 1):
            first, second = make_pair(schema, number)
            arena.fill([first])
            if number:
                rounds.append(arena.hold([second]))
            else:
                arena.check([second])
    standing = arena.standing(1, rounds)
    arena.close()
    return standing
