"""The choice of views as an integer program: a problem in, what HiGHS finds out.

Its variables, all from 0 to 1: whether a candidate is chosen (the only integers); whether a piece is held that several
candidates hold; whether a request is spared its contact; which share of its wait a query saves that has several
requests. Costs are scaled so that the whole workload takes SCALE without views, and sizes by the budget.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from weft.errors import ConfigurationError
from weft.views.selection.matrices import matrix_with
from weft.views.selection.problem import QueryLoad, Request, SpaceProblem

SCALE = 1_000.0
_OPTIMAL, _INFEASIBLE, _UNBOUNDED = 0, 2, 3  # SciPy's status; others tell that a limit was reached


class Program:
    """The program of a problem that has candidates, for a budget above 0."""

    def __init__(self, problem: SpaceProblem, budget: float) -> None:
        self.problem = problem
        whole = problem.time(())
        self.seconds = whole / SCALE if whole > 0 else 1.0  # of a unit of cost
        self._costs = [each.maintenance / self.seconds for each in problem.candidates]
        self._rows: list[int] = []
        self._columns: list[int] = []
        self._values: list[float] = []
        self._most: list[float] = []  # of each row
        budget = min(budget, problem.size(range(len(problem.candidates))))
        sizes = [(at, each.size / budget) for at, each in enumerate(problem.candidates) if each.size]
        self._row(sizes, 1.0)
        self._held = self._hold_pieces()
        for query in problem.queries:
            self._add_query(query)
        self._matrix = matrix_with(self._values, self._rows, self._columns, (len(self._most), len(self._costs)))

    # -- what is solved

    def solve(
        self,
        seconds: float | None = None,
        nodes: int | None = None,
        gap: float = 0.0,
        fixed: Mapping[int, bool] | None = None,
    ) -> tuple[list[int] | None, float, bool]:
        """The candidates that are best, if any were found in time, the most seconds that any could save, and whether
        that is proven, but for a share that is the gap. Fixed candidates are chosen, or not, as told."""
        from scipy.optimize import Bounds, LinearConstraint, milp  # noqa: PLC0415

        number = len(self.problem.candidates)
        lower, upper, is_integer = np.zeros(len(self._costs)), np.ones(len(self._costs)), np.zeros(len(self._costs))
        for at, is_chosen in (fixed or {}).items():
            lower[at] = upper[at] = is_chosen
        is_integer[:number] = 1
        limits = {"time_limit": seconds, "node_limit": nodes}
        solved = milp(
            self._costs,
            integrality=is_integer,
            bounds=Bounds(lower, upper),
            constraints=LinearConstraint(self._matrix, -np.inf, np.array(self._most)),
            options={"mip_rel_gap": gap, **{name: limit for name, limit in limits.items() if limit is not None}},
        )
        if solved.status in (_INFEASIBLE, _UNBOUNDED):
            raise ConfigurationError(f"the best views were not found: {solved.message}")
        bound = SCALE if solved.mip_dual_bound is None else -solved.mip_dual_bound
        chosen = None if solved.x is None else np.flatnonzero(solved.x[:number] > 0.5).tolist()
        return chosen, bound * self.seconds, solved.status == _OPTIMAL

    # -- how it is made

    def _column(self, cost: float = 0.0) -> int:
        self._costs.append(cost)
        return len(self._costs) - 1

    def _row(self, entries: Sequence[tuple[int, float]], most: float) -> None:
        for column, value in entries:
            self._rows.append(len(self._most))
            self._columns.append(column)
            self._values.append(value)
        self._most.append(most)

    def _hold_pieces(self) -> list[int]:
        """By piece the variable that tells if it is held; -1 where nothing holds it."""
        held: list[int] = []
        for numbers in self.problem.holders():
            if len(numbers) < 2:
                held.append(numbers[0] if numbers else -1)
                continue
            held.append(piece := self._column())
            self._row([(piece, 1.0), *((number, -1.0) for number in numbers)], 0.0)
            for number in numbers:
                self._row([(number, 1.0), (piece, -1.0)], 0.0)
        return held

    def _add_query(self, query: QueryLoad) -> None:
        """What is saved is a negative cost; a query with several requests waits for the slowest of them."""
        weight, sizes = query.frequency / self.seconds, self.problem.pieces
        local = self.problem.local_byte_seconds
        for request in query.requests:
            for piece in request.pieces:
                if self._held[piece] >= 0:
                    self._costs[self._held[piece]] += weight * local * sizes[piece]
        if len(query.requests) == 1:
            for column, seconds in self._saved(query.requests[0]):
                self._costs[column] -= weight * seconds
        elif query.requests:
            alone = [request.latency + self._bytes(request) * request.byte_seconds for request in query.requests]
            if (slowest := max(alone)) > 0:
                share = self._column(-weight * slowest)  # of the wait for the slowest of its sources
                for request, seconds in zip(query.requests, alone, strict=True):
                    saved = [(column, -each / slowest) for column, each in self._saved(request)]
                    self._row([(share, 1.0), *saved], 1 - seconds / slowest)

    def _bytes(self, request: Request) -> int:
        return sum(self.problem.pieces[piece] for piece in request.pieces)

    def _saved(self, request: Request) -> list[tuple[int, float]]:
        """What a request's time is less, by variable: for each piece that is held, and for the contact."""
        columns = [self._held[piece] for piece in request.pieces]
        saved = [
            (column, self.problem.pieces[piece] * request.byte_seconds)
            for column, piece in zip(columns, request.pieces, strict=True)
            if column >= 0
        ]
        if request.latency and all(column >= 0 for column in columns):
            distinct = list(dict.fromkeys(columns))
            spared = distinct[0] if len(distinct) == 1 else self._column()
            if len(distinct) > 1:
                for column in distinct:
                    self._row([(spared, 1.0), (column, -1.0)], 0.0)
            saved.append((spared, request.latency))
        return saved
