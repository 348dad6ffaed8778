"""The text of a path in, its steps out; with predicates on any of them."""

from __future__ import annotations

from dataclasses import replace
from typing import cast, get_args

from weft.languages.xquery.expression_reader import CONTEXT
from weft.languages.xquery.sequence_types import NO_NODES, TypeReader
from weft.plans.expressions import (
    AxisStep,
    Call,
    ComparedItems,
    Connected,
    ContextItem,
    EachStep,
    Filtered,
    Mapped,
    NodeTest,
    Quantified,
    QueryExpression,
    Steps,
    TreeAxis,
    TreeRoot,
    Typed,
)

_ANYWHERE = AxisStep("descendant-or-self", NodeTest("node"))
_KINDS = ("node", "text", "element", "attribute", "document-node", *NO_NODES)
_COMPUTED = ("element", "attribute", "text", "document", "comment", "processing-instruction")
_BRACED = ("try", "validate", "map", "array", "ordered", "unordered")
#: Functions that give truth values: a predicate with one asks for no position.
TRUTHS = frozenset(
    [
        "not",
        "exists",
        "empty",
        "boolean",
        "contains",
        "starts-with",
        "ends-with",
        "matches",
        "true",
        "false",
        "deep-equal",
    ]
)


class PathParser(TypeReader):
    """Reads paths."""

    def primary(self) -> QueryExpression:
        """What is neither a path nor an operation."""
        raise NotImplementedError

    def path(self) -> QueryExpression:
        """A path, or what stands in its place."""
        if self.kind == "sign" and self.text in ("/", "//"):
            is_deep = self.advance() == "//"
            if not is_deep and not self._starts_step():
                return TreeRoot()
            start: QueryExpression = TreeRoot()
            steps = self._steps(is_deep)
            return Steps(start, steps)
        first = self._step()
        if isinstance(first, EachStep):
            if self.kind != "sign" or self.text not in ("/", "//"):
                return first.expression
            return Steps(first.expression, self._steps(self.advance() == "//"))
        return Steps(CONTEXT, self._more([first]))

    def _steps(self, is_deep: bool) -> tuple[AxisStep | EachStep, ...]:
        """Steps behind `/` or `//`."""
        steps: list[AxisStep | EachStep] = []
        self._add(steps, is_deep)
        return self._more(steps)

    def _more(self, steps: list[AxisStep | EachStep]) -> tuple[AxisStep | EachStep, ...]:
        while self.kind == "sign" and self.text in ("/", "//"):
            self._add(steps, self.advance() == "//")
        if len(steps) > self.most_nested * 20:
            self.refuse("a path of so many steps", self.at)
        return tuple(steps)

    def _add(self, steps: list[AxisStep | EachStep], is_deep: bool) -> None:
        step = self._step()
        if is_deep:
            if isinstance(step, AxisStep) and step.axis == "child" and not any(map(_may_count, step.predicates)):
                step = replace(step, axis="descendant")
            else:
                steps.append(_ANYWHERE)
        steps.append(step)

    def _starts_step(self) -> bool:
        return self.kind in ("name", "string", "number") or self.text in ("*", "@", ".", "..", "(", "$")

    def _step(self) -> AxisStep | EachStep:
        following = self.following if self.kind == "name" else ""
        if self.kind == "sign" and self.text == "..":
            self.advance()
            return AxisStep("parent", NodeTest("node"), self.predicates())
        if self.accept("@"):
            return AxisStep("attribute", self._node_test(is_attribute=True), self.predicates())
        if self.text == "*" and self.kind == "sign":
            return AxisStep("child", self._node_test(is_attribute=False), self.predicates())
        if self.kind == "name" and following == "::":
            at, axis = self.at, self.advance()
            if axis not in get_args(TreeAxis):
                self.refuse(f"the axis {axis}::", at)
            self.expect("::")
            return AxisStep(cast(TreeAxis, axis), self._node_test(axis == "attribute"), self.predicates())
        is_kind = following == "(" and self.text in _KINDS
        is_name = self.kind == "name" and following not in ("(", "#")
        if is_kind or (is_name and not self._starts_computed(following)):
            is_attribute = is_kind and self.text == "attribute"
            axis_name: TreeAxis = "attribute" if is_attribute else "child"
            return AxisStep(axis_name, self._node_test(is_attribute), self.predicates())
        return EachStep(self.postfix())

    def _starts_computed(self, following: str) -> bool:
        """Whether a constructor such as `element name { … }` is next."""
        if self.text in _BRACED and following == "{":
            return True
        if self.text not in _COMPUTED:
            return False
        return following == "{" or (self.next_two.endswith(" {") and following not in ("/", ",", ")", "}", "]"))

    def _node_test(self, is_attribute: bool) -> NodeTest:
        if self.kind == "name" and self.following == "(":
            return self.kind_test()
        return NodeTest("attribute" if is_attribute else "element", self.label(is_attribute))

    def predicates(self) -> tuple[QueryExpression, ...]:
        """Predicates, one behind the other."""
        found: list[QueryExpression] = []
        while self.kind == "sign" and self.text == "[":
            self.enter()
            self.advance()
            found.append(self.expression())
            self.expect("]")
            self.leave()
        return tuple(found)

    def postfix(self) -> QueryExpression:
        """A primary expression with predicates."""
        found = self.primary()
        predicates = self.predicates()
        return Filtered(found, predicates) if predicates else found

    def mapped(self) -> QueryExpression:
        """Paths with `!` between them."""
        found = self.path()
        while self.accept("!"):
            found = Mapped(found, self.path())
        return found


def _may_count(predicate: QueryExpression) -> bool:
    """Whether a predicate may ask for a position: then `//a[…]` must go step by step."""
    match predicate:
        case Steps(steps=steps) if isinstance(steps[-1], AxisStep):
            return _asks_position(predicate)
        case ComparedItems() | Connected() | Quantified() | Typed():
            return _asks_position(predicate)
        case Call(name) if name in TRUTHS:
            return _asks_position(predicate)
        case ContextItem():
            return False
        case _:
            return True


def _asks_position(expression: object) -> bool:
    if isinstance(expression, Call) and expression.name in ("position", "last"):
        return True
    if isinstance(expression, tuple):
        return any(map(_asks_position, expression))
    names = getattr(expression, "__dataclass_fields__", ())
    return any(_asks_position(getattr(expression, name)) for name in names)
