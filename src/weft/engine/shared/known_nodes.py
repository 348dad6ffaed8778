"""What a node means in, the key that finds it again out: nodes that mean the same are one.

Keys are plain numbers where there are many of them: small, quick to hash, and nothing to the garbage collector.
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterable, Iterator

from weft.engine.shared.node_tables import NodeTables
from weft.engine.shared.nodes import NodeKind

NodeKeys = dict[NodeKind, dict[Hashable, int]]


def value_key(state: int, operator: int, reading: int, constant: int) -> int:
    """The key of a TEST."""
    return (state << 32 | constant) << 8 | reading << 4 | operator


def edge_key(edge: int, child: int) -> int:
    """The key of a LIFT or FIRST; an edge begins at one state."""
    return edge << 32 | child


def down_key(edge: int, parent: int, test: int) -> int:
    """The key of a DOWN."""
    return (edge << 32 | parent) << 32 | test + 1


def conjunction_key(state: int, positive: Iterable[int], negated: Iterable[int]) -> int:
    """The key of an AND with its parts in order, the driver among them; without parts its state tells it."""
    key = 1 << 32 | state
    for part in positive:
        key = key << 33 | part << 1
    for part in negated:
        key = key << 33 | part << 1 | 1
    return key


def disjunction_key(parts: Iterable[int]) -> int:
    """The key of an OR with its parts in order."""
    key = 1
    for part in parts:
        key = key << 32 | part
    return key


def known_nodes(tables: NodeTables) -> NodeKeys:
    """All nodes by their keys."""
    known: NodeKeys = {kind: {} for kind in NodeKind}
    nodes = tables.nodes
    for node, kind in enumerate(nodes.kind):
        if kind == NodeKind.EXISTS:
            known[NodeKind.EXISTS][nodes.edge[node]] = node
        elif kind == NodeKind.NEVER:
            known[NodeKind.NEVER][nodes.state[node]] = node
    for node, key in itertools.chain(_of_values(tables), _of_parts(tables), _of_others(tables)):
        known[NodeKind(nodes.kind[node])][key] = node
    return known


def _of_values(tables: NodeTables) -> Iterator[tuple[int, Hashable]]:
    state, tests, names = tables.nodes.state, tables.tests, tables.names
    for node, *rest in zip(tests.node, tests.operator, tests.reading, tests.constant, strict=True):
        yield node, value_key(state[node], *rest)
    for node, label in zip(names.node, names.label, strict=True):
        yield node, (state[node], label)


def _of_parts(tables: NodeTables) -> Iterator[tuple[int, Hashable]]:
    nodes, lifts, downs = tables.nodes, tables.lifts, tables.downs
    for node, child in zip(lifts.node, lifts.child, strict=True):
        yield node, edge_key(nodes.edge[node], child)
    for node, parent, test in zip(downs.node, downs.parent, downs.test, strict=True):
        yield node, down_key(nodes.edge[node], parent, test)
    for row, (node, driver) in enumerate(zip(tables.conjunctions.node, tables.conjunctions.driver, strict=True)):
        checks = tables.conjunctions.checks(row)
        positive = sorted([check for check, is_negated in checks if not is_negated] + [driver] * (driver >= 0))
        yield node, conjunction_key(nodes.state[node], positive, (check for check, is_negated in checks if is_negated))
    for row, node in enumerate(tables.disjunctions.node):
        yield node, disjunction_key(tables.disjunctions.parts(row))


def _of_others(tables: NodeTables) -> Iterator[tuple[int, Hashable]]:
    state, measures, compared, linked = tables.nodes.state, tables.measures, tables.compared, tables.linked
    for node, kind, driver, chain in zip(measures.node, measures.kind, measures.driver, measures.chain, strict=True):
        yield node, (state[node], kind, driver, tables.chains.links(chain))
    for node, *rest in zip(compared.node, compared.measure, compared.operator, compared.number, strict=True):
        yield node, tuple(rest)
    derived = tables.derivations
    for row, node in enumerate(derived.node):
        yield node, (state[node], derived.formula[row], derived.goal[row], bool(derived.is_member[row]))
    for node, chain, goal in zip(linked.node, linked.chain, linked.goal, strict=True):
        yield node, (state[node], tables.chains.links(chain), goal)
