"""A selection in, XPath out that is read as the same selection, or as one that selects the same nodes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from weft.documents.kind import Kind
from weft.plans.comparisons import HOLDS, holds
from weft.plans.containment.steps import flat, links_of
from weft.plans.formulas import ARITHMETIC, PLACES, Applied, Formula, NodeSet, Related
from weft.plans.instants import Instant, written_instant
from weft.plans.plan import (
    Always,
    Among,
    And,
    Combine,
    Constant,
    Count,
    Derived,
    First,
    Has,
    Label,
    Link,
    Named,
    Not,
    Or,
    Rank,
    Selection,
    Step,
    Test,
    Unlike,
    Value,
)
from weft.plans.write_formula import write_constant, write_formula

_COMPARISONS = ("=", "!=", "<", "<=", ">", ">=")
_OF_TEXTS = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge"}  # = and != are the same for texts and numbers
_XML = "http://www.w3.org/XML/1998/namespace"


def write_xpath(selection: Selection) -> tuple[str, dict[str, str]]:
    """The XPath of a selection, and the prefixes that it uses with their namespaces.

    >>> from weft.plans.plan import Pattern
    >>> write_xpath(Pattern(None, (Step("{urn:p}a"), Step("b", deep=True)), Has((Step("x", kind=Kind.ATTRIBUTE),))))
    ('/n1:a//b[@x]', {'n1': 'urn:p'})
    """
    writer = XPathWriter()
    return writer.selection(selection), writer.namespaces


def write_links(links: Sequence[Link]) -> str:
    """A relative path for people; prefixes are made up."""
    return XPathWriter().relative(links)


@dataclass(slots=True)
class XPathWriter:
    """Writes plans; prefixes are made up as they are needed."""

    namespaces: dict[str, str] = field(default_factory=dict)  # by prefix

    def selection(self, selection: Selection) -> str:
        """A whole query."""
        if isinstance(selection, Combine):
            word = {"union": " | ", "intersect": " intersect ", "except": " except "}[selection.operator]
            parts = [self.selection(part) for part in selection.parts]
            grouped = [isinstance(part, Combine) for part in selection.parts]
            return word.join(f"({part})" if group else part for part, group in zip(parts, grouped, strict=True))
        return self._links(links_of(selection), is_first=False)

    def relative(self, links: Sequence[Link]) -> str:
        """A path from a node; `.` where there are no steps."""
        return self._links(links, is_first=True) or "."

    def _links(self, links: Sequence[Link], is_first: bool) -> str:
        written = ""
        for link in links:
            if not link.path:
                written += "." if not written else ""
            for at, step in enumerate(link.path):
                test = link.test if at == len(link.path) - 1 else None
                between = "//" if step.deep else "/"
                if is_first and not written:
                    between = ".//" if step.deep else ""
                written += between + self._step(step, test)
            if not link.path and link.test is not None:
                written += self._predicates(link.test)
        return written

    def _step(self, step: Step, test: Test | None) -> str:
        name = "text()" if step.kind is Kind.TEXT else self._label(step.label, step.kind is Kind.ATTRIBUTE)
        return name + ("" if test is None else self._predicates(test, step.label))

    def _predicates(self, test: Test, label: Label = "*") -> str:
        """Tests that must all hold, each in brackets; what a position does not count is not before it."""
        parts = list(test.tests if isinstance(test, And) else (test,))
        known = {Not(Named(each)) for each in label.labels} if isinstance(label, Unlike) else set()
        starts = [_first_of_predicate(parts, at, known) for at in range(len(parts))]
        written, last = "", 0
        for at in range(1, len(parts) + 1):
            if at == len(parts) or not any(start < at for start in starts[at:]):
                several = at > last + 1
                inside = [self.test(part, is_operand=several) for part in parts[last:at]]
                written += f"[{' and '.join(inside)}]"
                last = at
        return written

    def test(self, test: Test, is_operand: bool = False) -> str:
        """A condition; as an operand of `and` or `or` in parentheses if it has such a word itself."""
        match test:
            case And(tests) | Or(tests):
                word = " and " if isinstance(test, And) else " or "
                written = word.join(self.test(part, is_operand=True) for part in tests)
                return f"({written})" if is_operand else written
            case Has(path, Value(operator) as value) if operator in _COMPARISONS:
                return self._value(value, self.relative([Link(path)]))
            case Has(path, part):
                return self.relative([Link(path, part)])
            case Not(First(links, value, True)) if holds(value, ""):
                return self._of_first(value, links)
            case Not(part):
                return f"not({self.test(part)})"
            case Value():
                return self._value(test, ".")
            case First(links, value, fails):
                return self._first(links, value, fails, is_operand)
            case Count(links, operator, number):
                counted = f"count({self.relative(links)}) {operator} {_constant(number)}"
                return self._if_any(links, counted, is_operand) if HOLDS[operator](0, number) else counted
            case Rank(_, operator, place):
                return f"position() {operator} {'last()' if place is None else _constant(place)}"
            case Named(named):
                return f"self::{self._label(named)}"
            case Derived(Applied(function, (nodes,)), Value(operator, float(place))) if function in PLACES:
                counted = "position() - last()" if function == PLACES[1] else "position()"
                written = f"({write_formula(nodes, self._label)})[{counted} {operator} {_constant(place)}]"
                return f"count(. | {written}) = count({written})"
            case Derived(formula, goal):
                written = write_formula(formula, self._label)
                return written if goal is None else self._value(goal, f"({written})" if _is_open(formula) else written)
            case Among(formula):
                written = write_formula(formula, self._label)
                return f"count(. | {written}) = count({written})"
            case Always(value):
                return "true()" if value else "false()"
            case _:
                raise ValueError(f"expected a test that XPath has, found {test}")

    def _first(self, links: Sequence[Link], value: Value, fails: bool, is_operand: bool) -> str:
        """XPath reads "" where there is nothing; a first node that passes, or fails, is there."""
        written = self._of_first(value, links)
        written = f"not({written})" if fails else written
        is_passed_by_nothing = holds(value, "") != fails
        return self._if_any(links, written, is_operand) if is_passed_by_nothing else written

    def _if_any(self, links: Sequence[Link], written: str, is_operand: bool) -> str:
        both = f"{self.relative(links)} and {written}"
        return f"({both})" if is_operand else both

    def _of_first(self, value: Value, links: Sequence[Link]) -> str:
        """A comparison of the first node alone: a function reads it, where contains() and its like do not."""
        subject, constant = self.relative(links), value.constant
        if value.operator not in _COMPARISONS:
            return self._value(value, subject)
        if isinstance(constant, Instant):
            return self._value(value, f"xs:{constant.type}({subject})")
        return self._value(value, f"{'string' if isinstance(constant, str) else 'number'}({subject})")

    def _value(self, value: Value, subject: str) -> str:
        if value.is_double:
            raise ValueError(f"expected a comparison that XPath has, found {value}")
        if value.operator in _COMPARISONS:
            is_text = isinstance(value.constant, str)
            operator = _OF_TEXTS.get(value.operator, value.operator) if is_text else value.operator
            return f"{subject} {operator} {_constant(value.constant)}"
        return f"{value.operator}({subject}, {_constant(value.constant)})"

    def _label(self, label: Label, is_attribute: bool = False) -> str:
        at = "@" if is_attribute else ""
        if isinstance(label, Unlike):
            return f"*[not({' or '.join(f'self::{self._label(each)}' for each in label.labels)})]"
        uri, brace, local = label.rpartition("}")
        return f"{at}{self._prefix(uri[1:])}:{local}" if brace else at + label

    def _prefix(self, uri: str) -> str:
        if uri == _XML:
            return "xml"
        for prefix, known in self.namespaces.items():
            if known == uri:
                return prefix
        prefix = f"n{len(self.namespaces) + 1}"
        self.namespaces[prefix] = uri
        return prefix


def _constant(constant: Constant) -> str:
    return written_instant(constant) if isinstance(constant, Instant) else write_constant(constant)


def _is_open(formula: Formula) -> bool:
    """Whether a formula is written with operators, which bind less than those of a comparison may."""
    return isinstance(formula, Related | NodeSet) or (
        isinstance(formula, Applied) and formula.function in ("and", "or", *ARITHMETIC)
    )


def _first_of_predicate(parts: list[Test], at: int, known: set[Not]) -> int:
    """Which part the predicate of a part starts with: those before it are what the part's positions count."""
    for counted in _counted(parts[at]):
        wanted = {part for part in flat([] if counted is None else [counted]) if part not in known}
        for start in range(at, -1, -1):
            if {part for part in flat(parts[:start]) if part not in known} == wanted:
                return start
        raise ValueError("expected a position behind the predicates that it counts, found others")
    return at


def _counted(test: Test) -> Iterator[Test | None]:
    """What siblings must pass to be counted by the positions of a test on a node."""
    match test:
        case And(tests) | Or(tests):
            for part in tests:
                yield from _counted(part)
        case Not(part):
            yield from _counted(part)
        case Rank(before):
            yield before
