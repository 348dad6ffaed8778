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
class Filtered:
    """Those nodes that pass conditions; positions count all of them, in document order."""

    nodes: Formula
    conditions: tuple[Formula, ...]


@dataclass(frozen=True, slots=True)
class Mapped:
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
class Quantified:
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


Formula = Fixed | Walk | Filtered | Mapped | NodeSet | VariableNode | Quantified | Related | Applied


@dataclass(frozen=True, slots=True)
class FunctionSignature:
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
SIGNATURES: dict[str, FunctionSignature] = {
    "string": FunctionSignature("text", _TEXT),
    "number": FunctionSignature("number", _NUMBER),
    "boolean": FunctionSignature("truth", _TRUTH, 1),
    "not": FunctionSignature("truth", _TRUTH, 1),
    "true": FunctionSignature("truth"),
    "false": FunctionSignature("truth"),
    "position": FunctionSignature("number"),
    "last": FunctionSignature("number"),
    "count": FunctionSignature("number", _NODES, 1),
    "sum": FunctionSignature("number", _NODES, 1),
    "exists": FunctionSignature("truth", _NODES, 1),
    "empty": FunctionSignature("truth", _NODES, 1),
    "name": FunctionSignature("text", _NODES),
    "local-name": FunctionSignature("text", _NODES),
    "namespace-uri": FunctionSignature("text", _NODES),
    "concat": FunctionSignature("text", ("text", "text"), 2, repeats=True),
    "contains": FunctionSignature("truth", ("text", "text"), 2),
    "starts-with": FunctionSignature("truth", ("text", "text"), 2),
    "ends-with": FunctionSignature("truth", ("text", "text"), 2),
    "substring": FunctionSignature("text", ("text", "number", "number"), 2),
    "substring-before": FunctionSignature("text", ("text", "text"), 2),
    "substring-after": FunctionSignature("text", ("text", "text"), 2),
    "string-length": FunctionSignature("number", _TEXT),
    "normalize-space": FunctionSignature("text", _TEXT),
    "translate": FunctionSignature("text", ("text", "text", "text"), 3),
    "upper-case": FunctionSignature("text", _TEXT, 1),
    "lower-case": FunctionSignature("text", _TEXT, 1),
    "floor": FunctionSignature("number", _NUMBER, 1),
    "ceiling": FunctionSignature("number", _NUMBER, 1),
    "round": FunctionSignature("number", _NUMBER, 1),
    "abs": FunctionSignature("number", _NUMBER, 1),
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
        case Walk() | Filtered() | Mapped() | NodeSet() | VariableNode():
            return "nodes"
        case Related() | Quantified():
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
        case Filtered(nodes, conditions):
            for part in (nodes, *conditions):
                yield from parts_of_formula(part)
        case Mapped(nodes, inner):
            yield from parts_of_formula(nodes)
            yield from parts_of_formula(inner)
        case NodeSet(_, parts) | Applied(_, parts):
            for part in parts:
                yield from parts_of_formula(part)
        case Quantified(_, _, source, condition):
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
        case Filtered(nodes) | Mapped(nodes):
            return asks_position(nodes)
        case Walk(start):
            return not isinstance(start, str) and asks_position(start)
        case Quantified(_, _, source, condition):
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
