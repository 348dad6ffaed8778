"""A frozen shared plan in, its nodes and edges as the columns that the compiled evaluation reads out."""

from __future__ import annotations

from typing import cast

import numpy as np

from weft.columns.integers import Ints
from weft.columns.ragged import Ragged
from weft.engine.shared.comparisons import Comparisons
from weft.engine.shared.constants import TEXT_INDEXES
from weft.engine.shared.plan import NOTHING, Chain, NodeKind, SharedPlan
from weft.kernel.plan_tables import PlanTables
from weft.plans.plan import Value

OPERATORS = ("=", "!=", "<", "<=", ">", ">=")
_PROBED = 3  # a reading of the compiled evaluation: facts of such tests come from outside


class _Columns:
    """The columns that a node's kind and detail fill; one entry a node."""

    def __init__(self, shared: SharedPlan, comparisons: Comparisons) -> None:
        self._shared, self._comparisons = shared, comparisons
        size = len(shared)
        self.child, self.parent, self.test = (np.full(size, NOTHING, np.int32) for _ in range(3))
        self.by_test, self.operator, self.reading = (np.zeros(size, np.int8) for _ in range(3))
        self.is_last, self.is_count = np.zeros(size, np.int8), np.zeros(size, np.int8)
        self.code, self.number = np.zeros(size, np.int32), np.zeros(size)
        self.checks: list[tuple[int, int]] = []
        self.chains: list[tuple[int, int, int]] = []
        for node, kind in enumerate(shared.kind):
            self._fill(node, kind, shared.detail[node])

    def _fill(self, node: int, kind: NodeKind, detail: object) -> None:
        match kind:
            case NodeKind.TEST:
                self._fill_test(node, cast(tuple[str, str | float, int], detail))
            case NodeKind.LIFT | NodeKind.FIRST:
                self.child[node] = cast(int, detail)
            case NodeKind.AND:
                self.child[node], checks = cast(tuple[int, tuple[int, ...]], detail)
                self.checks += [(node, check) for check in checks]
            case NodeKind.OR:
                self.checks += [(node, part) for part in cast(tuple[int, ...], detail)]
            case NodeKind.RANK:
                self.child[node], operator, number = cast(tuple[int, str, float | None], detail)
                self._compare(node, operator, number or 0.0)
                self.is_last[node] = number is None
            case NodeKind.DOWN:
                self.parent[node], self.test[node], self.by_test[node] = cast(tuple[int, int, bool], detail)
            case NodeKind.LINKED:
                chain, (asked, limit) = cast(tuple[Chain, tuple[str | Value, float]], detail)
                self.chains += [(node, edge, below) for edge, below in chain]
                if isinstance(asked, str):
                    self.is_count[node] = True
                    self._compare(node, asked, limit)

    def _fill_test(self, node: int, detail: tuple[str, str | float, int]) -> None:
        operator, constant, reading = detail
        if operator in TEXT_INDEXES:
            self.reading[node] = _PROBED
            return
        self.reading[node] = reading
        self._compare(node, operator, 0.0 if isinstance(constant, str) else constant)
        if isinstance(constant, str):
            self.code[node] = self._comparisons.texts[constant]

    def _compare(self, node: int, operator: str, number: float) -> None:
        self.operator[node], self.number[node] = OPERATORS.index(operator), number


def make_tables(
    shared: SharedPlan, comparisons: Comparisons, result: Ints, dependents: Ragged, edge_steps: Ragged
) -> PlanTables:
    """The columns of a plan that no longer changes."""
    columns, size = _Columns(shared, comparisons), len(shared)
    checks = Ragged(columns.checks, size)
    chains = np.array(columns.chains, np.int32).reshape(-1, 3)
    return PlanTables(
        {
            "kind": np.array(shared.kind, np.int8),
            "state": np.array(shared.state, np.int32),
            "edge": np.array(shared.edge, np.int32),
            "result": result,
            "dependent_start": dependents.starts,
            "dependents": dependents.entries,
            "check_start": checks.starts,
            "checks": checks.entries,
            "chain_start": np.searchsorted(chains[:, 0], np.arange(size + 1)),
            "chain_edges": chains[:, 1],
            "chain_nodes": chains[:, 2],
            "symbol": np.array(shared.states.symbol_of_state, np.int32),
            "edge_up": np.array(shared.edges.up, np.int32),
            "edge_above": np.array(shared.edges.above, np.int32),
            "step_start": edge_steps.starts,
            "steps": edge_steps.entries,
        }
        | {name: getattr(columns, name) for name in _FILLED}
    )


_FILLED = ("child", "parent", "test", "by_test", "operator", "reading", "is_last", "is_count", "code", "number")
