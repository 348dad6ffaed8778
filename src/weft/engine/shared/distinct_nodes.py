"""What a node is made of in, the node with this meaning out; if it is not there it is made, and its driver chosen."""

from __future__ import annotations

from collections.abc import Hashable

from weft.engine.shared.comparisons import Reading, reading_of
from weft.engine.shared.known_nodes import (
    NodeKeys,
    conjunction_key,
    disjunction_key,
    down_key,
    edge_key,
    known_nodes,
    value_key,
)
from weft.engine.shared.node_tables import FirstGoal, NodeTables
from weft.engine.shared.nodes import NOTHING, OPERATOR_CODES, Chain, DriverCost, MeasureKind, NodeKind
from weft.plans.formulas import Formula
from weft.plans.plan import Comparison, Label, Value

_VALUE_COST = {"=": DriverCost.EQUALITY, "!=": DriverCost.EVERYTHING}  # all others are selective
_HOT = 256  # conjunctions and patterns that a part drives, beyond which another drives if there is one
# An enumeration's members are found slowly in Python 3.11, and these are needed for every query.
_TEST, _EXISTS, _AND, _DOWN = NodeKind.TEST, NodeKind.EXISTS, NodeKind.AND, NodeKind.DOWN
_SELECTIVE, _PATH, _TEXT = DriverCost.SELECTIVE, DriverCost.PATH, int(Reading.TEXT)
_EVERYTHING = DriverCost.EVERYTHING


