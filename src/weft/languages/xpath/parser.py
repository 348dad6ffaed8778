"""XPath text in, a plan out; or an error with the place, what was expected and what was found."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from weft.documents.kind import Kind
from weft.languages.reader import MOST_NESTED, OnWarning
from weft.languages.xpath.conditions import Conditions
from weft.languages.xpath.names import Names
from weft.plans.plan import (
    And,
    Combine,
    Link,
    Named,
    Not,
    Pattern,
    Selection,
    Step,
    Test,
    Unlike,
    conjunction,
)

_AXES = frozenset({"child", "descendant", "attribute", "self", "descendant-or-self"})
_OTHER_NODES = frozenset({"comment", "processing-instruction", "node", "element", "attribute", "document-node"})


def parse(
    query: str,
    namespaces: Mapping[str, str] | None = None,
    ignore_namespaces: bool = False,
    most_nested: int = MOST_NESTED,
    on_warning: OnWarning | None = None,
) -> Selection:
    """The plan of an XPath query.

    >>> parse("/a/b").path[1].label
    'b'
    """
    parser = Parser(query, Names(namespaces or {}, ignore_namespaces)).within(most_nested, on_warning)
    selection = parser.union()
    if parser.kind != "end":
        parser.unexpected("the end of the query")
    return selection


class Parser(Conditions):
    """A recursive descent over the tokens of one query."""

    def __init__(self, query: str, names: Names, language: str = "XPath") -> None:
        super().__init__(query, language)
        self.names = names

    # -- selections

    def union(self) -> Selection:
        """Selections with `|` between them."""
        parts = [self._intersection()]
        while self.accept("|") or self.accept_word("union"):
            parts.append(self._intersection())
        return Combine("union", tuple(parts)) if len(parts) > 1 else parts[0]

    def _intersection(self) -> Selection:
        """`intersect` and `except`, from left to right: where they take turns the selection nests."""
        left, depth = self._selection(), self._nested
        while self.kind == "name" and self.text in ("intersect", "except"):
            operator: Literal["intersect", "except"] = "intersect" if self.advance() == "intersect" else "except"
            right = self._selection()
            if isinstance(left, Combine) and left.operator == operator:
                left = Combine(operator, (*left.parts, right))  # a - b - c, in one
            else:
                depth += 1
                self.check_nesting(depth, self.at)
                left = Combine(operator, (left, right))
        return left

    def _selection(self) -> Selection:
        if not self.accept("("):
            return self._pattern()
        self.enter()
        inner = self.union()
        self.leave()
        self.expect(")")
        if self.text in ("/", "//", "["):
            self.refuse("a step or predicate behind parentheses", self.at, "write the paths out")
        return inner

    def _pattern(self) -> Pattern:
        at = self.at
        links = self.path(absolute=True)
        if not links or not links[0].path:
            self.refuse("the document itself as a result", at, "use /* for its root element")
        result: Pattern | None = None
        for link in links:
            result = Pattern(result, link.path, link.test)
        assert result is not None
        return result

    def function_name(self) -> str:
        """The name of the function that is next, with the prefix that it usually has."""
        return self.names.function(self.text)

    # -- paths

    def path(self, absolute: bool = False) -> tuple[Link, ...]:
        """A path as links: stretches without predicates, each with the test at its end."""
        deep = False
        if self.kind == "sign" and self.text in ("/", "//"):
            if not absolute:
                self.refuse("an absolute path in a predicate", self.at, "start at . instead")
            deep = self.advance() == "//"
            if not deep and not self.starts_step():
                return ()
        return self.steps(deep)

    def steps(self, deep: bool) -> tuple[Link, ...]:
        """Steps as links; with `deep` the first one leads to descendants."""
        links: list[Link] = []
        steps: list[Step] = []
        while True:
            deep = self._step(links, steps, deep)
            if self.kind != "sign" or self.text not in ("/", "//"):
                break
            if _is_leaf(steps[-1:] or (links[-1].path[-1:] if links else ())):
                self.fail(f"expected the end of the path, found {self.text!r}: no nodes lie below", self.at)
            deep = self.advance() == "//" or deep
        if deep:
            self.refuse("// before a step that stays where it is", self.at)
        if steps:
            links.append(Link(tuple(steps)))
        return tuple(links)

    def _step(self, links: list[Link], steps: list[Step], deep: bool) -> bool:
        """Read one step; what comes back is whether the next one must be deep for its sake."""
        at, axis = self.at, "child"
        if self.kind == "sign":
            if self.accept("."):
                return self._stay(links, steps, [], deep, at)
            if self.accept("@"):
                axis = "attribute"
        elif self.following == "::":
            axis = self._axis()
        if axis == "descendant-or-self":
            self._expect_any_node(at)
            return True
        if axis == "self":
            is_any = self.text == "node" and self.following == "("
            if is_any:
                self._expect_any_node(at)
            elif deep:
                self.refuse("// before self::", at, "test the name in a predicate")
            return self._stay(links, steps, [] if is_any else [Named(self._label(False))], deep, at)
        step = self._node_test(axis == "attribute", deep or axis == "descendant")
        if self.text == "[":
            tests = self._predicates_behind(links, rankable=axis == "child")
            steps.append(_fold_unlike(step, tests))
            self._attach(links, steps, tests)
        else:
            steps.append(step)
        return False

    def _stay(self, links: list[Link], steps: list[Step], tests: list[Test], deep: bool, at: int) -> bool:
        """A step to the node itself: its predicates are tests on where the path has come to."""
        tests = [*tests, *self._predicates_behind(links, rankable=False)]
        if tests and deep:
            self.refuse("// before a step that stays where it is", at)
        self._attach(links, steps, tests)
        return deep

    def _predicates_behind(self, links: list[Link], rankable: bool) -> list[Test]:
        """The predicates of a step; in the plan it is nested in the links before it."""
        self._nested += len(links)
        tests = self.predicates(rankable)
        self._nested -= len(links)
        return tests

    def _axis(self) -> str:
        at, axis = self.at, self.advance()
        if axis not in _AXES:
            self.refuse(f"the axis {axis}::", at)
        self.expect("::")
        return axis

    def _node_test(self, is_attribute: bool, deep: bool) -> Step:
        if self.kind == "name" and self.following == "(" and not is_attribute:
            if self.text == "text":
                self.advance()
                self.advance()
                self.expect(")")
                return Step("text()", deep, Kind.TEXT)
            if self.text in _OTHER_NODES:
                self.refuse(f"{self.text}()", self.at)
            self.refuse_function()
        label = self._label(is_attribute)
        return Step(label, deep, Kind.ATTRIBUTE) if is_attribute else Step(label, deep)

    def _expect_any_node(self, at: int) -> None:
        if not self.accept_word("node"):
            self.refuse("descendant-or-self:: with a name", at, "use //")
        self.expect("(")
        self.expect(")")

    def _label(self, is_attribute: bool) -> str:
        if self.kind != "name":
            if self.accept("*"):
                return "*"
            if self.text == "..":
                self.refuse("the parent step ..", self.at, "put the condition in a predicate further up")
            self.unexpected("a step")
        at, name = self.at, self.advance()
        try:
            return self.names.label(name, is_attribute)
        except KeyError as prefix:
            self.fail(f"expected a declared prefix, found {prefix.args[0]!r}", at)

    def _attach(self, links: list[Link], steps: list[Step], tests: list[Test]) -> None:
        """Close the stretch read so far with these tests, or put them to the stretch that was closed last."""
        test = conjunction(tests)
        if test is None:
            return
        if steps or not links:
            self.check_nesting(self._nested + len(links), self.at)
            links.append(Link(tuple(steps), test))
            steps.clear()
        else:
            last = links.pop()
            links.append(Link(last.path, conjunction([last.test, test] if last.test else [test])))


def _is_leaf(steps: list[Step] | tuple[Step, ...]) -> bool:
    return bool(steps) and steps[0].kind is not Kind.ELEMENT


def _fold_unlike(step: Step, tests: list[Test]) -> Step:
    """`*[not(self::a or self::b)]` is a label test of its own; the test that it replaces is taken out."""
    if step.label != "*" or step.kind is not Kind.ELEMENT or not tests:
        return step
    parts = tests[0].tests if isinstance(tests[0], And) else (tests[0],)
    labels = [part.test.label for part in parts if isinstance(part, Not) and isinstance(part.test, Named)]
    names = tuple(sorted(label for label in labels if isinstance(label, str)))
    if len(names) != len(parts) or "*" in names:
        return step
    del tests[0]
    return Step(Unlike(names), step.deep)
