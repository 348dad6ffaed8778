"""XPath text in, a plan out; or an error with the place, what was expected and what was found."""

from __future__ import annotations

from collections.abc import Mapping

from weft.documents.kind import Kind
from weft.languages.expressions import expression_name, starts_xquery
from weft.languages.reader import MOST_NESTED, OnWarning, behind_comments
from weft.languages.xpath.above import NoRewriteError, goes_up
from weft.languages.xpath.names import Names
from weft.languages.xpath.selection_parser import SelectionParser
from weft.languages.xpath.trails import (
    FROM_DOCUMENT,
    FROM_NODE,
    UP_TO_DOCUMENT,
    Trail,
    Trails,
    below_document,
)
from weft.languages.xpath.turns import AXES, BACK, UPWARD, plain
from weft.languages.xpath.unlike import fold_unlike
from weft.plans.plan import (
    Link,
    Named,
    Selection,
    Step,
    Test,
    conjunction,
)

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
        _refuse_xquery(parser)
        parser.unexpected("the end of the query")
    return selection


def _refuse_xquery(parser: Parser) -> None:
    """Tell by its name what XQuery has at the start of a query, and XPath has not."""
    at = behind_comments(parser.query, 0)
    if at is not None and starts_xquery(parser.query, at):
        parser.seek(at)
        name = expression_name(parser.text, parser.following) or f"{parser.text} {parser.following}".rstrip()
        parser.refuse(f"{name} in XPath", at, 'say language="xquery"')


class Parser(SelectionParser):
    """A recursive descent over the tokens of one query."""

    def __init__(self, query: str, names: Names, language: str = "XPath") -> None:
        super().__init__(query, language)
        self.names = names

    def function_name(self) -> str:
        """The name of the function that is next; the usual prefix of XML Schema is xs."""
        return self.names.function(self.text)

    # -- paths

    def trails(self, absolute: bool = False) -> Trails:
        """A path as the ways that it may go; in a predicate it may start at the document."""
        start, deep = FROM_DOCUMENT if absolute else FROM_NODE, False
        if self.kind == "sign" and self.text in ("/", "//"):
            if not absolute:
                start, self.went_up = UP_TO_DOCUMENT, True
            deep = self.advance() == "//"
            if not deep and not self.starts_step():
                return (start,)
        return self.trails_from(start, deep)

    def path(self, absolute: bool = False) -> tuple[Link, ...]:
        """A path that goes one way, and that down, as links."""
        at = self.at
        return self._only_links(self.trails(absolute), at)

    def steps(self, deep: bool) -> tuple[Link, ...]:
        """Steps that go one way, and that down, as links; with `deep` the first one leads to descendants."""
        at = self.at
        return self._only_links(self.trails_from(FROM_NODE, deep), at)

    def _only_links(self, trails: Trails, at: int) -> tuple[Link, ...]:
        if len(trails) != 1 or trails[0].ups:
            self.refuse("a path that goes up, or several ways, here", at, "write the paths out")
        return trails[0].links

    def trails_from(self, start: Trail, deep: bool) -> Trails:
        """Steps as the ways that they may go from a start, which has no steps."""
        links: list[Link] = list(start.links)
        steps: list[Step] = []
        while True:
            stays = self._step(links, steps, deep)
            if stays is None:
                return self.turned(self._from_root(start._replace(links=plain(links, steps))), deep)
            deep = stays
            if self.kind != "sign" or self.text not in ("/", "//"):
                break
            if _is_leaf(steps[-1:] or (links[-1].path[-1:] if links else ())) and self.following not in BACK:
                self.fail(f"expected the end of the path, found {self.text!r}: no nodes lie below", self.at, True)
            deep = self.advance() == "//" or deep
        if deep:
            self.refuse("// before a step that stays where it is", self.at)
        if steps:
            links.append(Link(tuple(steps)))
        return self._from_root(Trail(tuple(links), start.ups, start.is_absolute))

    def _from_root(self, trail: Trail) -> Trails:
        """A way; what it asks of the document first is asked of the root element."""
        links = trail.links
        if not (trail.is_absolute and len(links) > 1 and not links[0].path):
            return (trail,)
        try:
            return below_document(trail)
        except NoRewriteError as reason:
            self.refuse(str(reason), self.at)

    def _step(self, links: list[Link], steps: list[Step], deep: bool) -> bool | None:
        """Read one step; what comes back is whether the next one must be deep for its sake.

        Nothing comes back where the path turns up or several ways: before this step, or for the sake of its predicates.
        """
        at, axis, following = self.at, "child", ""
        if self.kind == "sign":
            if self.accept("."):
                return self._stay(links, steps, [], deep, at)
            if self.accept("@"):
                axis = "attribute"
            elif self.text in ("..", "("):
                return None
        elif (following := self.following) == "::":
            if self.turns(deep):
                return None
            axis, following = self.axis(), self.following
        elif following == "(" and self.text == "node":
            return None
        if axis == "descendant-or-self":
            self._expect_any_node(at)
            return True
        if axis == "self":
            is_any = self.text == "node" and self.following == "("
            if self.text == "text" and self.following == "(":
                self.refuse("text() behind self::", self.at)
            if is_any:
                self._expect_any_node(at)
            elif deep:
                self.refuse("// before self::", at, "test the name in a predicate")
            return self._stay(links, steps, [] if is_any else [Named(self.label(False))], deep, at)
        step = self._node_test(axis == "attribute", deep or axis == "descendant", following)
        if self.text == "[":
            self.next_step = step
            tests = self._predicates_behind(links, rankable=axis == "child")
            steps.append(fold_unlike(step, tests))
            self._attach(links, steps, tests)
            return None if self.asked_above else False
        steps.append(step)
        return False

    def _stay(self, links: list[Link], steps: list[Step], tests: list[Test], deep: bool, at: int) -> bool | None:
        """A step to the node itself: its predicates are tests on where the path has come to."""
        self.next_step = None
        tests = [*tests, *self._predicates_behind(links, rankable=False)]
        if tests and deep:
            self.refuse("// before a step that stays where it is", at)
        self._attach(links, steps, tests)
        return None if self.asked_above else deep

    def _predicates_behind(self, links: list[Link], rankable: bool) -> list[Test]:
        """The predicates of a step; in the plan it is nested in the links before it."""
        self._nested += len(links)
        tests = self.predicates(rankable)
        self._nested -= len(links)
        return tests

    def axis(self) -> str:
        """The axis that is next, with its colons."""
        at, axis = self.at, self.advance()
        if axis not in AXES and axis not in UPWARD:
            self.refuse(f"the axis {axis}::", at)
        self.expect("::")
        return axis

    def _node_test(self, is_attribute: bool, deep: bool, following: str) -> Step:
        if following == "(" and self.kind == "name" and not is_attribute:
            if self.text == "text":
                self.advance()
                self.advance()
                self.expect(")")
                return Step("text()", deep, Kind.TEXT)
            if self.text in _OTHER_NODES:
                self.refuse(f"{self.text}()", self.at)
            self.refuse_function()
        label = self.label(is_attribute)
        return Step(label, deep, Kind.ATTRIBUTE) if is_attribute else Step(label, deep)

    def _expect_any_node(self, at: int) -> None:
        if not self.accept_word("node"):
            self.refuse("descendant-or-self:: with a name", at, "use //")
        self.expect("(")
        self.expect(")")

    def label(self, is_attribute: bool) -> str:
        """The name test that is next."""
        if self.kind != "name":
            if self.accept("*"):
                return "*"
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
        if self.went_up and goes_up(test):
            self.asked_above = tests
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
