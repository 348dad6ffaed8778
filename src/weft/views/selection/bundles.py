"""Bundles of what queries need together in, a choice out that takes those first that save most for a byte.

A query is spared a source only if all that it asks there is held, so what a candidate is worth depends on the others. A
*bundle* is a set of candidates that are taken as one: a candidate alone, or all that a query, or its request to one
source, needs. All of them are weighed at once, by sums over columns.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from weft.columns.integers import Flags, Longs
from weft.views.selection.matrices import matrix_of
from weft.views.selection.problem import Request, SpaceProblem
from weft.views.selection.waits import Waits

_AT_ONCE = 16  # bundles that are taken before all are weighed again
_NEARLY = 0.9  # of the best ratio: what is taken with it


class Bundles:
    """All bundles of a problem."""

    def __init__(self, problem: SpaceProblem) -> None:
        self._problem = problem
        self._sizes = np.array([each.size for each in problem.candidates], float)
        self._maintenance = np.array([each.maintenance for each in problem.candidates])
        self._holders = problem.holders()
        self._smallest = [min(each, key=lambda number: self._sizes[number], default=-1) for each in self._holders]
        self._members: dict[tuple[int, ...], int] = {(number,): number for number in range(self._sizes.size)}
        self._waits = Waits(problem)
        completing: list[tuple[int, int]] = []  # a bundle, and the one request that it completes
        sparing: list[tuple[int, int]] = []  # a bundle, and the query with several requests that it completes
        at = 0
        for number, query in enumerate(problem.queries):
            for request in query.requests:
                completing += [(bundle, at) for bundle in self._complete((request,))]
                at += 1
            if len(query.requests) > 1:
                sparing += [(bundle, number) for bundle in self._complete(query.requests)]
        self._completing, self._sparing = _columns(completing), _columns(sparing)
        self._list = list(self._members)
        self._pieces = matrix_of([each.pieces for each in problem.candidates], len(problem.pieces))
        self._candidates = matrix_of(self._list, self._sizes.size)

    def _complete(self, requests: tuple[Request, ...]) -> list[int]:
        """What holds all that requests ask for: by those that hold most of it, by the smallest, and by either."""
        holders, smallest = self._holders, self._smallest
        pieces = {piece for request in requests for piece in request.pieces}
        if not pieces or not all(holders[piece] for piece in pieces):
            return []
        first = {holders[piece][0] for piece in pieces}
        found = [first]
        if any(len(holders[piece]) > 1 for piece in pieces):
            either: set[int] = set()
            for number in first:
                apart = {smallest[piece] for piece in self._problem.candidates[number].pieces if piece in pieces}
                either |= {number} if self._sizes[list(apart)].sum() >= self._sizes[number] else apart
            found += [{smallest[piece] for piece in pieces}, either]
        keys = {tuple(sorted(each)) for each in found}
        return [self._members.setdefault(key, len(self._members)) for key in sorted(keys)]

    def fill(self, budget: float, start: Iterable[int] = ()) -> list[int]:
        """A choice with all that still fits and saves, the bundle that saves most for a byte first."""
        is_stored = np.zeros(self._sizes.size, bool)
        is_stored[list(start)] = True
        while True:
            is_held = (self._pieces.T @ is_stored.astype(float)) > 0
            is_useful = ((self._pieces @ (~is_held).astype(float)) > 0) & ~is_stored
            ratios, sizes = self._weigh(is_useful, is_held)
            room = budget - self._sizes[is_stored].sum()
            taken = self._take(np.where(sizes <= room, ratios, 0.0), room, is_useful)
            if not taken:
                return np.flatnonzero(is_stored).tolist()
            is_stored[list(taken)] = True

    def _take(self, ratios: NDArray[np.float64], room: float, is_useful: Flags) -> set[int]:
        """The useful candidates of the best bundle, and of others that are nearly as good, as long as they fit."""
        taken: set[int] = set()
        least = _NEARLY * ratios.max(initial=0.0)
        best = np.flatnonzero(ratios >= least) if least > 0 else np.zeros(0, np.int64)
        for at in best[np.argsort(-ratios[best], kind="stable")][:_AT_ONCE].tolist():
            new = [number for number in self._list[at] if is_useful[number] and number not in taken]
            if (size := self._sizes[new].sum()) <= room:
                room -= size
                taken.update(new)
        return taken

    def _weigh(self, is_useful: Flags, is_held: Flags) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """By bundle: what it saves for a byte, and the bytes that it still takes."""
        worth, completed, spared = self._waits.weigh(is_held)
        sizes = self._candidates @ np.where(is_useful, self._sizes, 0.0)
        saved = self._candidates @ np.where(is_useful, self._pieces @ worth - self._maintenance, 0.0)
        np.add.at(saved, self._completing[0], completed[self._completing[1]])
        np.add.at(saved, self._sparing[0], spared[self._sparing[1]])
        return np.where(sizes > 0, saved / np.maximum(sizes, 1), 0.0), sizes


def _columns(pairs: list[tuple[int, int]]) -> Longs:
    return np.array(pairs, np.int64).reshape(-1, 2).T
