"""A shared plan and its results in, the nodes that must come up by themselves out: results, and what drives them.

All others are parts that are looked at from a candidate, if there is one.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from weft.columns.integers import Flags
from weft.engine.shared.plan import NOTHING, NodeKind, SharedPlan


def needed_nodes(shared: SharedPlan, results: Iterable[int]) -> Flags:
    """Marks on the nodes of results, on those that drive them, on those that drive these, and so on."""
    needed = np.zeros(len(shared), bool)
    waiting = list(results)
    while waiting:
        node = waiting.pop()
        if not needed[node]:
            needed[node] = True
            waiting += drivers_of(shared, node)
    return needed


def drivers_of(shared: SharedPlan, node: int) -> tuple[int, ...]:
    """The parts whose facts bring a node up; none where its state does."""
    detail: Any = shared.detail[node]
    match shared.kind[node]:
        case NodeKind.LIFT | NodeKind.FIRST:
            return (detail,)
        case NodeKind.AND | NodeKind.RANK if detail[0] != NOTHING:
            return (detail[0],)
        case NodeKind.OR:
            return tuple(detail)
        case NodeKind.DOWN:
            parent, test, by_test = detail
            return (test if by_test else parent,)
        case _:
            return ()
