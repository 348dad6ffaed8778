"""What the kinds of nodes of a shared plan have besides, one table of columns a kind: rows in, typed columns out.

`node` is the node that a row is of; other nodes that a row names are made before it.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from dataclasses import dataclass, field

from weft.engine.shared.comparisons import INSTANTS, Reading
from weft.engine.shared.nodes import NOTHING, OPERATOR_CODES, Chain, MeasureKind, PlanNodes
from weft.plans.formulas import Formula
from weft.plans.instants import Instant
from weft.plans.plan import Comparison, Constant, Label, Value


def _ints() -> array[int]:
    return array("i")


def _flags() -> array[int]:
    return array("b")


def _starts() -> array[int]:
    return array("i", [0])


@dataclass(slots=True)
class ValueTests:
    """TEST: a value, read in some way, stands in a relation to a constant."""

    node: array[int] = field(default_factory=_ints)
    operator: array[int] = field(default_factory=_flags)
    reading: array[int] = field(default_factory=_flags)
    constant: array[int] = field(default_factory=_ints)  # its number among those that are read as it is
    texts: dict[str, int] = field(default_factory=dict)
    numbers: dict[float, int] = field(default_factory=dict)
    instants: dict[Instant, int] = field(default_factory=dict)

    def number_of(self, constant: Constant) -> int:
        """The number of a constant among those of its type."""
        if isinstance(constant, str):
            return self.texts.setdefault(constant, len(self.texts))
        if isinstance(constant, Instant):
            return self.instants.setdefault(constant, len(self.instants))
        return self.numbers.setdefault(constant, len(self.numbers))

    def constants(self) -> dict[Reading, list[Constant]]:
        """The constants by their numbers, for every way in which values are read."""
        numbers: list[Constant] = list(self.numbers)
        return {
            Reading.TEXT: list(self.texts),
            Reading.NUMBER: numbers,
            Reading.DOUBLE: numbers,
            **{reading: list(self.instants) for reading in INSTANTS},
        }

    def add(self, node: int, operator: int, reading: int, constant: int) -> int:
        """One more test."""
        self.node.append(node)
        self.operator.append(operator)
        self.reading.append(reading)
        self.constant.append(constant)
        return len(self.node) - 1


@dataclass(slots=True)
class NameTests:
    """NAMED: a name passes a label test."""

    node: array[int] = field(default_factory=_ints)
    label: list[Label] = field(default_factory=list)

    def add(self, node: int, label: Label) -> int:
        """One more test."""
        self.node.append(node)
        self.label.append(label)
        return len(self.node) - 1


@dataclass(slots=True)
class Lifts:
    """LIFT and FIRST: the node's edge leads to where the child holds."""

    node: array[int] = field(default_factory=_ints)
    child: array[int] = field(default_factory=_ints)

    def add(self, node: int, child: int) -> int:
        """One more."""
        self.node.append(node)
        self.child.append(child)
        return len(self.node) - 1


@dataclass(slots=True)
class Conjunctions:
    """AND: where the driver holds, all checks are met; each is a node that must hold there or, negated, must not."""

    node: array[int] = field(default_factory=_ints)
    driver: array[int] = field(default_factory=_ints)  # NOTHING: its state brings it up
    start: array[int] = field(default_factory=_starts)  # by row where its checks begin, and where the last one's end
    check: array[int] = field(default_factory=_ints)
    is_negated: array[int] = field(default_factory=_flags)

    def add(self, node: int, driver: int, positive: Iterable[int], negated: Iterable[int]) -> int:
        """One more, with the checks that must hold and those that must not."""
        self.node.append(node)
        self.driver.append(driver)
        self.check.extend(positive)
        self.is_negated.extend([0] * (len(self.check) - len(self.is_negated)))
        self.check.extend(negated)
        self.is_negated.extend([1] * (len(self.check) - len(self.is_negated)))
        self.start.append(len(self.check))
        return len(self.node) - 1

    def checks(self, row: int) -> list[tuple[int, bool]]:
        """The checks of a row, each with whether it is negated."""
        span = slice(self.start[row], self.start[row + 1])
        return [(check, bool(negated)) for check, negated in zip(self.check[span], self.is_negated[span], strict=True)]


@dataclass(slots=True)
class Disjunctions:
    """OR: one of the parts holds."""

    node: array[int] = field(default_factory=_ints)
    start: array[int] = field(default_factory=_starts)
    part: array[int] = field(default_factory=_ints)

    def add(self, node: int, parts: Iterable[int]) -> int:
        """One more."""
        self.node.append(node)
        self.part.extend(parts)
        self.start.append(len(self.part))
        return len(self.node) - 1

    def parts(self, row: int) -> list[int]:
        """The parts of a row."""
        return self.part[self.start[row] : self.start[row + 1]].tolist()


