"""What an expression of XQuery becomes that is worked out by itself: frozen nodes, as the text nests."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from typing import Literal

from weft.plans.clauses import Clause
from weft.plans.constructions import BuiltAttribute, BuiltElement, BuiltLeaf

Atomic = str | bool | int | Decimal | float
TreeAxis = Literal[
    "self",
    "child",
    "attribute",
    "descendant",
    "descendant-or-self",
    "parent",
    "ancestor",
    "ancestor-or-self",
    "following-sibling",
    "preceding-sibling",
    "following",
    "preceding",
]
TestedKind = Literal["element", "attribute", "text", "node", "document"]
Occurrence = Literal["", "?", "*", "+"]
#: The axes whose positions count backwards in the document.
REVERSE_AXES: frozenset[str] = frozenset({"parent", "ancestor", "ancestor-or-self", "preceding-sibling", "preceding"})


@dataclass(frozen=True, slots=True)
class ConstantValue:
    """A constant, as it is written; 1 and 1e0 are equal in Python, but not here."""

    value: Atomic
    kind: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "kind", type(self.value).__name__)


@dataclass(frozen=True, slots=True)
class VariableUse:
    """A variable's value."""

    name: str


@dataclass(frozen=True, slots=True)
class ContextItem:
    """The item that a predicate, or a step, looks at."""


@dataclass(frozen=True, slots=True)
class ComingDocument:
    """The document that comes, whatever the query calls it."""


@dataclass(frozen=True, slots=True)
class TreeRoot:
    """`/`: the root of the tree that the context item is in."""


@dataclass(frozen=True, slots=True)
class InTurn:
    """Sequences one behind the other."""

    parts: tuple[QueryExpression, ...]


@dataclass(frozen=True, slots=True)
class Calculation:
    """`+`, `-`, `*`, `div`, `idiv`, `mod`, `to`, or `||`."""

    operator: str
    left: QueryExpression
    right: QueryExpression


@dataclass(frozen=True, slots=True)
class Negative:
    """Minus a number."""

    operand: QueryExpression


@dataclass(frozen=True, slots=True)
class ComparedItems:
    """A comparison: general (`=`), of single values (`eq`), or of nodes (`is`, `<<`)."""

    kind: Literal["general", "value", "node"]
    operator: str
    left: QueryExpression
    right: QueryExpression


@dataclass(frozen=True, slots=True)
class Connected:
    """`and`, `or`."""

    operator: Literal["and", "or"]
    parts: tuple[QueryExpression, ...]


@dataclass(frozen=True, slots=True)
class NodeSets:
    """`union`, `intersect`, `except`."""

    operator: Literal["union", "intersect", "except"]
    left: QueryExpression
    right: QueryExpression


@dataclass(frozen=True, slots=True)
class NodeTest:
    """What nodes a step leads to: of a kind (`node` is any), and with a name that passes a label test."""

    kind: TestedKind
    label: str = "*"


@dataclass(frozen=True, slots=True)
class SequenceType:
    """`xs:decimal?`, `element(a)*`: an atomic type, a node test, or any item; and how many."""

    item: str | NodeTest  # "item" for any; "empty" for empty-sequence()
    occurrence: Occurrence = ""


@dataclass(frozen=True, slots=True)
class Cast:
    """`cast as`, `castable as`, or a constructor function such as `xs:decimal()`."""

    operand: QueryExpression
    type: str
    is_optional: bool
    asks: bool = False  # whether it can be cast


@dataclass(frozen=True, slots=True)
class Typed:
    """`instance of`, which asks; `treat as`, which fails; or what a function takes and gives, which is converted."""

    operand: QueryExpression
    type: SequenceType
    how: Literal["instance", "treat", "convert"]


@dataclass(frozen=True, slots=True)
class IfElse:
    """`if (…) then … else …`."""

    condition: QueryExpression
    then: QueryExpression
    otherwise: QueryExpression


@dataclass(frozen=True, slots=True)
class Switch:
    """`switch (…) case … return … default return …`."""

    operand: QueryExpression
    cases: tuple[tuple[QueryExpression, QueryExpression], ...]
    default: QueryExpression


@dataclass(frozen=True, slots=True)
class Quantified:
    """`some $v in … satisfies …`, `every`."""

    is_every: bool
    bindings: tuple[tuple[str, QueryExpression], ...]
    condition: QueryExpression


@dataclass(frozen=True, slots=True)
class FlwrExpression:
    """Clauses that make tuples of variables, and what each of them returns."""

    clauses: tuple[Clause, ...]
    returned: QueryExpression


@dataclass(frozen=True, slots=True)
class AxisStep:
    """A step of a path along an axis."""

    axis: TreeAxis
    test: NodeTest
    predicates: tuple[QueryExpression, ...] = ()


@dataclass(frozen=True, slots=True)
class EachStep:
    """A step of a path that is an expression: worked out for each node."""

    expression: QueryExpression


@dataclass(frozen=True, slots=True)
class Steps:
    """A path: steps from nodes."""

    start: QueryExpression
    steps: tuple[AxisStep | EachStep, ...]


@dataclass(frozen=True, slots=True)
class Filtered:
    """A sequence with predicates: `(…)[1]`."""

    operand: QueryExpression
    predicates: tuple[QueryExpression, ...]


@dataclass(frozen=True, slots=True)
class Mapped:
    """`… ! …`."""

    operand: QueryExpression
    each: QueryExpression


@dataclass(frozen=True, slots=True)
class Call:
    """A function of the language, by its name."""

    name: str
    arguments: tuple[QueryExpression, ...]


@dataclass(frozen=True, slots=True)
class UserCall:
    """A function of the query: its parameters are converted as it says, and so is what it gives."""

    name: str
    arguments: tuple[QueryExpression, ...]


@dataclass(frozen=True, slots=True)
class UserFunction:
    """`declare function`: its parameters, and what it gives."""

    name: str
    parameters: tuple[str, ...]
    body: QueryExpression


@dataclass(frozen=True, slots=True)
class Finding:
    """What decides whether there is a message: a path that leads somewhere, a FLWR expression that binds something.

    With `always` it is there in any case: the branch of an `if` that looks for nothing, a truth value.
    """

    expression: QueryExpression
    always: bool = False


QueryExpression = (
    ConstantValue
    | VariableUse
    | ContextItem
    | ComingDocument
    | TreeRoot
    | InTurn
    | Calculation
    | Negative
    | ComparedItems
    | Connected
    | NodeSets
    | Cast
    | Typed
    | IfElse
    | Switch
    | Quantified
    | FlwrExpression
    | Steps
    | Filtered
    | Mapped
    | Call
    | UserCall
    | BuiltElement
    | BuiltAttribute
    | BuiltLeaf
    | Finding
)
