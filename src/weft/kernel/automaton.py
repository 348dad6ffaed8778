"""All paths in one automaton, as columns: what a run over label paths steps along."""

import cython
import numpy as np

from weft.kernel.arrays import bits, held

if not cython.compiled:  # compiled, the types are those of the .pxd
    from weft.kernel.tables import Numbers


@cython.cclass
class StateTable:
    """The states and edges; never changed. `automaton.pxd` tells the columns."""

    def __init__(self, star, loop, symbol_start, sources, targets):
        self.star, self.loop = held(star), held(loop)
        self.symbol_start, self.sources, self.targets = held(symbol_start), held(sources), held(targets)
        self.has_star, self.is_loop = held(bits(star >= 0)), held(bits(loop == np.arange(len(loop))))
        inner = (star >= 0) | (loop >= 0)
        inner[sources] = True
        self.is_inner = held(bits(inner))
        self.edges, self.indexed = Numbers(len(sources)), 0

    def index(self, number: int) -> bool:
        """Put so many more edges where they are looked up; returns whether there are more. None is run before that."""
        end: cython.Py_ssize_t = min(self.indexed + number, self.sources.shape[0])
        symbol: cython.longlong = np.searchsorted(self.symbol_start, self.indexed, "right") - 1
        at: cython.Py_ssize_t
        state: cython.longlong
        for at in range(self.indexed, end):
            while self.symbol_start[symbol + 1] <= at:
                symbol += 1
            state = self.sources[at]
            self.edges.put((state << 32) | symbol, at)
        self.indexed = end
        return end < self.sources.shape[0]
