"""Problems of choosing views, drawn at random: parts with others nested in them, queries of one source or several."""

from __future__ import annotations

from random import Random

from weft.views.selection.problem import QueryLoad, Request, SpaceProblem, Storable

SOURCES = 5


def random_problem(random: Random, queries: int, parts: int, most: int, nested: float = 0.3) -> SpaceProblem:
    """So many queries over so many parts: each asks for `most` pieces of a source at most, popular ones often."""
    pieces: list[int] = []
    candidates: list[Storable] = []
    copies: list[Storable] = []
    of_source: list[list[int]] = [[] for _ in range(SOURCES)]
    for part in range(parts):
        size = int(random.lognormvariate(8, 1.5)) + 10
        own = [len(pieces)]
        pieces.append(size)
        while random.random() < nested:
            own.append(len(pieces))
            pieces.append(max(1, int(size * random.random() / 2)))
            copies.append(Storable(f"copy {len(copies)}", pieces[-1], (own[-1],)))
        of_source[random.randrange(SOURCES)] += own
        maintenance = random.random() * size * 1e-8 if random.random() < 0.2 else 0.0
        candidates.append(Storable(f"part {part}", size, tuple(own), maintenance, building=size * 1e-5))
    rates = [(random.uniform(0, 0.05), 1 / random.uniform(2e4, 1e6)) for _ in range(SOURCES)]
    loads = []
    for number in range(queries):
        asked = random.sample(range(SOURCES), random.choice([1, 1, 2, 3]))
        requests = (
            Request(str(source), *rates[source], _popular(random, of_source[source], most))
            for source in asked
            if of_source[source]
        )
        loads.append(QueryLoad(f"query {number}", random.random() ** 2, tuple(requests)))
    return SpaceProblem(tuple(pieces), (*candidates, *copies), tuple(loads), 1e-8)


def _popular(random: Random, pieces: list[int], most: int) -> tuple[int, ...]:
    numbers = (int(random.expovariate(3 / len(pieces))) for _ in range(random.randint(1, most)))
    return tuple(sorted({pieces[min(number, len(pieces) - 1)] for number in numbers}))


def some_budget(problem: SpaceProblem, share: float) -> int:
    """A share of what all parts take."""
    return int(share * sum(each.size for each in problem.candidates if each.key.startswith("part")))
