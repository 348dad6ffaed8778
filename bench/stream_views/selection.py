"""The views that are compared: by Algorithm 1, by our own selection, and by the optimum where it can be had."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from statistics import mean

from bench.measure import timed
from bench.stream_views.parsers import written
from bench.stream_views.workload import EXPRESSIONS, Network
from weft.documents import Document
from weft.headers.selection.greedy import select_greedy
from weft.headers.selection.instance import Instance, hits
from weft.headers.selection.optimum import select_optimum
from weft.headers.selection.ours import select_views
from weft.headers.selection.problem import BANDWIDTH, problem_of
from weft.headers.selection.workload import ServerQueries, ViewProblem, make_problem
from weft.languages import parse

TWO_THIRDS = 15  # views of 22, as in the paper
_SAMPLE = 2_000  # servers that our selection looks at
BANDWIDTHS = BANDWIDTH, BANDWIDTH / 100, BANDWIDTH / 1_000  # of links: 1 Gbit/s, 10 Mbit/s, 1 Mbit/s
_MOST_SECONDS = 30.0  # for an optimum; one that is not proven by then is left out


@dataclass(frozen=True, slots=True)
class Views:
    """What each way chooses: Algorithm 1 for each size, ours for the bytes of 15 views, and ours without a bound."""

    greedy: dict[int, tuple[str, ...]]
    ours_same_bytes: tuple[str, ...]
    ours: tuple[str, ...]
    by_bandwidth: tuple[tuple[float, int], ...]  # bytes a second of a link, and how many views pay


def make_views(network: Network, documents: Sequence[bytes], parse_us: float) -> Views:
    """Choose for all servers, by the time that a parser takes for a document."""
    servers = tuple(frozenset(query.expression for query in server) for server in network.servers)
    instance = Instance(network.expressions, servers)
    greedy = {
        size: tuple(network.expressions[at] for at in select_greedy(instance, size)) for size in range(EXPRESSIONS + 1)
    }
    asked = [
        ServerQueries(str(at), tuple(parse(written(network.expressions, query)) for query in server))
        for at, server in enumerate(network.servers[:_SAMPLE])
    ]
    sample = [Document(data, str(at)) for at, data in enumerate(documents)]
    problems = [make_problem(asked, sample, parse_seconds=parse_us / 1e6, bandwidth=each) for each in BANDWIDTHS]
    found = problems[0]
    numbers = [at for at, view in enumerate(found.problem.views) if view.expression in set(greedy[TWO_THIRDS])]
    most = sum(found.problem.views[at].bytes for at in numbers)
    chosen = [_chosen(each, None) for each in problems]
    numbers_by_bandwidth = zip(BANDWIDTHS, map(len, chosen), strict=True)
    return Views(greedy, _chosen(found, most), chosen[0], tuple(numbers_by_bandwidth))


def _chosen(found: ViewProblem, max_bytes: float | None) -> tuple[str, ...]:
    return tuple(found.texts(select_views(found.problem, max_bytes=max_bytes).views))


@dataclass(frozen=True, slots=True)
class Contest:
    """Hits as a share of the optimum's, the mean over instances; the worst of greedy; the optimum's seconds."""

    greedy: float
    ours: float
    greedy_worst: float
    optimum_seconds: float
    instances: int


def hold_contest(instances: int, seed: int) -> Contest:
    """Instances of 10,000 servers and 12 to 30 expressions, for half of these; views on expressions only."""
    shares: list[tuple[float, float, float]] = []
    for number in range(instances):
        instance = _instance(Random(f"{seed}/{number}"), number % 2 == 1)
        wanted = len(instance.expressions) // 2
        seconds, optimum = timed(lambda given: select_optimum(*given), (instance, wanted, _MOST_SECONDS))
        if not optimum.is_proven:
            continue
        ours = select_views(problem_of(instance), size=wanted)
        best = hits(instance, optimum.chosen) or 1.0
        shares.append(
            (hits(instance, select_greedy(instance, wanted)) / best, hits(instance, ours.views) / best, seconds)
        )
    greedy, our, seconds_each = zip(*shares, strict=True)
    return Contest(mean(greedy), mean(our), min(greedy), mean(seconds_each), len(shares))


def _instance(rng: Random, clustered: bool) -> Instance:
    """Expressions by Zipf's law, and documents that reach servers very unevenly; or servers that share interests."""
    size = rng.randint(12, 30)
    expressions = tuple(map(str, range(size)))
    if clustered:
        interests = [rng.sample(range(size), min(size, 6)) for _ in range(size // 2)]
        chosen = (rng.choice(interests) for _ in range(10_000))
        return Instance(expressions, tuple(frozenset(rng.sample(one, rng.randint(2, 5))) for one in chosen))
    weights = [1 / rank for rank in range(1, size + 1)]
    servers = [frozenset(rng.choices(range(size), weights, k=rng.randint(1, 5))) for _ in range(10_000)]
    return Instance(expressions, tuple(servers), tuple(rng.paretovariate(1.2) for _ in servers))
