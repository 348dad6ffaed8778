"""How much the misses with 15 views depend on the draw: other servers by the same law, for several exponents of it."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from statistics import mean

from bench.stream_views.workload import EXPRESSIONS, MOST_QUERIES, SERVERS
from weft.headers.selection.greedy import select_greedy
from weft.headers.selection.instance import Instance, hits

EXPONENTS = (1.0, 1.25, 1.5, 1.75)


@dataclass(frozen=True, slots=True)
class Draws:
    """The shares of servers that must parse, over all draws by Zipf's law with an exponent: expressions have a node."""

    exponent: float
    least: float
    mean: float
    most: float
    number: int


def draw_misses(exponent: float, number: int, views: int) -> Draws:
    """The misses of Algorithm 1's views, each time for 10,000 other servers."""
    weights = [rank**-exponent for rank in range(1, EXPRESSIONS + 1)]
    names = tuple(map(str, range(EXPRESSIONS)))
    misses = []
    for seed in range(number):
        rng = Random(seed)
        drawn = (rng.choices(range(EXPRESSIONS), weights, k=rng.randint(1, MOST_QUERIES)) for _ in range(SERVERS))
        instance = Instance(names, tuple(map(frozenset, drawn)))
        misses.append(1 - hits(instance, select_greedy(instance, views)) / SERVERS)
    return Draws(exponent, min(misses), mean(misses), max(misses), number)
