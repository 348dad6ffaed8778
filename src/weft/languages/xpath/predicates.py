"""What stands in a predicate in, the test it means out, by XPath's rules for booleans, numbers and node sets."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite, isnan
from typing import cast

from weft.documents.kind import Kind
from weft.plans.comparisons import FLIPPED, HOLDS, OPPOSITE
from weft.plans.instants import INSTANT_TYPES, instant
from weft.plans.numbers import number
from weft.plans.plan import (
    Always,
    Comparison,
    Constant,
    Count,
    First,
    Link,
    Not,
    Operator,
    Or,
    Rank,
    Test,
    Value,
    conjunction,
    has,
    negation,
)

Paths = tuple[tuple[Link, ...], ...]


@dataclass(frozen=True, slots=True)
class Operand:
    """One side of a comparison: paths, a count of one, a string, number or instant, position(), last(), or a test."""

    kind: str
    paths: Paths = ()
    constant: Constant = ""
    test: Test | None = None
    scope: int | None = None  # the variable that the paths start from

    @property
    def is_constant(self) -> bool:
        """Whether values can be compared with it."""
        return self.kind in ("string", "number", "instant")

    @property
    def is_position(self) -> bool:
        """Alone in a predicate, a number is a position."""
        return self.kind in ("number", "last")


def as_test(operand: Operand) -> Test | None:
    """An operand as a condition; nothing where it is a constant."""
    if operand.kind == "test":
        return operand.test or Always(True)
    if operand.kind == "path":
        return _any([has(links) for links in operand.paths])
    return None


def compare(left: Operand, operator: str, right: Operand, is_xquery: bool = False) -> Test | None:
    """A comparison of paths or a count with a constant; nothing where it is another kind of comparison.

    XPath 1 compares numbers where it comes to order; XQuery compares texts with a text, and has numbers of its own.
    """
    if left.is_constant:
        left, right, operator = right, left, FLIPPED[operator]
    if left.kind == "count" and right.kind in ("number", "string"):
        return count(left.paths[0], cast(Comparison, operator), _as_number(right))
    if left.kind != "path" or not right.is_constant:
        return None
    constant = right.constant
    if isinstance(constant, str) and operator not in ("=", "!=") and not is_xquery:
        constant = number(constant)
    value = Value(cast(Operator, operator), constant, is_xquery and isinstance(constant, float))
    return _any([has(links, value) for links in left.paths])


def count(links: tuple[Link, ...], operator: Comparison, constant: float) -> Test:
    """A count in relation to a number. Nothing has a count too: where zero passes, so does having none.

    Each part of the links goes into the test once: written twice they would double with every level of nesting.
    """
    guard, rest = _split_guard(links)
    at_zero = HOLDS[operator](0, constant)
    if not rest:  # count(.) is 1, or 0 where the guard does not hold
        if at_zero == HOLDS[operator](1, constant):
            return Always(at_zero)
        return negation(guard or Always(True)) if at_zero else guard or Always(True)
    if at_zero:
        return _unless(guard, Not(Count(rest, OPPOSITE[operator], constant)))
    return _both(guard, Count(rest, operator, constant))


def string_function(name: Operator, links: tuple[Link, ...], constant: str) -> Test:
    """contains() and its like read the first node of a path, and "" where there is none.

    A regular expression is one for RE2 already.
    """
    if name != "matches" and not constant:
        return Always(True)
    guard, rest = _split_guard(links)
    value = Value(name, constant)
    if HOLDS[name]("", constant):
        return _unless(guard, Not(First(rest, value, fails=True)) if rest else value)
    if not rest:
        return _both(guard, value)
    return _both(guard, has(rest, value) if _single(rest) else First(rest, value))


def hopeless(left: Operand, operator: str, right: Operand, is_xquery: bool) -> str | None:
    """Why a comparison is never true, or always, and what to write; nothing where the document decides."""
    constant = right.constant
    if left.kind == "path":
        if not isinstance(constant, str) or is_xquery or operator in ("=", "!=") or not isnan(number(constant)):
            return None
        return f"never true: {operator} compares numbers here, and {constant!r} is none; {_instead(constant)}"
    if left.kind not in ("count", "position") or right.kind not in ("number", "string"):
        return None
    value = _as_number(right)
    least = 1 if left.kind == "position" else 0  # beyond the numbers around the constant nothing changes
    around = {least, *(max(least, int(value) + away) for away in (-1, 0, 1) if isfinite(value))}
    held = {HOLDS[operator](each, value) for each in around}
    if len(held) > 1 or (not isfinite(value) and not isnan(value)):
        return None
    what = "a position is a whole number from 1 on" if least else "a count is a whole number from 0 on"
    return f"{'always' if held.pop() else 'never'} true: {what}"


def _as_number(operand: Operand) -> float:
    """A string or a number as XPath's number."""
    return number(operand.constant) if isinstance(operand.constant, str) else cast(float, operand.constant)


def _instead(constant: str) -> str:
    """What to write in place of a text that is no number."""
    if (found := instant(constant)) is not None:
        return f'write xs:{found.type}("{constant.strip()}")'
    plain = constant.replace(",", "").replace("_", "").strip().removeprefix("+")
    if not isnan(number(plain)):
        return f"write {plain}"
    return "FLWR compares texts: <r>{ for $x in … where $x/… " + f'>= "{constant}" return $x }}</r>'


def position_test(operator: str, operand: Operand, before: Test | None) -> Test | None:
    """position() in relation to a number or last()."""
    if operand.kind == "last":
        return Rank(before, cast(Comparison, operator), None)
    if operand.kind != "number":
        return None
    return Rank(before, cast(Comparison, operator), cast(float, operand.constant))


def _any(tests: list[Test]) -> Test:
    return tests[0] if len(tests) == 1 else Or(tuple(tests))


def _both(guard: Test | None, test: Test) -> Test:
    return conjunction([guard, test]) or Always(True) if guard else test


def _unless(guard: Test | None, test: Test) -> Test:
    """The test, which also holds where the guard does not: there nothing is counted, and "" is read."""
    return Or((negation(guard), test)) if guard else test


def _split_guard(links: tuple[Link, ...]) -> tuple[Test | None, tuple[Link, ...]]:
    """Tests on the context node itself, and the links that lead away from it."""
    if links and not links[0].path:
        return links[0].test, links[1:]
    return None, links


def _single(links: tuple[Link, ...]) -> bool:
    """At most one node: an attribute of the context node by its name."""
    step = links[0].path[0]
    one = len(links) == 1 and len(links[0].path) == 1 and step.kind is Kind.ATTRIBUTE and not step.deep
    return one and isinstance(step.label, str) and "*" not in step.label


#: The functions that take a path and a string constant.
STRING_FUNCTIONS: tuple[Operator, ...] = ("contains", "starts-with", "ends-with", "matches")
#: The functions without arguments.
CONSTANT_FUNCTIONS = {
    "true": Operand("test", test=Always(True)),
    "false": Operand("test", test=Always(False)),
    "position": Operand("position"),
    "last": Operand("last"),
}
#: The functions that make a constant of another type of a string.
INSTANT_FUNCTIONS = {f"xs:{each}": each for each in INSTANT_TYPES}
FUNCTIONS = frozenset({*STRING_FUNCTIONS, *CONSTANT_FUNCTIONS, *INSTANT_FUNCTIONS, "not", "boolean", "count"})
