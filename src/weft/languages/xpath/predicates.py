"""The links of a path and what is asked of its nodes in, the test that it means out, by XPath's rules."""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite

from weft.documents.kind import Kind
from weft.languages.xpath.trails import Trail
from weft.plans.comparisons import HOLDS, OPPOSITE, holds
from weft.plans.plan import (
    Always,
    Comparison,
    Count,
    First,
    Link,
    Not,
    Operator,
    Or,
    Test,
    Value,
    conjunction,
    has,
    negation,
)


def over(trail: Trail, make: Callable[[tuple[Link, ...]], Test]) -> Test:
    """What is asked of the links of a trail, asked where the trail starts."""
    return trail.wrapped(make(trail.links)) if trail.ups else make(trail.links)


def count(operator: Comparison, constant: float, links: tuple[Link, ...]) -> Test:
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
        return _unless(guard, negation(_count_of_some(rest, OPPOSITE[operator], constant)))
    return _both(guard, _count_of_some(rest, operator, constant))


def _count_of_some(links: tuple[Link, ...], operator: Comparison, constant: float) -> Test:
    """A count of at least one in relation to a number; `> 0` and its like ask whether there is something at all."""
    held = {HOLDS[operator](each, constant) for each in deciding(1, constant)}
    if len(held) > 1:
        return Count(links, operator, constant)
    return has(links) if held.pop() else Always(False)


def deciding(least: int, constant: float) -> set[int]:
    """Of all whole numbers from `least` on some that decide what comparisons of them with a constant can come to."""
    return {least, *(max(least, int(constant) + away) for away in (-1, 0, 1) if isfinite(constant))}


def string_function(name: Operator, constant: str, links: tuple[Link, ...]) -> Test:
    """contains() and its like read the first node of a path, and "" where there is none.

    A regular expression is one for RE2 already.
    """
    if name != "matches" and not constant:
        return Always(True)
    return first_item(Value(name, constant), links)


def first_item(value: Value, links: tuple[Link, ...]) -> Test:
    """The first node of a path passes a test on its value; where there is none, "" does."""
    guard, rest = _split_guard(links)
    if holds(value, ""):
        return _unless(guard, Not(First(rest, value, fails=True)) if rest else value)
    if not rest:
        return _both(guard, value)
    return _both(guard, has(rest, value) if _single(rest) else First(rest, value))


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
