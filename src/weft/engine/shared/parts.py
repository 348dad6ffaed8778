"""A node of the shared plan in, the nodes that it is made of out."""

from __future__ import annotations

from typing import Any

from weft.engine.shared.plan import NOTHING, NodeKind, SharedPlan


def parts_of(shared: SharedPlan, node: int) -> tuple[int, ...]:
    """The nodes whose facts decide where a node holds."""
    detail: Any = shared.detail[node]
    match shared.kind[node]:
        case NodeKind.LIFT | NodeKind.FIRST:
            found: tuple[int, ...] = (detail,)
        case NodeKind.AND:
            found = (detail[0], *(~check if check < 0 else check for check in detail[1]))
        case NodeKind.OR:
            found = detail
        case NodeKind.RANK:
            found = (detail[0],)
        case NodeKind.DOWN:
            found = detail[:2]
        case NodeKind.LINKED:
            found = tuple(below for _, below in detail[0])
        case _:
            found = ()
    return tuple(part for part in found if part != NOTHING)
