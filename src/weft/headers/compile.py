"""A plan and a configuration in, the condition out under which a document matches, as far as its header can tell."""

from __future__ import annotations

from weft.documents.kind import Kind
from weft.engine.messages.first_bindings import binding_pattern, binds_exactly
from weft.headers.conditions import (
    UNKNOWN,
    CountLookUp,
    FirstLookUp,
    HeaderCondition,
    LookUp,
    NestedLookUp,
    OneNode,
    RootIs,
    Settled,
    all_of,
    any_of,
    first_known,
    is_served,
    none_of,
)
from weft.headers.configuration import Configuration
from weft.headers.expressions import (
    Expression,
    expression_of,
    position_of,
    steps_of,
    tests_of,
    with_tests,
)
from weft.plans.flwr import Flwr
from weft.plans.lone_query import LoneQuery
from weft.plans.names import passes
from weft.plans.plan import (
    Always,
    And,
    Combine,
    Count,
    First,
    Has,
    Link,
    Named,
    Not,
    Or,
    Pattern,
    Rank,
    Selection,
    Test,
    Value,
    conjunction,
)
from weft.plans.xscl import Block, Xscl

_FAR_ABOVE = 50  # steps from the root up to which an element is known to be there by entries below it
_FEW_BELOW = 8  # entries below an element that are asked whether it is there: each query has them


