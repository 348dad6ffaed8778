"""What a choice of views is expected to cost: look-ups with short-circuit, parses after misses that matter, bytes.

Events of different conjuncts count as independent. A conjunct is known to be false, known to be true, or not known
(no view serves it, or the look-up misses); a query needs a parse if none is known to be false and one is not known.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from weft.columns.integers import Flags, Longs
from weft.headers.selection.problem import Conjunct, Problem

Floats = NDArray[np.float64]
#: Conjuncts by expression and selectivity, sorted: what queries are told apart by.
_AskedQuery = tuple[tuple[int, float], ...]
_UNKNOWN = 1.0  # the selectivity to reckon with where none is known: no parse is saved by it


class Objective:
    """The expected cost of choices for one problem; equal servers and equal queries are reckoned once."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.bytes = np.array([view.bytes for view in problem.views], np.float64)
        self.evaluations = 0
        services = problem.services
        self._expressions = 1 + max(
            [service.expression for service in services]
            + [part.expression for server in problem.servers for query in server.queries for part in query],
            default=-1,
        )
        width = max((len(service.views) for service in services), default=1)
        self._service_views = np.array(
            [[*service.views, *[service.views[0]] * (width - len(service.views))] for service in services], np.int64
        ).reshape(len(services), width)
        self._service_expression = np.array([service.expression for service in services], np.int64)
        self._service_cost = np.array([service.cost for service in services], np.float64)
        self._service_hit = np.array([service.hit for service in services], np.float64)
        # From the dearest to the cheapest in all, so that the last one written for an expression is the best.
        worth = self._service_cost + (1 - self._service_hit) * problem.parse_cost
        self._dearest_first = np.argsort(-worth, kind="stable")
        self._aggregate()

    def _aggregate(self) -> None:
        loads: dict[tuple[_AskedQuery, ...], float] = defaultdict(float)
        for server in self.problem.servers:
            loads[tuple(sorted({_asked(query) for query in server.queries if query}))] += server.weight
        loads.pop((), None)
        queries = sorted({query for load in loads for query in load})
        number = {query: at for at, query in enumerate(queries)}
        width = max(map(len, queries), default=1)
        nothing = self._expressions  # stands for a conjunct that is always known and true
        self._conjunct = np.full((len(queries), width), nothing, np.int64)
        self._selectivity = np.ones((len(queries), width))
        for at, query in enumerate(queries):
            self._conjunct[at, : len(query)] = [expression for expression, _ in query]
            self._selectivity[at, : len(query)] = [share for _, share in query]
        self.weights = np.array(list(loads.values()), np.float64)
        self.needs = [frozenset(expression for query in load for expression, _ in query) for load in loads]
        self._queries, self._query_starts = _ragged([[number[query] for query in load] for load in loads])
        self._needed, self._needed_starts = _ragged([sorted(needs) for needs in self.needs])

    @cached_property
    def total(self) -> float:
        """The weight of all servers that ask anything."""
        return float(self.weights.sum())

    def cost(self, chosen: Collection[int]) -> float:
        """The expected cost of a choice."""
        parsing, look_ups = self._of_servers(self._flags(chosen))
        parse_cost = self.problem.parse_cost
        servers = np.minimum(look_ups + parsing * parse_cost, parse_cost)  # where nothing helps nothing is looked up
        return float(servers @ self.weights) + float(self.bytes[list(chosen)].sum()) * self.problem.header_cost

    def hits(self, chosen: Collection[int]) -> float:
        """The expected weight of the servers that need no parse."""
        parsing, _ = self._of_servers(self._flags(chosen))
        return float((1 - parsing) @ self.weights)

    def key(self, chosen: Collection[int]) -> bytes:
        """A choice in few bytes, the same for the same views."""
        return np.packbits(self._flags(chosen)).tobytes()

    def _flags(self, chosen: Collection[int]) -> Flags:
        flags = np.zeros(self.bytes.size, bool)
        flags[list(chosen)] = True
        return flags

    def _served(self, chosen: Flags) -> tuple[Floats, Floats]:
        """For each expression how often a look-up is a hit, and what it costs; both are 0 where no view serves it."""
        hit, cost = np.zeros(self._expressions + 1), np.zeros(self._expressions + 1)
        hit[-1] = 1.0
        there = self._dearest_first[np.all(chosen[self._service_views], axis=1)[self._dearest_first]]
        hit[self._service_expression[there]] = self._service_hit[there]
        cost[self._service_expression[there]] = self._service_cost[there]
        return hit, cost

    def _of_servers(self, chosen: Flags) -> tuple[Floats, Floats]:
        """For each server how likely a parse is, and the expected cost of its look-ups."""
        self.evaluations += 1
        if not self.weights.size:
            return np.zeros(0), np.zeros(0)
        hit, cost = self._served(chosen)
        parsing, look_ups = self._of_queries(hit[self._conjunct], cost[self._conjunct])
        without = np.multiply.reduceat(1 - parsing[self._queries], self._query_starts)
        each = np.add.reduceat(look_ups[self._queries], self._query_starts)
        once = np.add.reduceat(cost[self._needed], self._needed_starts)  # an expression is looked up once at most
        return 1 - without, np.minimum(each, once)

    def _of_queries(self, hit: Floats, cost: Floats) -> tuple[Floats, Floats]:
        share = self._selectivity
        stops = hit * (1 - share)
        look_ups = (cost * _reached(cost, stops)).sum(axis=1)
        parsing = (1 - stops).prod(axis=1) - (hit * share).prod(axis=1)
        return np.clip(parsing, 0, 1), look_ups


def _asked(query: tuple[Conjunct, ...]) -> _AskedQuery:
    """A query for the reckoning: alone, a conjunct is looked up and known whatever its selectivity is."""
    if len(query) == 1:
        return ((query[0].expression, _UNKNOWN),)
    shares = ((part.expression, _UNKNOWN if part.selectivity is None else part.selectivity) for part in query)
    return tuple(sorted(shares))


def _reached(cost: Floats, stops: Floats) -> Floats:
    """How likely each conjunct is looked at if those come first that cost least for the chance to end it."""
    if cost.shape[1] == 1:
        return np.ones_like(cost)
    with np.errstate(divide="ignore", invalid="ignore"):
        rank = np.where(stops > 0, cost / stops, np.inf)
    order = np.argsort(rank, axis=1, kind="stable")
    going_on = np.cumprod(1 - np.take_along_axis(stops, order, axis=1), axis=1)
    before = np.concatenate([np.ones((cost.shape[0], 1)), going_on[:, :-1]], axis=1)
    reached = np.empty_like(before)
    np.put_along_axis(reached, order, before, axis=1)
    return reached


def _ragged(lists: list[list[int]]) -> tuple[Longs, Longs]:
    """Lists, none of them empty, one after another, and where each starts."""
    flat = np.array([number for each in lists for number in each], np.int64)
    return flat, np.cumsum([0, *map(len, lists)], dtype=np.int64)[:-1]
