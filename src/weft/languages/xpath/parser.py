"""XPath text in, a plan out; or an error with the place, what was expected and what was found."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NoReturn, cast

from weft.documents.kind import Kind
from weft.errors import QueryError, UnsupportedError
from weft.languages.xpath.names import Names
from weft.languages.xpath.predicates import (
    CONSTANT_FUNCTIONS,
    FLIPPED,
    FUNCTIONS,
    Operand,
    Paths,
    as_test,
    compare,
    position_test,
    string_function,
)
from weft.languages.xpath.tokens import Token, tokenize
from weft.plans.plan import (
    And,
    Combine,
    Link,
    Named,
    Not,
    Operator,
    Or,
    Pattern,
    Selection,
    Step,
    Test,
    Unlike,
    conjunction,
    negation,
)

_AXES = frozenset({"child", "descendant", "attribute", "self", "descendant-or-self"})
_OTHER_NODES = frozenset({"comment", "processing-instruction", "node", "element", "attribute", "document-node"})
_COMPARISONS = frozenset({"=", "!=", "<", "<=", ">", ">="})
_VALUE_COMPARISONS = frozenset({"eq", "ne", "lt", "le", "gt", "ge", "is", "to", "div", "mod", "idiv"})


def parse(query: str, namespaces: Mapping[str, str] | None = None, ignore_namespaces: bool = False) -> Selection:
    """The plan of an XPath query.

    >>> parse("/a/b").path[1].label
    'b'
    """
    parser = Parser(query, Names(namespaces or {}, ignore_namespaces))
    selection = parser.union()
    if parser.token.kind != "end":
        parser.unexpected("the end of the query")
    return selection


class Parser:
    """A recursive descent over the tokens of one query."""

    def __init__(self, query: str, names: Names, language: str = "XPath") -> None:
        self.query, self.names, self.language = query, names, language
        self.tokens = tokenize(query, language)
        self.position = 0
        self.token: Token = self.tokens[0]
        self.before: list[Test] = []
        self.rankable = False

    # -- tokens

    def advance(self) -> Token:
        token = self.token
        self.position += 1
        self.token = self.tokens[self.position]
        return token

    def accept(self, sign: str) -> bool:
        if self.token.text == sign and self.token.kind == "sign":
            self.advance()
            return True
        return False

    def accept_word(self, word: str) -> bool:
        if self.token.text == word and self.token.kind == "name":
            self.advance()
            return True
        return False

    def expect(self, sign: str) -> None:
        if not self.accept(sign):
            self.unexpected(repr(sign))

    def unexpected(self, expected: str) -> NoReturn:
        found = repr(self.token.text) if self.token.kind != "end" else "the end of the query"
        self.fail(f"expected {expected}, found {found}", self.token.at)

    def fail(self, reason: str, at: int) -> NoReturn:
        raise QueryError(self.language, self.query, at, reason)

    def refuse(self, feature: str, at: int, instead: str | None = None) -> NoReturn:
        raise UnsupportedError(self.language, self.query, at, feature, instead)

    # -- selections

    def union(self) -> Selection:
        left = self.intersection()
        while self.accept("|") or self.accept_word("union"):
            left = Combine("union", left, self.intersection())
        return left

    def intersection(self) -> Selection:
        left = self.selection()
        while True:
            if self.accept_word("intersect"):
                left = Combine("intersect", left, self.selection())
            elif self.accept_word("except"):
                left = Combine("except", left, self.selection())
            else:
                return left

    def selection(self) -> Selection:
        if self.accept("("):
            inner = self.union()
            self.expect(")")
            if self.token.text in ("/", "//", "["):
                self.refuse("a step or predicate behind parentheses", self.token.at, "write the paths out")
            return inner
        return self.pattern()

    def pattern(self) -> Pattern:
        at = self.token.at
        if self.token.kind == "name" and self.tokens[self.position + 1].text == "(":
            self.refuse_function()
        links = self.path(absolute=True)
        if not links or not links[0].path:
            self.refuse("the document itself as a result", at, "use /* for its root element")
        result: Pattern | None = None
        for link in links:
            result = Pattern(result, link.path, link.test)
        assert result is not None
        return result

    # -- paths

    def path(self, absolute: bool = False) -> tuple[Link, ...]:
        """A path as links: stretches without predicates, each with the test at its end."""
        if self.token.text in ("/", "//") and self.token.kind == "sign":
            if not absolute:
                self.refuse("an absolute path in a predicate", self.token.at, "start at . instead")
            deep = self.advance().text == "//"
            if not deep and not self.starts_step():
                return ()
        else:
            deep = False
        links: list[Link] = []
        steps: list[Step] = []
        while True:
            deep = self.step(links, steps, deep)
            if self.accept("/"):
                deep = deep or False
            elif self.accept("//"):
                deep = True
            else:
                break
            if (steps and steps[-1].kind is not Kind.ELEMENT) or (links and not steps and _is_leaf(links[-1])):
                self.fail("expected the end of the path: an attribute or text has no children", self.token.at)
        if deep:
            self.refuse("// before a step that stays where it is", self.token.at)
        if steps:
            links.append(Link(tuple(steps)))
        return tuple(links)

    def starts_step(self) -> bool:
        return self.token.kind in ("name", "axis") or self.token.text in ("@", ".", "*", "..")

    def step(self, links: list[Link], steps: list[Step], deep: bool) -> bool:
        """Read one step; what comes back is whether the next one must be deep for its sake."""
        at = self.token.at
        axis = self.axis()
        if axis == "descendant-or-self":
            self.node_test_any(at)
            return True
        if self.accept("."):
            axis = "self"
        elif axis == "self" and self.accept_word("node"):
            self.expect("(")
            self.expect(")")
        elif axis == "self":
            if deep:
                self.refuse("// before self::", at, "test the name in a predicate")
            named = Named(self.names_label(False))
            self.attach(links, steps, [named, *self.predicates(rankable=False)])
            return False
        if axis == "self":
            if self.token.text == "[" and deep:
                self.refuse("// before a step that stays where it is", at)
            self.attach(links, steps, self.predicates(rankable=False))
            return deep
        step = self.node_test(axis, deep or axis == "descendant")
        tests = self.predicates(rankable=axis != "descendant" and step.kind is not Kind.ATTRIBUTE)
        steps.append(_fold_unlike(step, tests))
        self.attach(links, steps, tests)
        return False

    def axis(self) -> str:
        if self.accept("@"):
            return "attribute"
        if self.token.kind != "axis":
            return "child"
        token = self.advance()
        if token.text not in _AXES:
            self.refuse(f"the axis {token.text}::", token.at)
        self.expect("::")
        return token.text

    def node_test(self, axis: str, deep: bool) -> Step:
        is_attribute = axis == "attribute"
        following = self.tokens[self.position + 1].text if self.token.kind == "name" else ""
        if following == "(" and not is_attribute:
            if self.token.text == "text":
                self.advance()
                self.expect("(")
                self.expect(")")
                return Step("text()", deep, Kind.TEXT)
            if self.token.text in _OTHER_NODES:
                self.refuse(f"{self.token.text}()", self.token.at)
            self.refuse_function()
        label = self.names_label(is_attribute)
        return Step(label, deep, Kind.ATTRIBUTE if is_attribute else Kind.ELEMENT)

    def node_test_any(self, at: int) -> None:
        if not self.accept_word("node"):
            self.refuse("descendant-or-self:: with a name", at, "use //")
        self.expect("(")
        self.expect(")")
        if self.token.text == "[":
            self.refuse("a predicate on descendant-or-self::node()", self.token.at)

    def names_label(self, is_attribute: bool) -> str:
        if self.accept("*"):
            return "*"
        token = self.token
        if token.text == "..":
            self.refuse("the parent step ..", token.at, "put the condition in a predicate further up")
        if token.kind != "name":
            self.unexpected("a step")
        self.advance()
        try:
            label = self.names.label(token.text, is_attribute)
        except KeyError as prefix:
            self.fail(f"expected a declared prefix, found {prefix.args[0]!r}", token.at)
        assert isinstance(label, str)
        return label

    def attach(self, links: list[Link], steps: list[Step], tests: list[Test]) -> None:
        """Close the stretch read so far with these tests, or put them to the stretch that was closed last."""
        test = conjunction(tests)
        if test is None:
            return
        if steps or not links:
            links.append(Link(tuple(steps), test))
            steps.clear()
        else:
            last = links.pop()
            links.append(Link(last.path, conjunction([last.test, test] if last.test else [test])))

    # -- predicates

    def predicates(self, rankable: bool) -> list[Test]:
        """The predicates of a step; positions in one count what passes those before it."""
        outer, outer_rankable = self.before, self.rankable
        self.before, self.rankable = [], rankable
        while self.token.text == "[" and self.token.kind == "sign":
            self.advance()
            at = self.token.at
            operand = self.disjunction()
            test = self.rank("=", operand, at) if operand.is_position else as_test(operand)
            if test is None:
                self.fail("expected a condition, found a constant", at)
            self.expect("]")
            self.before.append(test)
        tests, self.before, self.rankable = self.before, outer, outer_rankable
        return tests

    def disjunction(self) -> Operand:
        at, first = self.token.at, self.conjunction()
        if not (self.token.kind == "name" and self.token.text == "or"):
            return first
        tests = [self.boolean(first, at)]
        while self.accept_word("or"):
            at = self.token.at
            tests.append(self.boolean(self.conjunction(), at))
        return Operand("test", test=Or(tuple(tests)))

    def conjunction(self) -> Operand:
        at, first = self.token.at, self.comparison()
        if not (self.token.kind == "name" and self.token.text == "and"):
            return first
        tests = [self.boolean(first, at)]
        while self.accept_word("and"):
            at = self.token.at
            tests.append(self.boolean(self.comparison(), at))
        return Operand("test", test=conjunction(tests))

    def boolean(self, operand: Operand, at: int) -> Test:
        test = as_test(operand)
        if test is None:
            self.fail("expected a condition, found a constant", at)
        return test

    def comparison(self) -> Operand:
        at, left = self.token.at, self.operand()
        if self.token.text not in _COMPARISONS or self.token.kind != "sign":
            if self.token.kind == "name" and self.token.text in _VALUE_COMPARISONS:
                self.refuse(f"the operator {self.token.text}", self.token.at, "use = != < <= > >=")
            if self.token.text in ("+", "-", "*") and self.token.kind == "sign":
                self.refuse("arithmetic", self.token.at)
            return left
        operator = self.advance().text
        right_at, right = self.token.at, self.operand()
        if left.kind == "position" or right.kind == "position":
            if right.kind == "position":
                left, right, operator = right, left, FLIPPED[operator]
            return Operand("test", test=self.rank(operator, right, at))
        test = compare(left, operator, right)
        if test is None:
            feature = "a comparison of two paths" if left.paths and right.paths else "a comparison like this"
            self.refuse(feature, right_at, "compare a path with a constant")
        return Operand("test", test=test)

    def rank(self, operator: str, operand: Operand, at: int) -> Test:
        if not self.rankable:
            self.refuse("a position among attributes or descendants", at, "positions count children")
        test = position_test(operator, operand, conjunction(list(self.before)))
        if test is None:
            self.refuse("a position that is not a number or last()", at)
        return test

    def operand(self) -> Operand:
        token = self.token
        if token.kind == "string":
            self.advance()
            quote = token.text[0]
            return Operand("string", constant=token.text[1:-1].replace(quote * 2, quote))
        if token.kind == "number":
            self.advance()
            return Operand("number", constant=float(token.text))
        if self.accept("-"):
            if self.token.kind != "number":
                self.unexpected("a number after -")
            return Operand("number", constant=-float(self.advance().text))
        if self.accept("("):
            inner = self.disjunction()
            self.expect(")")
            return inner if not inner.is_position else Operand("constant", constant=inner.constant)
        if token.kind == "name" and self.tokens[self.position + 1].text == "(" and token.text != "text":
            return self.function()
        return Operand("path", paths=self.paths())

    def paths(self) -> Paths:
        if not self.starts_step() and self.token.text not in ("/", "//"):
            self.unexpected("a path, a constant or a function")
        found = [self.path()]
        while self.accept("|") or self.accept_word("union"):
            found.append(self.path())
        if self.token.kind == "name" and self.token.text in ("intersect", "except"):
            self.refuse(f"{self.token.text} in a predicate", self.token.at)
        return tuple(found)

    def function(self) -> Operand:
        name = self.token.text
        if name in _OTHER_NODES:
            self.refuse(f"{name}()", self.token.at)
        if name not in FUNCTIONS:
            self.refuse_function()
        at = self.advance().at
        self.expect("(")
        operand = self.arguments(name, at)
        self.expect(")")
        return operand

    def arguments(self, name: str, at: int) -> Operand:
        if name in CONSTANT_FUNCTIONS:
            return CONSTANT_FUNCTIONS[name]
        if name in ("not", "boolean"):
            inside = self.token.at
            test = self.boolean(self.disjunction(), inside)
            return Operand("test", test=negation(test) if name == "not" else test)
        if name == "count":
            return Operand("count", paths=self.counted_paths(at))
        subject = self.paths()
        self.expect(",")
        if self.token.kind != "string":
            self.unexpected("a string constant")
        constant_at = self.token.at
        constant = str(self.operand().constant)
        try:
            return Operand("test", test=string_function(cast(Operator, name), subject, constant))
        except ValueError as error:
            if error.args[0] == "union":
                self.refuse(f"a union in {name}()", at)
            self.refuse(f"this regular expression ({error})", constant_at)

    def counted_paths(self, at: int) -> Paths:
        paths = self.paths()
        if len(paths) > 1:
            self.refuse("a union in count()", at)
        return paths

    def refuse_function(self) -> NoReturn:
        name, at = self.token.text, self.token.at
        self.refuse(f"the function {name}()", at, f"there are {', '.join(sorted(FUNCTIONS))} in predicates")


def _is_leaf(link: Link) -> bool:
    return bool(link.path) and link.path[-1].kind is not Kind.ELEMENT


def _fold_unlike(step: Step, tests: list[Test]) -> Step:
    """`*[not(self::a or self::b)]` is a label test of its own; the test that it replaces is taken out."""
    if step.label != "*" or step.kind is not Kind.ELEMENT or not tests:
        return step
    parts = tests[0].tests if isinstance(tests[0], And) else (tests[0],)
    labels = [part.test.label for part in parts if isinstance(part, Not) and isinstance(part.test, Named)]
    names = tuple(sorted(label for label in labels if isinstance(label, str)))
    if len(names) != len(parts):
        return step
    del tests[0]
    return Step(Unlike(names), step.deep)
