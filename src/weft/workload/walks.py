"""An element graph in, random walks through it out, from an element down to its descendants."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from random import Random

from weft.documents.dtd import Dtd

# How likely a step with `//` leaves an element of the walk out, so that there is something to descend over.
_SKIP = 0.5


def zipf(number: int, skew: float) -> list[float]:
    """The running totals of Zipf's weights for that many ranks; with skew 0 all weigh the same."""
    return list(accumulate((rank + 1) ** -skew for rank in range(number)))


def steps_along(
    walk: Sequence[str], descendant: float, wildcard: float, random: Callable[[], float]
) -> list[tuple[str, str]]:
    """The steps along a walk, each with its axis and the element that it stands for."""
    steps: list[tuple[str, str]] = []
    descend = False
    for place, element in enumerate(walk, 1):
        descend = descend or random() < descendant
        if descend and place < len(walk) and random() < _SKIP:
            continue
        name = "*" if random() < wildcard else element
        steps.append((f"//{name}" if descend else f"/{name}", element))
        descend = False
    return steps


class Walks:
    """Random walks whose choices among children are uniform, or follow Zipf's law in the children's order."""

    def __init__(self, dtd: Dtd, longest: int, skew: float, rng: Random) -> None:
        self._dtd = dtd
        self._skew = skew
        self._random = rng.random
        self._lengths = _lengths(dtd, longest)
        self._choices: dict[tuple[str, int], tuple[tuple[str, ...], list[float]]] = {}

    def below(self, name: str, length: int) -> Iterator[str]:
        """The elements of a walk below `name`: so many where possible, fewer where it cannot go on."""
        for left in range(length, 0, -1):
            children, totals = self._choice(name, left)
            if not children:
                return
            name = children[bisect(totals, self._random() * totals[-1])]
            yield name

    def _choice(self, name: str, left: int) -> tuple[tuple[str, ...], list[float]]:
        """The children to choose from: those that let the walk reach its length, or else all."""
        found = self._choices.get((name, left))
        if found is None:
            every = self._dtd.children(name)
            children = tuple(child for child in every if self._lengths[child] >= left) or every
            found = self._choices[name, left] = children, zipf(len(children), self._skew)
        return found


class WalksTo:
    """Random walks to certain ends, all of them equally likely.

    `ends` tells where a walk may end at an element: "" at the element itself, a name like `@id` one step further.
    """

    def __init__(self, dtd: Dtd, ends: Callable[[str], Sequence[str]], rng: Random) -> None:
        self._dtd = dtd
        self._ends = ends
        self._randrange = rng.randrange
        self._choices: dict[tuple[str, int, int], tuple[tuple[str, ...], int, list[int]]] = {}

    def number(self, name: str, least: int, most: int) -> int:
        """How many walks below `name` there are, of at least and at most so many steps."""
        totals = self._choice(name, least, most)[2]
        return totals[-1] if totals else 0

    def draw(self, name: str, least: int, most: int) -> list[str]:
        """The steps of one of these walks; there must be one."""
        walk: list[str] = []
        while True:
            choices, ends, totals = self._choice(name, least, most)
            place = bisect(totals, self._randrange(totals[-1]))
            name, least, most = choices[place], max(least - 1, 0), most - 1
            if name:
                walk.append(name)
            if place < ends:
                return walk

    def _choice(self, name: str, least: int, most: int) -> tuple[tuple[str, ...], int, list[int]]:
        """The ends here and the children, how many are ends, and the running totals of the walks by each."""
        found = self._choices.get((name, least, most))
        if found is None:
            ends = tuple(end for end in self._ends(name) if least <= bool(end) <= most)
            children = self._dtd.children(name) if most else ()
            below = (self.number(child, max(least - 1, 0), most - 1) for child in children)
            totals = list(accumulate([*(1 for _ in ends), *below]))
            found = self._choices[name, least, most] = (*ends, *children), len(ends), totals
        return found


def _lengths(dtd: Dtd, longest: int) -> dict[str, int]:
    """How many elements the longest walk has that starts with each element, counted up to `longest`."""
    lengths = dict.fromkeys(dtd.names, 1)
    for _ in range(longest - 1):
        lengths = {name: 1 + max((lengths[child] for child in dtd.children(name)), default=0) for name in dtd.names}
    return lengths
