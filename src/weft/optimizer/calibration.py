"""Nothing in, the unit costs of this machine out: three small plans, each with more work than the one before.

The first brings up facts, the second asks a part of each, the third goes over many nodes on the way there. What is not
told apart by that keeps the proportion that it has elsewhere.
"""

from __future__ import annotations

from functools import cache
from time import thread_time

from weft.documents.build import read
from weft.documents.document import Document
from weft.documents.table import NodeTable
from weft.engine.engine import Engine
from weft.languages.xpath import parse
from weft.optimizer.group_costs import GroupUnitCosts

_FEW, _MANY = 16, 176  # conditions of a plan, all with other constants: what more of them take is theirs alone
_NODES = 64  # nodes that are gone over in the third
_DOCUMENTS = 16
_TURNS = 9  # of which the fastest counts
_FAR = 4.0  # times that a unit may be off what it is elsewhere, all others being as they are


@cache
def measured() -> GroupUnitCosts:
    """The unit costs, measured once in a process."""
    few, many = _table(0), _table(_NODES)
    fact = _seconds("/m[p > {0}]", few)
    asked = _seconds("/m[p > {0}][q > {0}]", few) - fact
    walked = _seconds("/m[p > {0}][q > {0}]", many) - fact - asked
    return fitted(GroupUnitCosts(), fact, asked, walked / _NODES)


def fitted(usual: GroupUnitCosts, fact: float, asked: float, node: float) -> GroupUnitCosts:
    """Unit costs with what was measured of them; what is far off was disturbed, and counts as far as it may."""
    scale = max(fact, 1e-9) / usual.fact
    together = usual.asked + usual.worked + usual.tested
    out = min(max(asked / (together * scale), 1 / _FAR), _FAR) * scale
    way = min(max(node / (usual.node * scale), 1 / _FAR), _FAR) * scale
    return GroupUnitCosts(
        value=usual.value * scale,
        fact=usual.fact * scale,
        asked=usual.asked * out,
        worked=usual.worked * out,
        node=usual.node * way,
        tested=usual.tested * out,
    )


def _table(nodes: int) -> NodeTable:
    text = f"<m><p>{_MANY}</p>{'<n/>' * nodes}<q>{_MANY}</q></m>"
    return read([Document(text)] * _DOCUMENTS)


def _seconds(query: str, table: NodeTable) -> float:
    """Of one condition more, and one document."""
    few, many = (_fastest([query.format(at) for at in range(number)], table) for number in (_FEW, _MANY))
    return max(many - few, 0.0) / ((_MANY - _FEW) * _DOCUMENTS)


def _fastest(queries: list[str], table: NodeTable) -> float:
    engine = Engine()
    for number, query in enumerate(queries):
        engine.add(number, parse(query))
    turns = []
    for _ in range(_TURNS):
        start = thread_time()
        engine.match(table, whether=True)
        turns.append(thread_time() - start)
    return min(turns)
