"""An element graph in, random walks through it out, from an element down to its descendants."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterator
from itertools import accumulate
from random import Random

from weft.documents.dtd import Dtd


def zipf(number: int, skew: float) -> list[float]:
    """The running totals of Zipf's weights for that many ranks; with skew 0 all weigh the same."""
    return list(accumulate((rank + 1) ** -skew for rank in range(number)))


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


def _lengths(dtd: Dtd, longest: int) -> dict[str, int]:
    """How many elements the longest walk has that starts with each element, counted up to `longest`."""
    lengths = dict.fromkeys(dtd.names, 1)
    for _ in range(longest - 1):
        lengths = {name: 1 + max((lengths[child] for child in dtd.children(name)), default=0) for name in dtd.names}
    return lengths
