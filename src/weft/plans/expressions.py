"""What an expression of XQuery becomes that is worked out by itself: frozen nodes, as the text nests."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

Atomic = str | bool | int | Decimal | float
Axis = Literal[
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
class Written:
    """A constant, as it is written."""

    value: Atomic


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

    parts: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Calculation:
    """`+`, `-`, `*`, `div`, `idiv`, `mod`, `to`, or `||`."""

    operator: str
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Negative:
    """Minus a number."""

    operand: Expression


@dataclass(frozen=True, slots=True)
class Compared:
    """A comparison: general (`=`), of single values (`eq`), or of nodes (`is`, `<<`)."""

    kind: Literal["general", "value", "node"]
    operator: str
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Connected:
    """`and`, `or`."""

    operator: Literal["and", "or"]
    parts: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class NodeSets:
    """`union`, `intersect`, `except`."""

    operator: Literal["union", "intersect", "except"]
    left: Expression
    right: Expression


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

    operand: Expression
    type: str
    is_optional: bool
    asks: bool = False  # whether it can be cast


@dataclass(frozen=True, slots=True)
class Typed:
    """`instance of`, which asks; `treat as`, which fails; or what a function takes and gives, which is converted."""

    operand: Expression
    type: SequenceType
    how: Literal["instance", "treat", "convert"]


@dataclass(frozen=True, slots=True)
class Choice:
    """`if (…) then … else …`."""

    condition: Expression
    then: Expression
    otherwise: Expression


@dataclass(frozen=True, slots=True)
class Switch:
    """`switch (…) case … return … default return …`."""

    operand: Expression
    cases: tuple[tuple[Expression, Expression], ...]
    default: Expression


@dataclass(frozen=True, slots=True)
class Quantified:
    """`some $v in … satisfies …`, `every`."""

    is_every: bool
    bindings: tuple[tuple[str, Expression], ...]
    condition: Expression


@dataclass(frozen=True, slots=True)
class ForClause:
    """`for $v at $place in …`."""

    name: str
    source: Expression
    place: str | None = None
    allows_empty: bool = False


@dataclass(frozen=True, slots=True)
class LetClause:
    """`let $v := …`."""

    name: str
    value: Expression


@dataclass(frozen=True, slots=True)
class WhereClause:
    """`where …`."""

    condition: Expression


@dataclass(frozen=True, slots=True)
class OrderKey:
    """What to order by."""

    value: Expression
    descending: bool = False
    empty_greatest: bool = False


@dataclass(frozen=True, slots=True)
class OrderClause:
    """`order by …`; always stable."""

    keys: tuple[OrderKey, ...]


@dataclass(frozen=True, slots=True)
class GroupClause:
    """`group by $k := …`: variables that have their values already."""

    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CountClause:
    """`count $n`: the place of each tuple."""

    name: str


Clause = ForClause | LetClause | WhereClause | OrderClause | GroupClause | CountClause


@dataclass(frozen=True, slots=True)
class FlwrExpression:
    """Clauses that make tuples of variables, and what each of them returns."""

    clauses: tuple[Clause, ...]
    returned: Expression


@dataclass(frozen=True, slots=True)
class AxisStep:
    """A step of a path along an axis."""

    axis: Axis
    test: NodeTest
    predicates: tuple[Expression, ...] = ()


@dataclass(frozen=True, slots=True)
class EachStep:
    """A step of a path that is an expression: worked out for each node."""

    expression: Expression


@dataclass(frozen=True, slots=True)
class Steps:
    """A path: steps from nodes."""

    start: Expression
    steps: tuple[AxisStep | EachStep, ...]


@dataclass(frozen=True, slots=True)
class Filtered:
    """A sequence with predicates: `(…)[1]`."""

    operand: Expression
    predicates: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Mapped:
    """`… ! …`."""

    operand: Expression
    each: Expression


@dataclass(frozen=True, slots=True)
class Call:
    """A function of the language, by its name."""

    name: str
    arguments: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class UserCall:
    """A function of the query: its parameters are converted as it says, and so is what it gives."""

    name: str
    arguments: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Declared:
    """`declare function`: its parameters, and what it gives."""

    name: str
    parameters: tuple[str, ...]
    body: Expression


@dataclass(frozen=True, slots=True)
class BuiltElement:
    """An element constructor; a name that is worked out is an expression.

    Attributes stand before the content, both in their order. `declared` are the namespaces that it writes.
    """

    name: str | Expression
    attributes: tuple[BuiltAttribute, ...]
    content: tuple[Expression, ...]
    declared: tuple[tuple[str, str], ...] = ()
    namespaces: tuple[tuple[str, str], ...] = ()  # for names that are worked out


@dataclass(frozen=True, slots=True)
class BuiltAttribute:
    """An attribute constructor: its values, one behind the other."""

    name: str | Expression
    parts: tuple[Expression, ...]
    declared: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class BuiltLeaf:
    """A text, comment or instruction constructor; characters written in an element are a text too."""

    kind: Literal["text", "comment", "instruction", "document"]
    content: Expression
    target: str = ""


@dataclass(frozen=True, slots=True)
class Finding:
    """What decides whether there is a message: a path that leads somewhere, a FLWR expression that binds something.

    With `always` it is there in any case: the branch of an `if` that looks for nothing, a truth value.
    """

    expression: Expression
    always: bool = False


Expression = (
    Written
    | VariableUse
    | ContextItem
    | ComingDocument
    | TreeRoot
    | InTurn
    | Calculation
    | Negative
    | Compared
    | Connected
    | NodeSets
    | Cast
    | Typed
    | Choice
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
