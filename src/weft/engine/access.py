"""How the parts of conditions are retrieved: which drive, which are in, in which order the others are asked.

A conjunction is brought up by one of its parts, its driver. The others are *out*, looked at from a candidate that the
driver brought up, or *in*: they come up by themselves from values, are noted where they hold, and a candidate only asks
whether that is so. Whatever is chosen, the same facts hold. A choice is data: nothing of the shared plan changes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from weft.columns.integers import Flags, Ints, Longs
from weft.engine.shared.node_tables import NodeTables
from weft.engine.shared.nodes import NOTHING, OPERATOR_CODES, NodeKind
from weft.engine.shared.plan import SharedPlan

_NO_TEST = 255  # where a test has an operator and a reading
_MEASURE = 7  # in the place of a reading
_PATTERN = OPERATOR_CODES["matches"]  # of tests that machines of Python's look at: their facts come from outside


@dataclass(frozen=True, slots=True, eq=False)
class Access:
    """The driver of each conjunction, its checks in their order (by the places of the plan), and which nodes are in."""

    driver: Ints  # by row of the conjunctions; NOTHING: its state brings it up
    check: Ints
    is_negated: NDArray[np.int8]
    is_in: Flags  # by node

    def of(self, tables: NodeTables) -> Access:
        """The same for a plan that has grown since: what is new is as the plan has it."""
        fixed = fixed_access(tables)
        rows, checks, nodes = self.driver.size, self.check.size, self.is_in.size
        fixed.driver[:rows], fixed.check[:checks] = self.driver, self.check
        fixed.is_negated[:checks], fixed.is_in[:nodes] = self.is_negated, self.is_in
        return fixed

    def conjunction(self, tables: NodeTables, row: int) -> tuple[int, list[tuple[int, bool]]]:
        """What drives a conjunction, and its checks, each with whether it is negated; for people."""
        if row >= self.driver.size:
            return tables.conjunctions.driver[row], tables.conjunctions.checks(row)
        span = slice(tables.conjunctions.start[row], tables.conjunctions.start[row + 1])
        checks = zip(self.check[span].tolist(), self.is_negated[span].tolist(), strict=True)
        return int(self.driver[row]), [(check, bool(negated)) for check, negated in checks]


def fixed_access(tables: NodeTables) -> Access:
    """The access by kind alone: the most selective kind drives, and all other parts are out."""
    ands = tables.conjunctions
    return Access(
        np.array(ands.driver, np.int32),
        np.array(ands.check, np.int32),
        np.array(ands.is_negated, np.int8),
        np.zeros(len(tables), bool),
    )


def can_be_in(tables: NodeTables, is_result: Flags) -> Flags:
    """By node whether it can be in: paths that lead to anything, or to where a value passes a comparison.

    What a test that is a result itself brings up comes too late to be noted, as do the facts of Python's machines.
    """
    kind = np.array(tables.nodes.kind, np.int8)
    operator = np.full(len(tables), -1, np.int8)
    operator[np.array(tables.tests.node, np.int32)] = np.array(tables.tests.operator, np.int8)
    lifts, child = np.array(tables.lifts.node, np.int32), np.array(tables.lifts.child, np.int32)
    can = kind == NodeKind.EXISTS
    is_simple = (operator[child] >= 0) & (operator[child] != _PATTERN) & ~is_result[child]
    can[lifts[is_simple & (kind[lifts] == NodeKind.LIFT)]] = True
    return np.asarray(can, bool)


@dataclass(frozen=True, slots=True, eq=False)
class TestGroups:
    """The parts of conjunctions by what is alike in them but for constants: where they lead to, and how they compare.

    Group 0 has all nodes that are no parts.
    """

    of_node: Ints
    size: Ints  # by group how many nodes it has
    example: Ints  # by group one of them
    above: Ints  # by group the state at which its nodes are asked for
    below: Ints  # and that of the values, or of where the path leads to
    is_deep: Flags  # whether all that lies below may be gone over on the way
    is_comparison: Flags  # whether values are compared with constants

    def __len__(self) -> int:
        return self.size.size


def group_parts(shared: SharedPlan) -> TestGroups:
    """The groups of a plan."""
    nodes, lifts, ands = shared.nodes, shared.lifts, shared.conjunctions
    driver = np.array(ands.driver, np.int32)
    parts = np.unique(np.concatenate([driver[driver != NOTHING], np.array(ands.check, np.int32)]))
    kind, edge, state = (np.array(column, np.int32)[parts] for column in (nodes.kind, nodes.edge, nodes.state))
    child = np.full(len(shared), NOTHING, np.int32)
    child[np.array(lifts.node, np.int32)] = np.array(lifts.child, np.int32)
    tested = np.where(child[parts] != NOTHING, child[parts], parts)
    form, is_way = _forms(shared), edge != NOTHING
    measure = np.full(len(shared), NOTHING, np.int32)
    measure[np.array(shared.compared.node, np.int32)] = shared.compared.measure
    formula = np.full(len(shared), NOTHING, np.int32)  # the first test on what a formula makes of a state's rows
    first_of: dict[tuple[int, int], int] = {}
    for node, number in zip(shared.derivations.node, shared.derivations.formula, strict=True):
        formula[node] = first_of.setdefault((nodes.state[node], number), node)
    measure = np.where(formula != NOTHING, formula, measure)
    place = np.where(measure[parts] != NOTHING, measure[parts], np.where(is_way, edge, state))
    keys = (kind.astype(np.int64) << 31 | place) << 8 | form[tested]
    _, first, group, size = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)
    of_node = np.zeros(len(shared), np.int32)
    of_node[parts] = group.reshape(-1) + 1
    ends, steps = np.array(shared.edges.below, np.int32), np.array(shared.states.step, np.int32)
    below = np.where(is_way, np.append(ends, NOTHING)[edge], state)[first]
    is_deep = is_way[first] & ((steps[below] & 1) != 0)
    columns = size, parts[first], state[first], below
    sizes, examples, above, ends = (np.append(0, column).astype(np.int32) for column in columns)
    is_comparison = np.append(False, form[tested][first] != _NO_TEST)
    return TestGroups(of_node, sizes, examples, above, ends, np.append(False, is_deep), is_comparison)


def _forms(shared: SharedPlan) -> Longs:
    """By node how it compares, if it does."""
    tests, compared = shared.tests, shared.compared
    form = np.full(len(shared), _NO_TEST, np.int64)
    form[np.array(tests.node, np.int32)] = np.array(tests.operator, np.int64) << 3 | np.array(tests.reading, np.int64)
    form[np.array(compared.node, np.int32)] = np.array(compared.operator, np.int64) << 3 | _MEASURE
    for node, goal in zip(shared.derivations.node, shared.derivations.goal, strict=True):
        if goal is not None:
            form[node] = OPERATOR_CODES[goal.operator] << 3 | _MEASURE
    return form
