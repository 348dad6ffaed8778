"""What is worked out at a node: functions, arithmetic, comparisons of paths, and paths that go any way.

A *formula* has a type that is known before documents come, and what XPath converts without being asked is written out:
`concat(b, 1)` is `concat(string(b), string(1))`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, get_args

from weft.documents.kind import Kind
from weft.plans.plan import Comparison, Label

FormulaAxis = Literal[
    "child",
    "descendant",
    "descendant-or-self",
    "attribute",
    "self",
    "parent",
    "ancestor",
    "ancestor-or-self",
    "following-sibling",
    "preceding-sibling",
    "following",
    "preceding",
]
AXES: tuple[FormulaAxis, ...] = get_args(FormulaAxis)
#: Axes whose positions count backwards.
REVERSE = frozenset({"parent", "ancestor", "ancestor-or-self", "preceding-sibling", "preceding"})
#: Axes that lead to what lies below a node, or stay there.
DOWNWARD = frozenset({"child", "descendant", "descendant-or-self", "attribute", "self"})
FormulaType = Literal["nodes", "text", "number", "truth"]
#: How both sides of a comparison are read: as texts, as numbers of XPath or doubles of XQuery, or by their truth.
SideReading = Literal["text", "number", "double", "truth"]


@dataclass(frozen=True, slots=True, eq=False)
class Fixed:
    """A constant; true is not one, nor is zero that below it."""

    value: str | float | bool

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Fixed) and repr(self.value) == repr(other.value)

    def __hash__(self) -> int:
        return hash(repr(self.value))


@dataclass(frozen=True, slots=True)
class Move:
    """One step: along an axis to nodes of a kind (None: elements and texts) that pass a label test and conditions.

    A condition that is a number is a position.
    """

    axis: FormulaAxis
    kind: Kind | None
    label: Label
    conditions: tuple[Formula, ...] = ()


@dataclass(frozen=True, slots=True)
class Walk:
    """Nodes that moves lead to: from the node, from its document, or from the nodes of another formula."""

    start: Formula | Literal["here", "document"]
    moves: tuple[Move, ...] = ()


@dataclass(frozen=True, slots=True)
class NodeFilter:
    """Those nodes that pass conditions; positions count all of them, in document order."""

    nodes: Formula
    conditions: tuple[Formula, ...]


@dataclass(frozen=True, slots=True)
class NodePath:
    """All nodes that a formula selects from each of the nodes of another, as in `a/(b | c)[1]`."""

    nodes: Formula
    inner: Formula


@dataclass(frozen=True, slots=True)
class NodeSet:
    """The nodes of several formulas as a set."""

    operator: Literal["union", "intersect", "except"]
    parts: tuple[Formula, ...]


@dataclass(frozen=True, slots=True)
class VariableNode:
    """What a variable of `some` or `every` holds."""

    name: str


@dataclass(frozen=True, slots=True)
class NodeQuantifier:
    """Some node, or every one, meets the condition where it is what the variable holds."""

    is_every: bool
    name: str
    source: Formula
    condition: Formula


@dataclass(frozen=True, slots=True)
class Related:
    """The two sides stand in a relation; of nodes one is enough."""

    operator: Comparison
    left: Formula
    right: Formula
    reading: SideReading


@dataclass(frozen=True, slots=True)
class Applied:
    """A function, an operator of arithmetic, or a conversion, with its arguments."""

    function: str
    arguments: tuple[Formula, ...] = ()


Formula = Fixed | Walk | NodeFilter | NodePath | NodeSet | VariableNode | NodeQuantifier | Related | Applied


@dataclass(frozen=True, slots=True)
class CoreFunction:
    """What a function makes, and of what; the last parameter may repeat, or be left out."""

    result: FormulaType
    parameters: tuple[FormulaType, ...] = ()
    least: int = 0
    repeats: bool = False


_TEXT: tuple[FormulaType, ...] = ("text",)
_NUMBER: tuple[FormulaType, ...] = ("number",)
_NODES: tuple[FormulaType, ...] = ("nodes",)
_TRUTH: tuple[FormulaType, ...] = ("truth",)
#: The functions that formulas have; `text` and `number` of nodes are those of the first one.
SIGNATURES: dict[str, CoreFunction] = {
    "string": CoreFunction("text", _TEXT),
    "number": CoreFunction("number", _NUMBER),
    "boolean": CoreFunction("truth", _TRUTH, 1),
    "not": CoreFunction("truth", _TRUTH, 1),
    "true": CoreFunction("truth"),
    "false": CoreFunction("truth"),
    "position": CoreFunction("number"),
    "last": CoreFunction("number"),
    "count": CoreFunction("number", _NODES, 1),
    "sum": CoreFunction("number", _NODES, 1),
    "exists": CoreFunction("truth", _NODES, 1),
    "empty": CoreFunction("truth", _NODES, 1),
    "name": CoreFunction("text", _NODES),
    "local-name": CoreFunction("text", _NODES),
    "namespace-uri": CoreFunction("text", _NODES),
    "concat": CoreFunction("text", ("text", "text"), 2, repeats=True),
    "contains": CoreFunction("truth", ("text", "text"), 2),
    "starts-with": CoreFunction("truth", ("text", "text"), 2),
    "ends-with": CoreFunction("truth", ("text", "text"), 2),
    "substring": CoreFunction("text", ("text", "number", "number"), 2),
    "substring-before": CoreFunction("text", ("text", "text"), 2),
    "substring-after": CoreFunction("text", ("text", "text"), 2),
    "string-length": CoreFunction("number", _TEXT),
    "normalize-space": CoreFunction("text", _TEXT),
    "translate": CoreFunction("text", ("text", "text", "text"), 3),
    "upper-case": CoreFunction("text", _TEXT, 1),
    "lower-case": CoreFunction("text", _TEXT, 1),
    "floor": CoreFunction("number", _NUMBER, 1),
    "ceiling": CoreFunction("number", _NUMBER, 1),
    "round": CoreFunction("number", _NUMBER, 1),
    "abs": CoreFunction("number", _NUMBER, 1),
}
#: Operators of arithmetic; `negative` is the sign, `double` reads a text as XQuery does, and makes nothing of nothing.
ARITHMETIC = ("+", "-", "*", "div", "mod", "idiv")
#: At which place among the nodes of a formula a node is, from 1 on, or from the last one, which has 0; if it is one.
PLACES = ("place", "place from the last")
_TRUTHS, _MEASURES = ("and", "or", "if"), ("negative", "double", *PLACES)


def type_of(formula: Formula) -> FormulaType:
    """What a formula makes."""
    match formula:
        case Fixed(value):
            return "truth" if isinstance(value, bool) else "text" if isinstance(value, str) else "number"
        case Walk() | NodeFilter() | NodePath() | NodeSet() | VariableNode():
            return "nodes"
        case Related() | NodeQuantifier():
            return "truth"
        case Applied(function):
            if function in ARITHMETIC or function in _MEASURES:
                return "number"
            return "truth" if function in _TRUTHS else SIGNATURES[function].result


def parts_of_formula(formula: Formula) -> Iterator[Formula]:
    """A formula and all those in it."""
    yield formula
    match formula:
        case Walk(start, moves):
            if not isinstance(start, str):
                yield from parts_of_formula(start)
            for move in moves:
                for condition in move.conditions:
                    yield from parts_of_formula(condition)
        case NodeFilter(nodes, conditions):
            for part in (nodes, *conditions):
                yield from parts_of_formula(part)
        case NodePath(nodes, inner):
            yield from parts_of_formula(nodes)
            yield from parts_of_formula(inner)
        case NodeSet(_, parts) | Applied(_, parts):
            for part in parts:
                yield from parts_of_formula(part)
        case NodeQuantifier(_, _, source, condition):
            yield from parts_of_formula(source)
            yield from parts_of_formula(condition)
        case Related(_, left, right):
            yield from parts_of_formula(left)
            yield from parts_of_formula(right)


def asks_position(formula: Formula) -> bool:
    """Whether what a condition comes to depends on the position of the node that it is asked of."""
    match formula:
        case Applied("position" | "last"):
            return True
        case Applied(_, parts) | NodeSet(_, parts):
            return any(map(asks_position, parts))
        case Related(_, left, right):
            return asks_position(left) or asks_position(right)
        case NodeFilter(nodes) | NodePath(nodes):
            return asks_position(nodes)
        case Walk(start):
            return not isinstance(start, str) and asks_position(start)
        case NodeQuantifier(_, _, source, condition):
            return asks_position(source) or asks_position(condition)
        case _:
            return False


def is_positional(condition: Formula) -> bool:
    """Whether a condition in brackets is about positions."""
    return type_of(condition) == "number" or asks_position(condition)


def looks_outside(formula: Formula) -> bool:
    """Whether a formula may look at more than a node and what lies below it."""
    for part in parts_of_formula(formula):
        if isinstance(part, Walk) and (
            part.start == "document" or any(move.axis not in DOWNWARD for move in part.moves)
        ):
            return True
        if isinstance(part, Applied) and part.function in ("position", "last"):
            return True
    return False
