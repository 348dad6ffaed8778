"""An instance of the paper's restricted view selection: which expressions each server needs, and what is a hit."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass

import numpy as np

from weft.columns.integers import Ints
from weft.errors import ConfigurationError


@dataclass(frozen=True, slots=True)
class Instance:
    """The paper's P (`expressions`) and s_i (`servers`, by the numbers of their expressions).

    A weight says how many documents reach a server; without weights each is reached by as many.
    """

    expressions: tuple[str, ...]
    servers: tuple[frozenset[int], ...]
    weights: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if self.weights and len(self.weights) != len(self.servers):
            raise ConfigurationError(
                f"expected a weight for each of {len(self.servers)} servers, found {len(self.weights)}"
            )
        if any(not 0 <= number < len(self.expressions) for server in self.servers for number in server):
            raise ConfigurationError(f"expected servers with expressions from 0 to {len(self.expressions) - 1}")

    def weight(self, server: int) -> float:
        """How many documents reach a server."""
        return self.weights[server] if self.weights else 1.0

    def aggregated(self) -> dict[frozenset[int], float]:
        """The distinct sets of expressions, each with the weight of all servers that have it, in a fixed order."""
        found: dict[frozenset[int], float] = defaultdict(float)
        for number, server in enumerate(self.servers):
            found[server] += self.weight(number)
        return dict(sorted(found.items(), key=lambda entry: (len(entry[0]), sorted(entry[0]))))


def hits(instance: Instance, chosen: Collection[int]) -> float:
    """The weight of the servers all of whose expressions are among the chosen ones."""
    views = frozenset(chosen)
    return sum(instance.weight(number) for number, server in enumerate(instance.servers) if server <= views)


def rows_of(sets: Iterable[Iterable[int]]) -> tuple[Ints, Ints]:
    """Sets of numbers as columns: where each set starts (and the last ends), and the numbers in them."""
    sorted_sets = [sorted(each) for each in sets]
    starts = np.cumsum([0, *map(len, sorted_sets)], dtype=np.int32)
    return starts, np.array([number for each in sorted_sets for number in each], np.int32)
