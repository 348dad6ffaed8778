"""What every node of a shared plan has: its kind, where it can hold, and what it costs if it drives another."""

from __future__ import annotations

from array import array
from enum import IntEnum

from weft.plans.plan import Comparison, Operator

#: No node, no edge: the part that a number could name is not there.
NOTHING = -1
#: Links from the top down: an edge, and the node that must hold below it (NOTHING: any will do).
Chain = tuple[tuple[int, int], ...]
#: Operators have their place here as a number; comparisons come first, then those on parts of texts.
COMPARISONS: tuple[Comparison, ...] = ("=", "!=", "<", "<=", ">", ">=")
OPERATORS: tuple[Operator, ...] = (*COMPARISONS, "contains", "starts-with", "ends-with", "matches")
OPERATOR_CODES: dict[str, int] = {operator: code for code, operator in enumerate(OPERATORS)}


class NodeKind(IntEnum):
    """How a node comes to hold."""

    NEVER = 0  # never
    TEST = 1  # a value and a constant
    NAMED = 2  # a name
    EXISTS = 3  # an edge leads to anything
    LIFT = 4  # an edge leads to where another node holds
    FIRST = 5  # an edge leads first to where a test holds
    LINKED = 6  # links lead first to where a test holds
    AND = 7
    OR = 8
    MEASURE = 9  # a row has a number: how many nodes links lead to, or its position among siblings
    COMPARED = 10  # a measure and a constant
    DOWN = 11  # a pattern: an edge leads here from where the parent pattern holds
    DERIVED = 13  # what a formula makes of a row, and a constant (12 is what the compiled evaluation calls noted)


class MeasureKind(IntEnum):
    """What number a row has."""

    COUNT = 0  # how many nodes links lead to: if something drives it at least one
    POSITION = 1  # its place among its siblings that pass a test, from 1 on
    FROM_END = 2  # the same from the last one, which has 0; those before it are below zero


class DriverCost(IntEnum):
    """How much a driver brings up, by its kind alone: of several parts the least drives."""

    NEVER = 0  # nothing at all
    EQUALITY = 1  # one constant of all that a value could be
    SELECTIVE = 2  # an order, a part of a text, a count or a position: some constants pass a value, many do not
    NAME = 3  # the rows of a name among those that a state reaches
    PATH = 4  # the rows that something lies below
    EVERYTHING = 5  # nearly every row: it differs from a constant, or nothing but its state brings it up


class PlanNodes:
    """All nodes, as columns. `row` is a node's place in the table of its kind, where what the kind needs stands."""

    def __init__(self) -> None:
        self.kind, self.cost = array("b"), array("b")
        self.driven = array("i")  # how many conjunctions it drives
        self.state, self.height = array("i"), array("i")
        self.edge = array("i")  # of EXISTS, LIFT, FIRST and DOWN; else NOTHING
        self.row = array("i")

    def __len__(self) -> int:
        return len(self.kind)

    def add(self, kind: NodeKind, state: int, height: int, cost: int, edge: int = NOTHING, row: int = 0) -> int:
        """One more node; its number comes back."""
        self.kind.append(kind)
        self.driven.append(0)
        self.state.append(state)
        self.height.append(height)
        self.cost.append(cost)
        self.edge.append(edge)
        self.row.append(row)
        return len(self.kind) - 1
