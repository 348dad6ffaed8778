"""The tokens of predicates in, tests out."""

from __future__ import annotations

from dataclasses import replace
from typing import NoReturn

from weft.languages.reader import Reader
from weft.languages.xpath.predicates import (
    CONSTANT_FUNCTIONS,
    FUNCTIONS,
    INSTANT_FUNCTIONS,
    STRING_FUNCTIONS,
    Operand,
    as_test,
    compare,
    hopeless,
    position_test,
    string_function,
)
from weft.plans.comparisons import FLIPPED
from weft.plans.instants import instant
from weft.plans.plan import And, Link, Not, Operator, Or, Rank, Test, conjunction, negation
from weft.plans.regex import MOST_IN_QUERY, instructions, translate

_COMPARISONS = frozenset({"=", "!=", "<", "<=", ">", ">="})
#: Predicates with positions in a row: what a position counts is in its test, so each of them doubles the next.
_MOST_RANKED = 5
#: What stands in the functions that make instants.
_INSTANTS = {
    "xs:date": "a date like 2026-01-31, with a time zone or without",
    "xs:dateTime": "a date and time like 2026-01-31T10:00:00Z",
    "xs:time": "a time like 10:00:00",
}
_OTHER_OPERATORS = frozenset({"eq", "ne", "lt", "le", "gt", "ge", "is", "to", "div", "mod", "idiv"})