class DistinctNodes(NodeTables):
    """Nodes that all differ."""

    def __init__(self) -> None:
        super().__init__()
        self._known: NodeKeys | None = None  # found in the tables when the first node is asked for

    def __getstate__(self) -> dict[str, object]:
        """The tables: what finds nodes in them is made anew where something is added."""
        return self.__dict__ | {"_known": None}

    def _find(self, kind: NodeKind) -> dict[Hashable, int]:
        """The nodes of a kind, by their keys."""
        if self._known is None:
            self._known = known_nodes(self)
        return self._known[kind]

    # -- tests

    def never(self, state: int) -> int:
        """What holds nowhere."""
        known = self._find(NodeKind.NEVER)
        if state not in known:
            known[state] = self.nodes.add(NodeKind.NEVER, state, 0, DriverCost.NEVER)
        return known[state]

    def value(self, state: int, value: Value) -> int:
        """A value and a constant."""
        operator, tests = OPERATOR_CODES[value.operator], self.tests
        if type(value.constant) is str:
            reading, constant = _TEXT, tests.texts.setdefault(value.constant, len(tests.texts))
        else:
            reading, constant = reading_of(value), tests.number_of(value.constant)
        known, key = self._find(_TEST), value_key(state, operator, reading, constant)
        node = known.get(key)
        if node is None:
            node = known[key] = len(self.nodes.kind)
            cost = _VALUE_COST.get(value.operator, _SELECTIVE)
            self.nodes.add(_TEST, state, 0, cost, row=self.tests.add(node, operator, reading, constant))
        return node

    def named(self, state: int, label: Label) -> int:
        """A name."""
        known, key = self._find(NodeKind.NAMED), (state, label)
        node = known.get(key)
        if node is None:
            node = known[key] = len(self)
            self.nodes.add(NodeKind.NAMED, state, 0, DriverCost.NAME, row=self.names.add(node, label))
        return node

    def derived(self, state: int, formula: Formula, goal: Value | None, is_member: bool = False) -> int:
        """What a formula makes of a row, and a constant: it is worked out once, and drives if few constants pass it."""
        number = self.derivations.number_of(formula)
        known, key = self._find(NodeKind.DERIVED), (state, number, goal, is_member)
        node = known.get(key)
        if node is None:
            node = known[key] = len(self)
            cost = _EVERYTHING if goal is None or goal.operator == "!=" else _SELECTIVE
            row = self.derivations.add(node, number, goal, is_member)
            self.nodes.add(NodeKind.DERIVED, state, 0, cost, row=row)
        return node

    def exists(self, state: int, edge: int) -> int:
        """An edge leads to anything."""
        known = self._find(_EXISTS)
        node = known.get(edge)
        if node is None:
            node = known[edge] = self.nodes.add(_EXISTS, state, 0, _PATH, edge)
        return node

    # -- what is made of other nodes

    def lift(self, kind: NodeKind, state: int, edge: int, child: int) -> int:
        """An edge leads, or leads first, to where another node holds: that drives."""
        known, key = self._find(kind), edge_key(edge, child)
        node = known.get(key)
        if node is None:
            node = known[key] = len(self.nodes.kind)
            height, row = self.nodes.height[child] + 1, self.lifts.add(node, child)
            self.nodes.add(kind, state, height, self.nodes.cost[child], edge, row)
        return node

    def down(self, state: int, edge: int, parent: int, test: int) -> int:
        """A pattern below one with a test: of parent and test drives what brings up less."""
        known, key = self._find(_DOWN), down_key(edge, parent, test)
        node = known.get(key)
        if node is None:
            node = known[key] = len(self.nodes.kind)
            parts = [parent] if test == NOTHING else [test, parent]
            driver, height = self._driver(parts), 1 + max(self.nodes.height[part] for part in parts)
            row = self.downs.add(node, parent, test, driver == test)
            self.nodes.add(_DOWN, state, height, self.nodes.cost[driver], edge, row)
        return node

    def conjunction(self, state: int, positive: list[int], negated: list[int]) -> int:
        """All of these hold, and none of those, each in order: the least costly that must hold drives."""
        if len(positive) == 1 and not negated:
            return positive[0]
        known, key = self._find(_AND), conjunction_key(state, positive, negated)
        node = known.get(key)
        if node is None:
            node = known[key] = len(self)
            costs, heights = self.nodes.cost, self.nodes.height
            driver = self._driver(positive)
            height = 1 + max((heights[part] for part in (*positive, *negated)), default=0)
            cost = _EVERYTHING if driver == NOTHING else costs[driver]
            others = [part for part in positive if part != driver]
            row = self.conjunctions.add(node, driver, others, negated)
            self.nodes.add(_AND, state, height, cost, row=row)
        return node

    def _driver(self, parts: list[int]) -> int:
        """The part that brings up least: by its kind, and of one kind that which drives the fewest so far.

        One that drives very many already comes behind all but those that nearly every row brings up: a constant that
        all ask for brings all of them up.
        """
        if not parts:
            return NOTHING
        cost, driven = self.nodes.cost, self.nodes.driven
        driver = min(parts, key=lambda at: (cost[at] == _EVERYTHING, driven[at] > _HOT, cost[at], driven[at]))
        if cost[driver] == _EVERYTHING:
            driver = min(parts)  # the oldest, which many may share: where it does not hold, none of them comes up
        driven[driver] += 1
        return driver

    def disjunction(self, state: int, parts: list[int]) -> int:
        """One of these, in order, holds: each of them drives."""
        if len(parts) == 1:
            return parts[0]
        known, key = self._find(NodeKind.OR), disjunction_key(parts)
        node = known.get(key)
        if node is None:
            node = known[key] = len(self)
            height = 1 + max(self.nodes.height[part] for part in parts)
            cost = max(self.nodes.cost[part] for part in parts)
            self.nodes.add(NodeKind.OR, state, height, cost, row=self.disjunctions.add(node, parts))
        return node

    def measure(self, state: int, kind: MeasureKind, driver: int, chain: Chain = ()) -> int:
        """A number that a row has; of a count what drives follows from the chain."""
        known, key = self._find(NodeKind.MEASURE), (state, int(kind), driver, chain)
        node = known.get(key)
        if node is None:
            node = known[key] = len(self)
            row = self.measures.add(node, kind, driver, self.chains.add(chain) if chain else NOTHING)
            parts = [part for part in (driver, *(below for _, below in chain)) if part != NOTHING]
            height = 1 + max((self.nodes.height[part] for part in parts), default=0)
            cost = _EVERYTHING if driver == NOTHING else self.nodes.cost[driver]
            self.nodes.add(NodeKind.MEASURE, state, height, cost, row=row)
        return node

    def compare(self, state: int, measure: int, operator: Comparison, number: float) -> int:
        """A measure and a constant: few of all constants pass a number, whatever drives the measure."""
        known, key = self._find(NodeKind.COMPARED), (measure, OPERATOR_CODES[operator], number)
        node = known.get(key)
        if node is None:
            node = known[key] = len(self)
            own = _EVERYTHING if operator == "!=" else _SELECTIVE
            cost = self.nodes.cost[measure]
            cost = min(own, cost if cost < _PATH else _EVERYTHING)
            row = self.compared.add(node, measure, operator, number)
            self.nodes.add(NodeKind.COMPARED, state, 1 + self.nodes.height[measure], cost, row=row)
        return node

    def linked_path(self, state: int, driver: int, chain: Chain, goal: FirstGoal) -> int:
        """What a chain leads to first meets a goal; what drives follows from both."""
        known, key = self._find(NodeKind.LINKED), (state, chain, goal)
        node = known.get(key)
        if node is None:
            node = known[key] = len(self)
            row, height = self.linked.add(node, driver, self.chains.add(chain), goal), 1 + self.nodes.height[driver]
            self.nodes.add(NodeKind.LINKED, state, height, self.nodes.cost[driver], row=row)
        return node
