"""Nodes of a shared plan in, the nodes that they are made of out: one by one for people, as columns for all at once."""

from __future__ import annotations

import numpy as np

from weft.columns.integers import Ints, expand
from weft.engine.shared.node_tables import NodeTables
from weft.engine.shared.nodes import NOTHING, NodeKind

#: (node, a part of it) as columns.
PartPairs = tuple[Ints, Ints]


def parts_of(tables: NodeTables, node: int) -> tuple[int, ...]:
    """The nodes whose facts decide where a node holds, what drives it first."""
    row = tables.nodes.row[node]
    match NodeKind(tables.nodes.kind[node]):
        case NodeKind.LIFT | NodeKind.FIRST:
            found = [tables.lifts.child[row]]
        case NodeKind.AND:
            found = [tables.conjunctions.driver[row], *(check for check, _ in tables.conjunctions.checks(row))]
        case NodeKind.OR:
            found = tables.disjunctions.parts(row)
        case NodeKind.MEASURE:
            found = [tables.measures.driver[row], *_of_chain(tables, tables.measures.chain[row])]
        case NodeKind.COMPARED:
            found = [tables.compared.measure[row]]
        case NodeKind.DOWN:
            found = [tables.downs.parent[row], tables.downs.test[row]]
        case NodeKind.LINKED:
            found = [tables.linked.driver[row], *_of_chain(tables, tables.linked.chain[row])]
        case _:
            found = []
    return tuple(part for part in found if part != NOTHING)


def drivers_of(tables: NodeTables, node: int) -> tuple[int, ...]:
    """The parts whose facts bring a node up; none where its state or a value does."""
    row = tables.nodes.row[node]
    match NodeKind(tables.nodes.kind[node]):
        case NodeKind.LIFT | NodeKind.FIRST:
            found = [tables.lifts.child[row]]
        case NodeKind.AND:
            found = [tables.conjunctions.driver[row]]
        case NodeKind.OR:
            found = tables.disjunctions.parts(row)
        case NodeKind.MEASURE:
            found = [tables.measures.driver[row]]
        case NodeKind.COMPARED:
            found = [tables.compared.measure[row]]
        case NodeKind.LINKED:
            found = [tables.linked.driver[row]]
        case NodeKind.DOWN:
            found = [(tables.downs.test if tables.downs.by_test[row] else tables.downs.parent)[row]]
        case _:
            found = []
    return tuple(part for part in found if part != NOTHING)


def driver_pairs(tables: NodeTables, driver_of: Ints | None = None) -> PartPairs:
    """The same for all nodes; `driver_of` conjunctions if others drive than the plan says."""
    downs = tables.downs
    driver_of = np.array(tables.conjunctions.driver, np.int32) if driver_of is None else driver_of
    by_test = np.array(downs.by_test, bool)
    driver = np.where(by_test, np.array(downs.test, np.int32), np.array(downs.parent, np.int32))
    return _joined(
        (np.array(tables.lifts.node, np.int32), np.array(tables.lifts.child, np.int32)),
        (np.array(tables.conjunctions.node, np.int32), driver_of),
        (np.array(tables.measures.node, np.int32), np.array(tables.measures.driver, np.int32)),
        (np.array(tables.compared.node, np.int32), np.array(tables.compared.measure, np.int32)),
        (np.array(tables.linked.node, np.int32), np.array(tables.linked.driver, np.int32)),
        (np.array(downs.node, np.int32), driver.astype(np.int32)),
        disjunction_pairs(tables),
    )


def part_pairs(tables: NodeTables) -> PartPairs:
    """All nodes, each with what it is made of; some come twice."""
    downs, measures, linked = tables.downs, tables.measures, tables.linked
    node = np.array(downs.node, np.int32)
    checked, check, _ = check_columns(tables)
    return _joined(
        driver_pairs(tables),
        (checked, check),
        (node, np.array(downs.parent, np.int32)),
        (node, np.array(downs.test, np.int32)),
        _chain_pairs(tables, np.array(measures.node, np.int32), np.array(measures.chain, np.int32)),
        _chain_pairs(tables, np.array(linked.node, np.int32), np.array(linked.chain, np.int32)),
    )


def _of_chain(tables: NodeTables, chain: int) -> list[int]:
    return [below for _, below in tables.chains.links(chain)]


def _chain_pairs(tables: NodeTables, nodes: Ints, chains: Ints) -> PartPairs:
    """Nodes, each with those that hold along its chain."""
    starts = np.array(tables.chains.start, np.int64)
    has = chains != NOTHING
    which, inside = expand(starts[chains[has]], starts[chains[has] + 1])
    return nodes[has][which], np.array(tables.chains.below, np.int32)[inside]


def disjunction_pairs(tables: NodeTables) -> PartPairs:
    """The nodes that are disjunctions, each with each part."""
    ors = tables.disjunctions
    return np.repeat(np.array(ors.node, np.int32), np.diff(ors.start)), np.array(ors.part, np.int32)


def check_columns(tables: NodeTables) -> tuple[Ints, Ints, Ints]:
    """The nodes that are conjunctions, each with each of its checks, and whether that is negated."""
    ands = tables.conjunctions
    node = np.repeat(np.array(ands.node, np.int32), np.diff(ands.start))
    return node, np.array(ands.check, np.int32), np.array(ands.is_negated, np.int32)


def _joined(*pairs: PartPairs) -> PartPairs:
    node, part = (np.concatenate([pair[column] for pair in pairs]) for column in (0, 1))
    return node[part != NOTHING], part[part != NOTHING]
