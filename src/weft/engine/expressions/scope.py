"""What an expression is worked out in: its variables, the item that it looks at, and what the query may still cost."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from weft.documents.build import read
from weft.documents.document import Document, Limits
from weft.documents.escaping import escape_attribute, escape_text
from weft.documents.fragment import Fragments
from weft.engine.expressions.items import BuiltNode, DynamicError, Item, Items, Node, TreeNode
from weft.engine.expressions.trees import DocumentTree
from weft.plans.clauses import ForClause, WhereClause
from weft.plans.expressions import QueryExpression, UserFunction


@dataclass(slots=True)
class Run:
    """One query over one document."""

    document: TreeNode
    functions: dict[str, UserFunction]
    limits: Limits
    prepared: Any  # what is known of the query's text
    steps: int = 0  # that are left
    characters: int = 0  # of texts that may still be made
    too_long: str = ""  # what is told if there are more
    has_found: bool = False
    first: ForClause | None = None  # which binds these nodes alone
    known: tuple[WhereClause, ...] = ()  # which these nodes pass
    first_nodes: Items = field(default_factory=list)
    memo: dict[Any, Any] = field(default_factory=dict)

    def spend(self, steps: int) -> None:
        """So much is done."""
        self.steps -= steps
        if self.steps < 0:
            raise DynamicError(f"more than {self.limits.max_steps} steps of a query that is worked out alone")

    def write(self, text: str) -> str:
        """A text is made."""
        self.characters -= len(text)
        if self.characters < 0:
            raise DynamicError(self.too_long)
        return text


@dataclass(slots=True)
class Scope:
    """Where an expression stands."""

    run: Run
    variables: dict[str, Items]
    item: Item | None = None
    position: int = 0
    size: int = 0

    def binding(self, name: str, items: Items) -> Scope:
        """The same, with one variable more."""
        return Scope(self.run, {**self.variables, name: items}, self.item, self.position, self.size)

    def within(self, variables: dict[str, Items]) -> Scope:
        """The same with other variables."""
        return Scope(self.run, variables, self.item, self.position, self.size)

    def looking_at(self, item: Item, position: int, size: int) -> Scope:
        """The same at an item."""
        return Scope(self.run, self.variables, item, position, size)


ExpressionWork = Callable[[Any, Scope], Items]
_WORK: dict[type, ExpressionWork] = {}


def evaluates(*kinds: type) -> Callable[[ExpressionWork], ExpressionWork]:
    """A function works out these expressions."""

    def put(function: ExpressionWork) -> ExpressionWork:
        for kind in kinds:
            _WORK[kind] = function
        return function

    return put


def value(expression: QueryExpression, scope: Scope) -> Items:
    """What an expression comes to."""
    run = scope.run
    run.steps -= 1
    if run.steps < 0:
        run.spend(0)
    return _WORK[type(expression)](expression, scope)


def tree_node(item: Item, run: Run) -> TreeNode:
    """A node of a tree; an element that was built is read as a document of its own."""
    if isinstance(item, TreeNode):
        return item
    if not isinstance(item, BuiltNode):
        raise DynamicError(f"a path from what is no node: {type(item).__name__}")
    if item.root is None:
        if item.kind != "element":
            item.root = _lone(item, run)
        else:
            item.root = TreeNode(_tree_of(item.text, run), 1)
    return item.root


def _tree_of(xml: str, run: Run) -> DocumentTree:
    run.spend(len(xml) // 8)
    table = read([Document(xml, "built")], run.limits)
    if table.rejected:
        raise DynamicError(f"an element that cannot be read again: {table.rejected[0].reason}")
    return DocumentTree(table, 0, Fragments(table), is_built=True)


def _lone(item: BuiltNode, run: Run) -> TreeNode:
    """An attribute or a text without an element around it."""
    if item.kind == "attribute":
        tree = _tree_of(f'<x {item.declared} {item.name}="{escape_attribute(item.text)}"/>', run)
    elif item.kind == "text" and item.text:
        tree = _tree_of(f"<x>{escape_text(item.text)}</x>", run)
    else:
        raise DynamicError(f"a path from a {item.kind}")
    tree.parent[2] = -1
    return TreeNode(tree, 2)


def order_key(node: Node, run: Run) -> tuple[int, int]:
    """What puts nodes in document order."""
    found = tree_node(node, run)
    return found.tree.serial, found.number