class Conditions(Reader):
    """Reads what stands in square brackets. How a path is read is for those who build on this."""

    def __init__(self, query: str, language: str) -> None:
        super().__init__(query, language)
        self._before: list[Test] = []  # the predicates of the same step that were read already
        self._all_before: Test | None = None  # the same as one test, made for the first position that needs it
        self._rankable = False  # whether positions make sense at this step
        self._instructions = 0  # of all regular expressions so far

    is_xquery = False  # whether < and its like compare texts with a text, and what a number is

    def scoped(self, test: Test, operand: Operand) -> Test:  # noqa: ARG002 - for those who build on this
        """A test on what an operand's paths lead to, told where they start."""
        return test

    def string(self) -> str:
        """The string literal that is next."""
        text = self.advance()
        return text[1:-1].replace(text[0] * 2, text[0])

    def path(self, absolute: bool = False) -> tuple[Link, ...]:
        """A path as links: stretches without predicates, each with the test at its end."""
        raise NotImplementedError

    def starts_step(self) -> bool:
        """Whether a step can start here."""
        return self.kind == "name" or self.text in ("@", ".", "*", "..")

    def predicates(self, rankable: bool) -> list[Test]:
        """The predicates of a step; positions in one count what passes those before it."""
        tests: list[Test] = []
        while self.text == "[" and self.kind == "sign":
            tests.append(self.predicate(rankable, tests))
        return tests

    def predicate(self, rankable: bool, before: list[Test]) -> Test:
        """One predicate behind others of the same step."""
        outer = self._before, self._all_before, self._rankable
        self._before, self._all_before, self._rankable = before, None, rankable
        self.enter()
        self.expect("[")
        at = self.at
        operand = self.disjunction()
        test = self._rank("=", operand, at) if operand.is_position else self._as_condition(operand, at)
        self.expect("]")
        self.leave()
        self._before, self._all_before, self._rankable = outer
        return test

    def disjunction(self) -> Operand:
        """Conditions with `or` between them."""
        at, first = self.at, self._conjunction()
        if self.text != "or":
            return first
        tests = [self._as_condition(first, at)]
        while self.accept_word("or"):
            at = self.at
            tests.append(self._as_condition(self._conjunction(), at))
        return Operand("test", test=Or(tuple(tests)))

    def _conjunction(self) -> Operand:
        at, first = self.at, self._comparison()
        if self.text != "and":
            return first
        tests = [self._as_condition(first, at)]
        while self.accept_word("and"):
            at = self.at
            tests.append(self._as_condition(self._comparison(), at))
        return Operand("test", test=conjunction(tests))

    def _as_condition(self, operand: Operand, at: int) -> Test:
        test = as_test(operand)
        if test is None:
            self.fail("expected a condition, found a constant", at)
        return self.scoped(test, operand) if operand.kind == "path" else test

    def _comparison(self) -> Operand:
        at, left = self.at, self._operand()
        if self.text not in _COMPARISONS:
            self._refuse_other_operators()
            return left
        operator = self.advance()
        right_at, right = self.at, self._operand()
        if right.kind == "position":
            left, right, operator = right, left, FLIPPED[operator]
        if left.kind == "position":
            return Operand("test", test=self._rank(operator, right, at))
        test = compare(left, operator, right, self.is_xquery)
        if test is None:
            feature = "a comparison of two paths" if left.paths and right.paths else "a comparison like this"
            self.refuse(feature, right_at, "compare a path with a constant")
        self._warn_of(left, operator, right, at, right_at)
        return Operand("test", test=self.scoped(test, left if left.paths else right))

    def _warn_of(self, left: Operand, operator: str, right: Operand, at: int, right_at: int) -> None:
        """Tell of a comparison whose constant leaves it no choice."""
        if left.is_constant:
            left, right, operator, right_at = right, left, FLIPPED[operator], at
        reason = hopeless(left, operator, right, self.is_xquery)
        if reason is not None:
            self.warn(reason, right_at)

    def _refuse_other_operators(self) -> None:
        if self.kind == "name" and self.text in _OTHER_OPERATORS:
            self.refuse(f"the operator {self.text}", self.at, "use = != < <= > >=")
        if self.kind == "sign" and self.text in ("+", "-", "*"):
            self.refuse("arithmetic", self.at)

    def _rank(self, operator: str, operand: Operand, at: int) -> Test:
        if not self._rankable:
            self.refuse("a position other than among children", at)
        if self._before and self._all_before is None:
            if sum(map(_has_rank, self._before)) >= _MOST_RANKED:
                self.refuse(f"a position behind {_MOST_RANKED} predicates with positions", at)
            self._all_before = conjunction(list(self._before))
        test = position_test(operator, operand, self._all_before)
        if test is None:
            self.refuse("a position that is not a number or last()", at)
        reason = hopeless(Operand("position"), operator, operand, self.is_xquery)
        if reason is not None:
            self.warn(reason, at)
        return test

    def _operand(self) -> Operand:
        if self.kind == "name":
            if self.following == "(" and self.text != "text":
                return self._function()
            return self._path_operand()
        if self.kind == "string":
            return Operand("string", constant=self.string())
        if self.kind == "number":
            return Operand("number", constant=float(self.advance()))
        if self.accept("-"):
            if self.kind != "number":
                self.unexpected("a number after -")
            return Operand("number", constant=-float(self.advance()))
        if self.accept("("):
            self.enter()
            inner = self.disjunction()
            self.leave()
            self.expect(")")
            return inner
        return self._path_operand()

    def _path_operand(self) -> Operand:
        """Paths with `|` between them."""
        if not self.starts_step() and self.text not in ("/", "//"):
            self.unexpected("a path, a constant or a function")
        found = [self.path()]
        while self.accept("|") or self.accept_word("union"):
            found.append(self.path())
        if self.kind == "name" and self.text in ("intersect", "except"):
            self.refuse(f"{self.text} in a predicate", self.at)
        return Operand("path", paths=tuple(found))

    def _function(self) -> Operand:
        at, name = self.at, self.function_name()
        if name not in FUNCTIONS:
            self.refuse_function()
        self.advance()
        self.expect("(")
        self.enter()
        operand = self._apply(name, at)
        self.leave()
        self.expect(")")
        return operand

    def _apply(self, name: str, at: int) -> Operand:
        if name in CONSTANT_FUNCTIONS:
            return CONSTANT_FUNCTIONS[name]
        if name in INSTANT_FUNCTIONS:
            return self._instant(name, at)
        if name in STRING_FUNCTIONS:
            return Operand("test", test=self._string_function(name, at))
        if name == "count":
            counted = self._path_operand()
            if len(counted.paths) > 1:
                self.refuse("a union in count()", at)
            return replace(counted, kind="count")
        inside = self.at
        test = self._as_condition(self.disjunction(), inside)
        return Operand("test", test=negation(test) if name == "not" else test)

    def _string_function(self, name: Operator, at: int) -> Test:
        subject = self._path_operand()
        if len(subject.paths) > 1:
            self.refuse(f"a union in {name}()", at)
        self.expect(",")
        if self.kind != "string":
            self.unexpected("a string constant")
        constant_at, constant = self.at, str(self._operand().constant)
        try:
            if name == "matches":
                constant = translate(constant)
                self._instructions += instructions(constant)
        except ValueError as error:
            self.refuse(f"this regular expression ({error})", constant_at)
        if self._instructions > MOST_IN_QUERY:
            self.refuse("so much in regular expressions", constant_at, "split the query, or repeat less in them")
        return self.scoped(string_function(name, subject.paths[0], constant), subject)

    def _instant(self, name: str, at: int) -> Operand:
        if self.kind != "string":
            if self.kind == "name" or self.text in ("$", ".", "@", "/", "//", "*"):
                instead = f"compare the path itself: its values are read as {name} where the constant is one"
                self.refuse(f"a path in {name}()", at, instead)
            self.unexpected("a string constant")
        constant_at, text = self.at, self.string()
        found = instant(text)
        if found is None or found.type != INSTANT_FUNCTIONS[name]:
            self.fail(f"expected {_INSTANTS[name]}, found {text!r}", constant_at)
        return Operand("instant", constant=found)

    def function_name(self) -> str:
        """The name of the function that is next, with the prefix that it usually has."""
        return self.text

    def refuse_function(self) -> NoReturn:
        """There is no such function."""
        known = ", ".join(sorted(FUNCTIONS))
        self.refuse(f"the function {self.text}()", self.at, f"there are {known} in predicates")


def _has_rank(test: Test) -> bool:
    """Whether a test on a node asks for its position."""
    match test:
        case And(tests) | Or(tests):
            return any(map(_has_rank, tests))
        case Not(inner):
            return _has_rank(inner)
        case _:
            return isinstance(test, Rank)
