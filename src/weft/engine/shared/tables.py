"""The tables of a shared plan in, the same by node out: columns that never change, also for the compiled evaluation.

A column says something of some kinds of nodes; at the others it is NOTHING, or zero.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from weft.columns.integers import Flags, Ints, Longs, expand
from weft.engine.access import Access
from weft.engine.shared.comparisons import INSTANTS, Comparisons, Reading
from weft.engine.shared.edges import FrozenEdges
from weft.engine.shared.node_tables import NodeTables
from weft.engine.shared.nodes import COMPARISONS, NOTHING, NodeKind
from weft.engine.shared.parts import disjunction_pairs
from weft.engine.shared.text_parts import TextParts
from weft.kernel import codes
from weft.kernel.arrays import lined_up
from weft.kernel.plan_tables import PlanTables
from weft.kernel.tables import starts_of_runs

Small = NDArray[np.int8]
_PROBED, _PART = codes.PROBED, codes.PART
_STRETCH = 1 << 12  # nodes whose records or masks are made in a step: a millisecond or less


@dataclass(frozen=True, slots=True)
class PartColumns:
    """What nodes are made of, by node."""

    child: Ints  # what a LIFT or FIRST leads to, what drives an AND, MEASURE or LINKED, the measure of a COMPARED
    parent: Ints  # of a DOWN
    test: Ints  # of a DOWN
    by_test: Small  # of a DOWN: the test drives it, not the parent
    operator: Small  # of a TEST or a COMPARED
    number: NDArray[np.float64]  # of a TEST on a number or a COMPARED
    check_start: Longs  # of an AND the parts beside the driver, of an OR all parts
    check: Ints
    is_negated: Small  # of a check: it must not hold

    def checks(self, nodes: Ints) -> tuple[Longs, Ints, Small]:
        """(position of the node, part, whether it is negated) for all checks of some nodes."""
        which, inside = expand(self.check_start[nodes], self.check_start[nodes + np.int64(1)])
        return which, self.check[inside], self.is_negated[inside]


def part_columns(tables: NodeTables, access: Access) -> Generator[None, None, PartColumns]:
    """The columns of a plan that does not change meanwhile, in steps."""
    if not len(tables):
        return _NO_COLUMNS
    size, none = len(tables), np.full(len(tables), NOTHING, np.int32)
    child, parent, test, number = none.copy(), none.copy(), none, np.zeros(size)
    by_test, operator = np.zeros(size, np.int8), np.zeros(size, np.int8)
    lifts, ands, measures, downs = tables.lifts, tables.conjunctions, tables.measures, tables.downs
    compared, linked = tables.compared, tables.linked
    yield
    child[lifts.node], child[ands.node], child[measures.node] = lifts.child, access.driver, measures.driver
    child[compared.node], child[linked.node] = compared.measure, linked.driver
    yield
    operator[compared.node], number[compared.node] = compared.operator, compared.number
    parent[downs.node], test[downs.node], by_test[downs.node] = downs.parent, downs.test, downs.by_test
    yield
    tests = tables.tests
    operator[tests.node] = tests.operator
    numbers, reading = np.array(list(tests.numbers), np.float64), np.array(tests.reading, np.int8)
    on_number = np.flatnonzero((reading == Reading.NUMBER) | (reading == Reading.DOUBLE))
    number[np.array(tests.node, np.int32)[on_number]] = numbers[np.array(tests.constant, np.int32)[on_number]]
    yield
    checks = yield from _checks(tables, access)
    return PartColumns(child, parent, test, by_test, operator, number, *checks)


_INTS, _SMALLS = np.zeros(0, np.int32), np.zeros(0, np.int8)
_NO_PLACES = np.zeros(1, np.int64)
_NO_COLUMNS = PartColumns(_INTS, _INTS, _INTS, _SMALLS, _SMALLS, np.zeros(0), _NO_PLACES, _INTS, _SMALLS)


def _checks(tables: NodeTables, access: Access) -> Generator[None, None, tuple[Longs, Ints, Small]]:
    ands, is_negated = tables.conjunctions, access.is_negated
    checked, check = np.repeat(np.array(ands.node, np.int32), np.diff(ands.start)), access.check
    disjunction, part = disjunction_pairs(tables)
    node = np.concatenate([checked, disjunction])
    order = np.argsort(node, kind="stable")
    yield
    start = starts_of_runs(node, len(tables))
    yield
    negated = np.concatenate([is_negated, np.zeros(part.size, np.int8)])
    return start, np.concatenate([check, part])[order], negated[order]


def _codes(tables: NodeTables, comparisons: Comparisons, parts: TextParts) -> tuple[Small, Ints]:
    """By node how the values of a TEST are read, and the rank of its constant where it is a text, or its code."""
    tests, size = tables.tests, len(tables)
    reading, code = np.zeros(size, np.int8), np.zeros(size, np.int32)
    node, operator = np.array(tests.node, np.int32), np.array(tests.operator, np.int8)
    readings, constant = np.array(tests.reading, np.int8), np.array(tests.constant, np.int32)
    is_text = (readings == Reading.TEXT) & (operator < len(COMPARISONS))
    reading[node] = np.where(operator < len(COMPARISONS), readings, _PROBED)
    code[node[is_text]] = comparisons.text_codes[constant[is_text]]
    reading[parts.tests], code[parts.tests] = _PART, parts.codes
    return reading, code


def _measure_codes(tables: NodeTables, symbol: Ints, reading: Small, code: Ints) -> None:
    """Put in what number a MEASURE is, and the chain of a count, or the label test of those that have positions."""
    measures, linked = tables.measures, tables.linked
    node, chain = np.array(measures.node, np.int32), np.array(measures.chain, np.int32)
    label = symbol[np.array(tables.nodes.state, np.int32)[node]]
    reading[node], code[node] = measures.kind, np.where(chain != NOTHING, chain, label)
    code[linked.node] = linked.chain


def _numbers(tables: NodeTables, columns: PartColumns, comparisons: Comparisons) -> NDArray[np.float64]:
    """By node the number of a TEST or a COMPARED; for an instant that which stands for it."""
    tests, number = tables.tests, columns.number
    on_instant = np.flatnonzero(np.array(tests.reading, np.int8) >= min(INSTANTS))
    ranks = np.array([comparisons.instants.number(each) for each in tests.instants])
    if on_instant.size:
        number = number.copy()
        number[np.array(tests.node, np.int32)[on_instant]] = ranks[np.array(tests.constant, np.int32)[on_instant]]
    return number


# Long: an entry for each column that is read.
def make_tables(
    tables: NodeTables,
    columns: PartColumns,
    edges: FrozenEdges,
    symbol: Ints,
    comparisons: Comparisons,
    parts: TextParts,
    results: tuple[Ints, int],
    driven: tuple[Longs, Ints, Flags],
    is_in: Flags,
) -> Generator[None, None, PlanTables]:
    """All that the compiled evaluation reads, in steps.

    `symbol` is that of every state, `results` are those of nodes, and how many there are; `driven` are of every node
    those that it drives, and marks on the paths that come up where they end; `is_in` marks what is noted.
    """
    of_tests = _codes(tables, comparisons, parts)
    yield
    _measure_codes(tables, symbol, *of_tests)
    yield
    nodes = yield from _node_records(tables, columns, of_tests, edges)
    edge_records = yield from _edge_records(edges)
    number = _numbers(tables, columns, comparisons)
    yield
    made = PlanTables(
        {
            "nodes": nodes,
            "edges": edge_records,
            "result": results[0],
            "by_test": columns.by_test,
            "is_lifted": driven[2].astype(np.int8),
            "is_in": is_in.astype(np.int8),
            "dependent_start": driven[0],
            "dependents": driven[1],
            "checks": columns.check,
            "is_negated": columns.is_negated,
            "number": number,
            "chain_start": np.array(tables.chains.start, np.int32),
            "chain_edges": np.array(tables.chains.edge, np.int32),
            "chain_nodes": np.array(tables.chains.below, np.int32),
            "steps": edges.steps.entries,
            "results": results[1],
        }
    )
    yield
    yield from made.mask(_STRETCH // 4)
    return made


def _node_records(
    tables: NodeTables, columns: PartColumns, codes_of_tests: tuple[Small, Ints], edges: FrozenEdges
) -> Generator[None, None, Ints]:
    kind, edge = np.array(tables.nodes.kind, np.int8), np.array(tables.nodes.edge, np.int32)
    inner = _inner(edge, edges)
    yield
    is_down = kind == NodeKind.DOWN
    child = np.where(is_down, columns.test, columns.child)
    yield
    check = np.where(is_down, columns.parent, columns.check_start[:-1])
    check[tables.measures.node] = np.arange(len(tables.measures.node))
    yield
    code = np.where(edge != NOTHING, inner, codes_of_tests[1])
    yield
    records: dict[int, NDArray[np.integer]] = {
        codes.KIND: kind,
        codes.EDGE: edge,
        codes.CHILD: child,
        codes.CHECK: check,
        codes.CHECK_END: columns.check_start[1:],
        codes.OPERATOR: columns.operator,
        codes.READING: codes_of_tests[0],
        codes.CODE: code,
    }
    made: Ints = np.asarray(lined_up(len(tables), 16, np.int32))  # the masks, which come later, are the first half
    yield from _fill(made, records)
    return made


def _edge_records(edges: FrozenEdges) -> Generator[None, None, Ints]:
    records: dict[int, NDArray[np.integer]] = {
        codes.UP: edges.up,
        codes.ABOVE: edges.above,
        codes.STEP: edges.steps.starts[:-1],
        codes.STEP_END: edges.steps.starts[1:],
    }
    made = np.zeros((edges.up.size, 4), np.int32)
    yield from _fill(made, records)
    return made


def _fill(records: Ints, columns: dict[int, NDArray[np.integer]]) -> Iterator[None]:
    """Put columns side by side, each at its place, one stretch a step."""
    for begin in range(0, len(records), _STRETCH):
        for place, column in columns.items():
            records[begin : begin + _STRETCH, place] = column[begin : begin + _STRETCH]
        yield


def _inner(edge: Ints, edges: FrozenEdges) -> Ints:
    """By node a number behind those of all nodes; so many above it as its edge has steps beside the first are its own.

    What is known of the way along an edge is known by them.
    """
    own = np.append(edges.length, np.int32(1))[edge]  # behind all edges for NOTHING: no step beside the first
    own -= 1
    inner = np.cumsum(own, dtype=np.int32)
    inner -= own
    inner += edge.size - 1
    return inner