class ConditionCompiler:
    """Makes conditions for one configuration."""

    def __init__(self, configuration: Configuration) -> None:
        expressions = [view.expression for view in configuration.views]
        self._root = configuration.root
        self.entries: dict[Expression, int] = {}
        for number, expression in enumerate(expressions):
            self.entries.setdefault(expression, number)
        self._families: dict[Expression, tuple[int, ...]] = {}
        for number, family in enumerate(configuration.families):
            self._families[family.expression] = (*family.members, len(expressions) + number)
        # By length: looking for what is too long for any view would take the square of a long path's length.
        self._lengths = sorted({len(each) for each in self.entries}, reverse=True)
        self._tested = {(*each[:-1], Link(each[-1].path)) for each in self.entries if each[-1].test is not None}
        self._tested_lengths = {len(each) for each in self._tested}
        self._below: dict[Expression, list[int]] = {}
        for expression, number in self.entries.items():
            for size in range(1, min(len(expression), _FAR_ABOVE)):
                below = self._below.setdefault(expression[:size], [])
                if len(below) < _FEW_BELOW:
                    below.append(number)

    def condition(self, plan: Selection | Flwr | LoneQuery | Xscl) -> HeaderCondition:
        """When a document matches; for XSCL, when it may take part in a match."""
        match plan:
            case Pattern():
                return self._selected(plan)
            case Combine("union", parts):
                return any_of([self.condition(part) for part in parts])
            case Combine(operator, parts):
                needed = parts if operator == "intersect" else parts[:1]
                return all_of([*(self.condition(part) for part in needed), UNKNOWN])
            case Flwr():
                found = self._selected(binding_pattern(plan.variables, plan.where))
                is_whole = binds_exactly(plan.where) and all(each.source is not None for each in plan.variables[1:])
                return found if is_whole else all_of([found, UNKNOWN])
            case LoneQuery(_, required):
                return all_of([self.condition(required), UNKNOWN])
            case Xscl():
                return any_of([self.block(block) for block in plan.blocks])

    def block(self, block: Block) -> HeaderCondition:
        """When a document may be bound by a block."""
        return self._selected(binding_pattern(block.variables)) if block.variables else UNKNOWN

    def _selected(self, pattern: Pattern) -> HeaderCondition:
        """There is a node of the pattern; for what no view tells, the root may still rule a document out."""
        expression = expression_of(pattern)
        root = self._root_is(expression[0])
        if root == Settled(False):
            return root
        found = self._along((), expression)
        return found if is_served(found) else all_of([root, found])

    def _root_is(self, link: Link) -> HeaderCondition:
        """The root passes the label test of a first step: settled if all headers are of documents with one root."""
        step = link.path[0]
        if step.deep or step.kind is not Kind.ELEMENT or step.label == "*":
            return Settled(True)
        return RootIs(step.label) if self._root is None else Settled(passes(step.label, self._root))

    def _along(self, above: Expression, rest: Expression) -> HeaderCondition:
        """There is a way along the rest from a node that is above."""
        done = 0
        while done + 1 < len(rest) and rest[done].test is None and not self._is_tested(above, rest[: done + 1]):
            done += 1
        chain, link = (*above, *rest[:done]), rest[done]
        tests = tests_of(link.test)
        if done + 1 < len(rest):
            tests.append(_has(rest[done + 1 :]))
        return self._exists((*chain, Link(link.path)), tests)

    def _is_tested(self, above: Expression, steps: Expression) -> bool:
        """Whether a view has a test on the nodes at the end of these steps: it may be what comes behind them."""
        return len(above) + len(steps) in self._tested_lengths and (*above, *steps) in self._tested

    def _exists(self, chain: Expression, tests: list[Test]) -> HeaderCondition:
        """Some node at the end of the chain passes all tests."""
        whole = with_tests(chain, tests) if tests else chain
        if whole in self.entries:
            return LookUp(self.entries[whole])
        places = [test for test in tests if isinstance(test, Rank | Named)]
        if places:
            chain = with_tests(chain, places)
            tests = [test for test in tests if not isinstance(test, Rank | Named)]
        if not tests:
            return self._present(chain)
        if len(tests) == 1:
            return self._passes(chain, tests[0])
        found = all_of([self._passes(chain, test) for test in tests])
        single = self._single(chain)
        if single is None:
            return all_of([found, UNKNOWN])
        return OneNode(single, found) if single else found

    def _passes(self, chain: Expression, test: Test) -> HeaderCondition:
        """Some node at the end of the chain passes the test."""
        match test:
            case Value():
                return self._value(chain, test)
            case Has(path, inner):
                return self._along(chain, steps_of(path, inner))
            case Or(tests):
                return any_of([self._exists(chain, tests_of(each)) for each in tests])
            case And(tests):
                return self._exists(chain, list(tests))
            case Always(value):
                return self._present(chain) if value else Settled(False)
            case Not(inner):
                return all_of([self._present(chain), self._fails(chain, inner)])
            case First(links, value, fails):  # where the links lead to one node, it is the first of all that reach it
                entry = self.entries.get(_joined(chain, links))
                if entry is None:
                    return UNKNOWN
                return FirstLookUp(entry, value) if fails else LookUp(entry, value)  # which may be a driver
            case Count(links, operator, number):
                entry = self.entries.get(_joined(chain, links))
                return UNKNOWN if entry is None else CountLookUp(entry, operator, number)
            case _:
                return all_of([self._present(chain), UNKNOWN])

    def _fails(self, chain: Expression, test: Test) -> HeaderCondition:
        """The node at the end of the chain, if there is one only, does not pass the test."""
        single, found = self._single(chain), none_of(self._exists(chain, tests_of(test)))
        if single is None:
            return UNKNOWN
        return OneNode(single, found, is_conjunction=False) if single else found

    def _value(self, chain: Expression, test: Value) -> HeaderCondition:
        return first_known([*self._own(chain, test), self._nested(chain, test)])

    def _present(self, chain: Expression) -> HeaderCondition:
        own = self._own(chain, None)
        if not own and len(chain) == 1 and _is_root(chain[0]):
            return self._root_is(chain[0])
        below: list[HeaderCondition] = [] if own else [LookUp(entry) for entry in self._below.get(chain, ())]
        return any_of([*below, first_known([*own, self._nested(chain, None)])])

    def _own(self, chain: Expression, test: Value | None) -> list[HeaderCondition]:
        """By entries of its own: its view, or those of its positions."""
        found: list[HeaderCondition] = []
        if chain in self.entries:
            found.append(LookUp(self.entries[chain], test))
        if chain in self._families:
            found.append(any_of([LookUp(entry, test) for entry in self._families[chain]]))
        return found

    def _nested(self, chain: Expression, test: Value | None) -> HeaderCondition:
        """By the element around it, the nearest that has an entry."""
        for size in self._lengths:
            entry = self.entries.get(chain[:size]) if size < len(chain) else None
            if entry is None or chain[size - 1].path[0].kind is not Kind.ELEMENT:
                continue
            if any(link.test is not None for link in chain[size:]):
                return all_of([LookUp(entry), UNKNOWN])
            return NestedLookUp(entry, tuple(link.path[0] for link in chain[size:]), test)
        return UNKNOWN

    def _single(self, chain: Expression) -> tuple[int, ...] | None:
        """The entries that must have one node each, so that there is one node at the end of the chain; or None."""
        if len(chain) == 1 and _is_root(chain[0]):
            return ()
        if chain in self.entries:
            return (self.entries[chain],)
        step = chain[-1].path[0]
        is_named = step.kind is Kind.ATTRIBUTE and isinstance(step.label, str) and "*" not in step.label
        if len(chain) > 1 and not step.deep and (is_named or position_of(chain[-1]) is not None):
            return self._single(chain[:-1])
        return None


def _is_root(link: Link) -> bool:
    step = link.path[0]
    return not step.deep and step.kind is Kind.ELEMENT and link.test is None


def _has(rest: Expression) -> Has:
    """The test that there is a way along the rest; steps without tests between them are one path."""
    path, test = rest[-1].path, rest[-1].test
    for link in reversed(rest[:-1]):
        if link.test is None:
            path = (*link.path, *path)
        else:
            path, test = link.path, conjunction([link.test, Has(path, test)])
    return Has(path, test)


def _joined(chain: Expression, links: tuple[Link, ...]) -> Expression:
    """The chain and the links behind it."""
    for link in links:
        if link.path:
            chain += steps_of(link.path, link.test)
        elif link.test is not None:
            chain = with_tests(chain, [link.test])
    return chain
