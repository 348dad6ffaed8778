"""The tokens of predicates in, tests out."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import cast

from weft.errors import QueryError
from weft.languages.xpath.above import NoRewriteError, above, branches, goes_up, of_siblings
from weft.languages.xpath.comparing import WrittenComparison, compare
from weft.languages.xpath.comparing.written_comparison import in_order
from weft.languages.xpath.conversions import as_truth
from weft.languages.xpath.derived import test_of
from weft.languages.xpath.hopeless import as_instant, hopeless
from weft.languages.xpath.operand import Operand, any_of, exists, truth_of, type_of_operand
from weft.languages.xpath.operands import BEYOND
from weft.languages.xpath.places import ParserPlace, PlaceKeeper
from weft.languages.xpath.predicates import first_item, over
from weft.plans.comparisons import FLIPPED
from weft.plans.plan import (
    Always,
    And,
    Comparison,
    Constant,
    Count,
    Link,
    Not,
    Or,
    Rank,
    Test,
    Value,
    conjunction,
    negation,
)

#: The comparisons of single values, and those of any of several that mean the same here.
VALUE_COMPARISONS: dict[str, Comparison] = {"eq": "=", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_COMPARISONS = frozenset({"=", "!=", "<", "<=", ">", ">=", *VALUE_COMPARISONS})
#: What stands behind a comparison that is a part of a larger one.
_MORE = _COMPARISONS | BEYOND | {"[", "/", "//", "|", "union", "intersect", "except"}
#: Predicates with positions in a row: what a position counts is in its test, so each of them doubles the next.
_MOST_RANKED = 5


class Conditions(PlaceKeeper):
    """Reads what stands in square brackets. How a path is read is for those who build on this."""

    def __init__(self, query: str, language: str) -> None:
        super().__init__(query, language)
        self._before: list[Test] = []  # the predicates of the same step that were read already
        self._all_before: Test | None = None  # the same as one test, made for the first position that needs it
        self._rankable = False  # whether positions make sense at this step

    def worked_out(self, before: ParserPlace, reason: QueryError, is_whole: bool = False) -> Operand:
        """A comparison that there is no test for, or a whole condition, as a formula; or the reason is raised."""
        raise NotImplementedError

    def predicates(self, rankable: bool) -> list[Test]:
        """The predicates of a step; positions in one count what passes those before it."""
        tests: list[Test] = []
        while self.text == "[" and self.kind == "sign":
            tests.append(self.predicate(rankable, tests))
        return tests

    def predicate(self, rankable: bool, before: list[Test]) -> Test:
        """One predicate behind others of the same step."""
        outer = self._before, self._all_before, self._rankable, self._quantified, self.here
        self.here, step = self.next_step, self.next_step
        self._before, self._all_before, self._rankable, self._quantified = before, None, rankable, None
        self.enter()
        self.expect("[")
        test = self._inside_predicate()
        self.expect("]")
        self.leave()
        self._before, self._all_before, self._rankable, self._quantified, self.here = outer
        self.next_step = step
        return test

    def _inside_predicate(self) -> Test:
        """What stands in brackets; what it asks of nodes above is worked out here if it cannot be asked further up."""
        place = self.place()
        test = self._predicate_test(self.disjunction(), place.at)
        if not (self.went_up and goes_up(test)):
            return test
        try:
            list(branches(test))
        except NoRewriteError as reason:
            found = self.worked_out(place, self.refusal(str(reason), place.at), is_whole=True)
            return self._predicate_test(found, place.at)
        return test

    def _predicate_test(self, operand: Operand, at: int) -> Test:
        return self._rank("=", operand, at) if operand.is_position else self._as_condition(operand, at)

    def condition(self) -> Test:
        """A whole condition, with `and` and `or`."""
        at = self.at
        return self._as_condition(self.disjunction(), at)

    def quantified_condition(self) -> Test:
        """The condition of some or every; it is of another node, so positions make no sense there."""
        outer, self._rankable, self.here = (self._rankable, self.here), False, None
        test = self.condition()
        self._rankable, self.here = outer
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
        """An operand by its truth: nodes and counts are there, a text is not empty, a number neither 0 nor none."""
        match operand.kind:
            case "test":
                return operand.test or Always(True)
            case "path":
                return self.scoped(exists(operand.paths), operand)
            case "count":
                return self.scoped(exists(operand.paths), operand)
            case "formula" if operand.formula is not None:
                return self.scoped(test_of(as_truth(operand.formula)), operand)
            case "string" | "number":
                return truth_of(operand.constant)
            case "item" if operand.item == "string":
                return self.scoped(over(operand.paths[0], partial(first_item, Value("!=", ""))), operand)
            case "item" if operand.item == "number":
                values = [Value(side, 0.0, self.is_xquery) for side in cast(tuple[Comparison, ...], ("<", ">"))]
                sides = [over(operand.paths[0], partial(first_item, value)) for value in values]
                return self.scoped(Or(tuple(sides)), operand)
            case _:
                return self.fail("expected a condition, found a constant", at, True)

    def _comparison(self) -> Operand:
        """A comparison, or one of its sides alone; what there is no test for is worked out node by node."""
        before = self.place()
        try:
            operand = self._tested_comparison()
        except QueryError as reason:
            return self.worked_out(before, reason)
        if self.text not in _MORE:
            return operand
        return self.worked_out(
            before, QueryError(self.language, self.query, self.at, f"expected ']', found {self.text!r}")
        )

    def _tested_comparison(self) -> Operand:
        at, left = self.at, self.operand()
        if self.text in BEYOND:
            left = self.beyond(left)
        if self.text not in _COMPARISONS:
            return left
        operator = self.advance()
        right_at, right = self.at, self.operand()
        if self.text in BEYOND:
            right = self.beyond(right)
        is_alike = operator in ("=", "!=") or (self.is_xquery and operator not in VALUE_COMPARISONS)
        if left.kind == "path" and is_alike and right.kind in ("string", "number"):  # as most are
            is_double = self.is_xquery and right.kind == "number"
            value = Value(cast(Comparison, operator), right.constant, is_double)
            return Operand("test", test=self.scoped(exists(left.paths, value), left))
        is_value = operator in VALUE_COMPARISONS
        if is_value:
            self._check_values(left, operator, right, right_at)
            operator = VALUE_COMPARISONS[operator]
        if right.kind == "position" or (right.kind == "last" and left.kind != "position"):
            left, right, operator = right, left, FLIPPED[operator]
        if left.kind == "position":
            return Operand("test", test=self._rank(operator, right, at))
        if left.kind == "last" and right.kind == "number":
            return Operand("test", test=self._last(operator, right.constant, at))
        if "test" in (left.kind, right.kind):
            return self._same_truth(left, operator, right, at, right_at)
        return Operand("test", test=self._compared(left, operator, right, is_value, at, right_at))

    def _compared(self, left: Operand, operator: str, right: Operand, is_value: bool, at: int, right_at: int) -> Test:
        first, comparison, second = in_order(left, operator, right)
        test = compare(WrittenComparison(first, comparison, second, self.is_xquery, is_value or self.is_xquery))
        if test is None:
            feature = "a comparison of two paths" if left.paths and right.paths else "a comparison like this"
            self.refuse(feature, right_at, "compare a path with a constant")
        written = right_at if second is right else at
        if first.kind in ("path", "item") and not (is_value or self.is_xquery):
            instead = as_instant(comparison, second.constant)
            if instead is not None:
                self.refuse(f"{operator} between numbers, one of them a date", written, instead, is_final=True)
        reason = hopeless(first, comparison, second, is_value or self.is_xquery)
        if reason is not None:
            self.warn(reason, written)
        return self.scoped(test, first)

    def _check_values(self, left: Operand, operator: str, right: Operand, at: int) -> None:
        """`eq` and its like compare what is of one type; what stands in a document is a text to them."""
        types = {type_of_operand(left), type_of_operand(right)}
        if len(types) > 1 and None not in types:
            wanted = next((each for each in types if each not in ("text", "truth")), "number")
            function = wanted if wanted == "number" else f"xs:{wanted}"
            feature = f"{operator} between values of two types"
            self.refuse(feature, at, f"write {function}(…) {operator} …", is_final=True)
        if "list" in (left.kind, right.kind) or "range" in (left.kind, right.kind):
            self.refuse(f"{operator} with several values", at, f"use {VALUE_COMPARISONS[operator]}", is_final=True)

    def _same_truth(self, left: Operand, operator: str, right: Operand, at: int, right_at: int) -> Operand:
        """`p = true()`: both are truths then, in XPath 1.0; in XQuery they must be."""
        if operator not in ("=", "!=") or (self.is_xquery and left.kind != right.kind):
            self.refuse("a comparison like this", right_at, "use not(…), or boolean(…) on both sides")
        one, other = self._as_condition(left, at), self._as_condition(right, right_at)
        other = other if operator == "=" else negation(other)
        for known, test in ((one, other), (other, one)):
            if isinstance(known, Always):
                return Operand("test", test=test if known.value else negation(test))
        both, neither = conjunction([one, other]), conjunction([negation(one), negation(other)])
        return Operand("test", test=any_of([each for each in (both, neither) if each is not None]))

    # -- positions

    def _rank(self, operator: str, operand: Operand, at: int) -> Test:
        if not self._rankable:
            self.refuse("a position other than among children", at)
        if self._before and self._all_before is None:
            if sum(map(_has_rank, self._before)) >= _MOST_RANKED:
                self.refuse(f"a position behind {_MOST_RANKED} predicates with positions", at)
            self._all_before = conjunction(list(self._before))
        test = self._position(cast(Comparison, operator), operand)
        if test is None:
            self.refuse("a position that is not a number or last()", at)
        reason = hopeless(Operand("position"), operator, operand, self.is_xquery)
        if reason is not None:
            self.warn(reason, at)
        return test

    def _last(self, operator: str, number: Constant, at: int) -> Test:
        """How many siblings a position counts: a count at the parent.

        before  //a[b][last() > 2]
        after   //*[count(a[b]) > 2]/a[b]
        """
        if not self._rankable or self.here is None or not isinstance(number, float):
            self.refuse("last() other than among children", at)
        before = of_siblings(conjunction(list(self._before)) or Always(True))
        self.went_up = True
        step = replace(self.here, deep=False)
        return above("parent", Count((Link((step,), before),), cast(Comparison, operator), number))

    def _position(self, operator: Comparison, operand: Operand) -> Test | None:
        """position() in relation to a number, last(), a range or a list."""
        if operand.kind == "last":
            return Rank(self._all_before, operator, None)
        if operand.kind == "number" and isinstance(operand.constant, float):
            return Rank(self._all_before, operator, operand.constant)
        if operand.kind == "range" and operator == "=":
            low, high = operand.parts
            return conjunction(
                [
                    test
                    for end, side in ((low, ">="), (high, "<="))
                    if (test := self._position(cast(Comparison, side), end)) is not None
                ]
            )
        if operand.kind == "list":
            tests = [self._position(operator, part) for part in operand.parts]
            return None if None in tests else any_of([test for test in tests if test is not None])
        return None


def _has_rank(test: Test) -> bool:
    """Whether a test on a node asks for its position."""
    match test:
        case And(tests) | Or(tests):
            return any(map(_has_rank, tests))
        case Not(inner):
            return _has_rank(inner)
        case _:
            return isinstance(test, Rank)
