"""The tables of a shared plan in, the same by node out: columns that never change, also for the compiled evaluation.

A column says something of some kinds of nodes; at the others it is NOTHING, or zero.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from weft.columns.integers import Flags, Ints, Longs, expand
from weft.engine.shared.comparisons import INSTANTS, Comparisons, Reading
from weft.engine.shared.edges import FrozenEdges
from weft.engine.shared.node_tables import CountGoal, NodeTables
from weft.engine.shared.nodes import COMPARISONS, NOTHING, OPERATOR_CODES, NodeKind
from weft.engine.shared.parts import check_columns, disjunction_pairs
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

    child: Ints  # what a LIFT or FIRST leads to, what drives an AND, what a RANK counts
    parent: Ints  # of a DOWN
    test: Ints  # of a DOWN
    by_test: Small  # of a DOWN: the test drives it, not the parent
    operator: Small  # of a TEST, a RANK or a LINKED
    number: NDArray[np.float64]  # of a TEST on a number, a RANK or a LINKED
    is_last: Small  # of a RANK: it is compared with the number of siblings
    is_count: Small  # of a LINKED: else the first node is tested
    check_start: Longs  # of an AND the parts beside the driver, of an OR all parts
    check: Ints
    is_negated: Small  # of a check: it must not hold

    def checks(self, nodes: Ints) -> tuple[Longs, Ints, Small]:
        """(position of the node, part, whether it is negated) for all checks of some nodes."""
        which, inside = expand(self.check_start[nodes], self.check_start[nodes + np.int64(1)])
        return which, self.check[inside], self.is_negated[inside]


def part_columns(tables: NodeTables) -> Generator[None, None, PartColumns]:
    """The columns of a plan that does not change meanwhile, in steps."""
    if not len(tables):
        return _NO_COLUMNS
    size, none = len(tables), np.full(len(tables), NOTHING, np.int32)
    child, parent, test, number = none.copy(), none.copy(), none, np.zeros(size)
    by_test, operator, is_last, is_count = (np.zeros(size, np.int8) for _ in range(4))
    lifts, ands, ranks, downs = tables.lifts, tables.conjunctions, tables.ranks, tables.downs
    yield
    child[lifts.node], child[ands.node], child[ranks.node] = lifts.child, ands.driver, ranks.inner
    yield
    operator[ranks.node], number[ranks.node], is_last[ranks.node] = ranks.operator, ranks.number, ranks.is_last
    parent[downs.node], test[downs.node], by_test[downs.node] = downs.parent, downs.test, downs.by_test
    yield
    tests = tables.tests
    operator[tests.node] = tests.operator
    numbers, reading = np.array(list(tests.numbers), np.float64), np.array(tests.reading, np.int8)
    on_number = np.flatnonzero((reading == Reading.NUMBER) | (reading == Reading.DOUBLE))
    number[np.array(tests.node, np.int32)[on_number]] = numbers[np.array(tests.constant, np.int32)[on_number]]
    for node, goal in zip(tables.linked.node, tables.linked.goal, strict=True):
        if isinstance(goal, CountGoal):
            operator[node], number[node], is_count[node] = OPERATOR_CODES[goal.operator], goal.number, True
    yield
    checks = yield from _checks(tables)
    return PartColumns(child, parent, test, by_test, operator, number, is_last, is_count, *checks)


_INTS, _SMALLS = np.zeros(0, np.int32), np.zeros(0, np.int8)
_NO_PLACES = np.zeros(1, np.int64)
_NO_COLUMNS = PartColumns(
    _INTS, _INTS, _INTS, _SMALLS, _SMALLS, np.zeros(0), _SMALLS, _SMALLS, _NO_PLACES, _INTS, _SMALLS
)


def _checks(tables: NodeTables) -> Generator[None, None, tuple[Longs, Ints, Small]]:
    checked, check, is_negated = check_columns(tables)
    disjunction, part = disjunction_pairs(tables)
    node = np.concatenate([checked, disjunction])
    order = np.argsort(node, kind="stable")
    yield
    start = starts_of_runs(node, len(tables))
    yield
    negated = np.concatenate([is_negated, np.zeros(part.size, np.int32)]).astype(np.int8)
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


def _numbers(tables: NodeTables, columns: PartColumns, comparisons: Comparisons) -> NDArray[np.float64]:
    """By node the number of a TEST, a RANK or a LINKED; for an instant that which stands for it."""
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
) -> Generator[None, None, PlanTables]:
    """All that the compiled evaluation reads, in steps.

    `symbol` is that of every state, `results` are those of nodes, and how many there are; `driven` are of every node
    those that it drives, and marks on the paths that come up where they end.
    """
    linked = tables.linked
    of_tests = _codes(tables, comparisons, parts)
    yield
    of_tests[0][tables.ranks.node], of_tests[0][linked.node] = tables.ranks.is_last, columns.is_count[linked.node]
    ranked = np.array(tables.nodes.state, np.int32)[tables.ranks.node]
    of_tests[1][tables.ranks.node], of_tests[1][linked.node] = symbol[ranked], np.arange(len(linked.node))
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
            "dependent_start": driven[0],
            "dependents": driven[1],
            "checks": columns.check,
            "is_negated": columns.is_negated,
            "number": number,
            "chain_start": np.array(linked.start, np.int32),
            "chain_edges": np.array(linked.edge, np.int32),
            "chain_nodes": np.array(linked.below, np.int32),
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