@dataclass(slots=True)
class Measures:
    """MEASURE: a number that a row has, worked out once for all that is compared with it."""

    node: array[int] = field(default_factory=_ints)
    kind: array[int] = field(default_factory=_flags)
    driver: array[int] = field(default_factory=_ints)  # NOTHING: its state brings it up
    chain: array[int] = field(default_factory=_ints)  # of a count; else NOTHING

    def add(self, node: int, kind: MeasureKind, driver: int, chain: int = NOTHING) -> int:
        """One more: what drives a position holds at all siblings that count; a count that nothing drives can be 0."""
        self.node.append(node)
        self.kind.append(kind)
        self.driver.append(driver)
        self.chain.append(chain)
        return len(self.node) - 1


@dataclass(slots=True)
class MeasureTests:
    """COMPARED: a measure stands in a relation to a number."""

    node: array[int] = field(default_factory=_ints)
    measure: array[int] = field(default_factory=_ints)  # its node
    operator: array[int] = field(default_factory=_flags)
    number: array[float] = field(default_factory=lambda: array("d"))

    def add(self, node: int, measure: int, operator: Comparison, number: float) -> int:
        """One more."""
        self.node.append(node)
        self.measure.append(measure)
        self.operator.append(OPERATOR_CODES[operator])
        self.number.append(number)
        return len(self.node) - 1


@dataclass(slots=True)
class Downs:
    """DOWN: the node's edge leads here from where the parent holds, and the test holds here."""

    node: array[int] = field(default_factory=_ints)
    parent: array[int] = field(default_factory=_ints)
    test: array[int] = field(default_factory=_ints)  # NOTHING: there is none
    by_test: array[int] = field(default_factory=_flags)  # whether the test drives, not the parent

    def add(self, node: int, parent: int, test: int, by_test: bool) -> int:
        """One more."""
        self.node.append(node)
        self.parent.append(parent)
        self.test.append(test)
        self.by_test.append(by_test)
        return len(self.node) - 1


@dataclass(slots=True)
class Chains:
    """The links of measures and of LINKED, by numbers."""

    start: array[int] = field(default_factory=_starts)  # by chain where it begins, and where the last one ends
    edge: array[int] = field(default_factory=_ints)
    below: array[int] = field(default_factory=_ints)  # the node that must hold below the edge; NOTHING: any will do

    def add(self, chain: Chain) -> int:
        """One more."""
        for edge, below in chain:
            self.edge.append(edge)
            self.below.append(below)
        self.start.append(len(self.edge))
        return len(self.start) - 2

    def links(self, chain: int) -> Chain:
        """A chain by its number; NOTHING has none."""
        span = slice(self.start[chain], self.start[chain + 1]) if chain != NOTHING else slice(0)
        return tuple(zip(self.edge[span], self.below[span], strict=True))


@dataclass(frozen=True, slots=True)
class FirstGoal:
    """The first node passes the test or, with `fails`, does not."""

    test: Value
    fails: bool


@dataclass(slots=True)
class LinkedPaths:
    """LINKED: the first node that a chain leads to meets a goal."""

    node: array[int] = field(default_factory=_ints)
    driver: array[int] = field(default_factory=_ints)  # some node that it leads to could meet it
    chain: array[int] = field(default_factory=_ints)
    goal: list[FirstGoal] = field(default_factory=list)

    def add(self, node: int, driver: int, chain: int, goal: FirstGoal) -> int:
        """One more."""
        self.node.append(node)
        self.driver.append(driver)
        self.chain.append(chain)
        self.goal.append(goal)
        return len(self.node) - 1


@dataclass(slots=True)
class DerivedTests:
    """DERIVED: what a formula makes of a row passes a test, or the row is one of those that it selects."""

    node: array[int] = field(default_factory=_ints)
    formula: array[int] = field(default_factory=_ints)  # its number
    goal: list[Value | None] = field(default_factory=list)  # without one it is true
    is_member: array[int] = field(default_factory=_flags)
    formulas: dict[Formula, int] = field(default_factory=dict)

    def number_of(self, formula: Formula) -> int:
        """The number of a formula."""
        return self.formulas.setdefault(formula, len(self.formulas))

    def add(self, node: int, formula: int, goal: Value | None, is_member: bool) -> int:
        """One more."""
        self.node.append(node)
        self.formula.append(formula)
        self.goal.append(goal)
        self.is_member.append(is_member)
        return len(self.node) - 1


class NodeTables:
    """All nodes of a plan, and the table of each kind that has more than `nodes` says."""

    def __init__(self) -> None:
        self.nodes = PlanNodes()
        self.tests = ValueTests()
        self.names = NameTests()
        self.lifts = Lifts()
        self.conjunctions = Conjunctions()
        self.disjunctions = Disjunctions()
        self.measures = Measures()
        self.compared = MeasureTests()
        self.downs = Downs()
        self.chains = Chains()
        self.linked = LinkedPaths()
        self.derivations = DerivedTests()

    def __len__(self) -> int:
        return len(self.nodes)
