"""What formulas make of rows in, the tests on it that are passed out: found among the constants of all of them."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from weft.columns.integers import Flags
from weft.engine.shared.comparisons import READ, Reading, reading_of
from weft.engine.shared.constants import TEXT_INDEXES, Patterns
from weft.engine.shared.effort import Effort
from weft.engine.shared.node_tables import NodeTables
from weft.engine.shared.nodes import COMPARISONS
from weft.plans.comparisons import holds
from weft.plans.formulas import FormulaType
from weft.plans.plan import Value

#: A test, and its node.
NodeGoal = tuple[Value, int]
ReadValues = Callable[[Reading], list[Any]]  # the values of a row, read in a way


class DerivedIndex:
    """The tests on what one formula makes of the rows of one state."""

    def __init__(self, formula: int, tests: list[tuple[Value | None, int]], members: list[int]) -> None:
        self.formula, self.members = formula, members
        self._goals = tests
        self.tests = [*(node for _, node in tests), *members]
        self.truths = [node for goal, node in tests if goal is None]
        families: dict[tuple[str, Reading], list[NodeGoal]] = {}
        for goal, node in tests:
            if goal is not None:
                families.setdefault((goal.operator, reading_of(goal)), []).append((goal, node))
        self._families = [(reading, _finder(operator, reading, some)) for (operator, reading), some in families.items()]

    def __reduce__(self) -> tuple[type[DerivedIndex], tuple[int, list[tuple[Value | None, int]], list[int]]]:
        """How it is packed: what finds tests is made anew."""
        return DerivedIndex, (self.formula, self._goals, self.members)

    def passed(self, values: ReadValues, effort: Effort) -> list[int]:
        """The nodes of the tests that some value passes, perhaps more than once."""
        return [node for reading, find in self._families for node in find(values(reading), effort)]


def derived_indexes(tables: NodeTables, comes_up: Flags) -> list[tuple[int, DerivedIndex]]:
    """By state an index for each formula with tests that must come up by themselves."""
    derived, states = tables.derivations, tables.nodes.state
    tests: dict[tuple[int, int], list[tuple[Value | None, int]]] = {}
    members: dict[tuple[int, int], list[int]] = {}
    for node, formula, goal, is_member in zip(
        derived.node, derived.formula, derived.goal, derived.is_member, strict=True
    ):
        if comes_up[node]:
            key = states[node], formula
            if is_member:
                members.setdefault(key, []).append(node)
            else:
                tests.setdefault(key, []).append((goal, node))
    found = [(state, DerivedIndex(formula, some, [])) for (state, formula), some in tests.items()]
    return found + [(state, DerivedIndex(formula, [], some)) for (state, formula), some in members.items()]


Finder = Callable[[list[Any], Effort], Iterable[int]]


def _finder(operator: str, reading: Reading, tests: list[NodeGoal]) -> Finder:
    """How the tests of an operator that read values in one way are found."""
    if operator not in COMPARISONS:
        return _by_parts(operator, tests)
    if reading is not Reading.TEXT and reading not in READ:  # instants
        return lambda values, _: [node for goal, node in tests for value in values if holds(goal, value)]
    if operator in ("=", "!="):
        return _by_equality(tests, operator == "!=")
    return _by_order(operator, tests)


def _by_parts(operator: str, tests: list[NodeGoal]) -> Finder:
    index = TEXT_INDEXES[operator]([(str(goal.constant), node) for goal, node in tests])

    def find(values: list[Any], effort: Effort) -> Iterator[int]:
        for value in values:
            for nodes in index.probe(value, effort) if isinstance(index, Patterns) else index.probe(value):
                yield from nodes

    return find


def _by_equality(tests: list[NodeGoal], is_negated: bool) -> Finder:
    by_constant: dict[Any, list[int]] = {}
    for goal, node in tests:
        if goal.constant == goal.constant:  # what is not a number is equal to nothing
            by_constant.setdefault(goal.constant, []).append(node)
    if not is_negated:
        return lambda values, _: [node for value in values for node in by_constant.get(value, ())]
    every = [node for _, node in tests]

    def find(values: list[Any], _: Effort) -> list[int]:
        """Of one value, those that it is equal to are not passed; of several different ones all are."""
        distinct = set(values)
        if len(distinct) != 1:
            return every if distinct else []
        equal = set(by_constant.get(values[0], ()))
        return [node for node in every if node not in equal]

    return find


def _by_order(operator: str, tests: list[NodeGoal]) -> Finder:
    ordered = sorted(((goal.constant, node) for goal, node in tests if goal.constant == goal.constant), key=_constant)
    constants: list[Any] = [constant for constant, _ in ordered]
    nodes = [node for _, node in ordered]

    def find(values: list[Any], _: Effort) -> list[int]:
        known = [value for value in values if value == value]  # noqa: PLR0124
        if not known:
            return []
        if operator in ("<", "<="):
            cut = bisect_right if operator == "<" else bisect_left
            return nodes[cut(constants, min(known)) :]
        cut = bisect_left if operator == ">" else bisect_right
        return nodes[: cut(constants, max(known))]

    return find


def _constant(entry: tuple[Any, int]) -> Any:
    return entry[0]


def read_as(reading: Reading, kind: FormulaType, value: Any) -> Any:
    """A text or a number read in a way."""
    if kind == "number" or reading is Reading.TEXT or reading not in READ:
        return value
    return READ[reading](value)
