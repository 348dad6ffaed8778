"""What is held in, out how long queries wait for their sources, and what would shorten that."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from weft.columns.integers import Flags
from weft.views.selection.matrices import matrix_of
from weft.views.selection.problem import SpaceProblem


class Waits:
    """The requests of all queries as columns."""

    def __init__(self, problem: SpaceProblem) -> None:
        queries = [query for query in problem.queries for _ in query.requests]
        requests = [request for query in problem.queries for request in query.requests]
        self._sizes = np.array(problem.pieces, float)
        self._latency = np.array([request.latency for request in requests])
        self._byte_seconds = np.array([request.byte_seconds for request in requests])
        self._frequency = np.array([query.frequency for query in queries])
        numbers = [number for number, query in enumerate(problem.queries) for _ in query.requests]
        self._query = np.array(numbers, np.int64)
        self._queries = len(problem.queries)
        self._pieces = matrix_of([request.pieces for request in requests], self._sizes.size)
        self._of_piece = self._pieces.T.tocsr()
        self._local = self._sizes * (self._of_piece @ self._frequency) * problem.local_byte_seconds

    def weigh(self, is_held: Flags) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """What it saves to hold each piece; and beyond that, to complete each request, and to complete each query.

        A piece saves something only where its request is the one that the query waits for longest.
        """
        is_open = (~is_held).astype(float)
        missing = self._pieces @ (self._sizes * is_open)
        times = np.where(self._pieces @ is_open > 0, self._latency + missing * self._byte_seconds, 0.0)
        slowest, others, is_slowest = self._slowest(times)
        rate = self._frequency * self._byte_seconds * is_slowest
        worth = self._sizes * (self._of_piece @ rate) - self._local
        counted = rate * missing  # what the pieces of a request are worth to its own query
        completed = self._frequency * (slowest[self._query] - others) - counted
        spared = np.zeros(self._queries)
        np.add.at(spared, self._query, self._frequency * times * is_slowest - counted)
        return worth, completed, spared

    def _slowest(self, times: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64], Flags]:
        """By query the longest time, by request the longest of the others', and which request is the slowest one."""
        slowest, second = np.zeros(self._queries), np.zeros(self._queries)
        np.maximum.at(slowest, self._query, times)
        order = np.lexsort((-times, self._query))
        is_first = np.ones(order.size, bool)
        is_first[1:] = self._query[order[1:]] != self._query[order[:-1]]
        is_slowest = np.zeros(order.size, bool)
        is_slowest[order[is_first]] = True
        np.maximum.at(second, self._query, np.where(is_slowest, 0.0, times))
        return slowest, np.where(is_slowest, second[self._query], slowest[self._query]), is_slowest
