"""Expressions: what queries ask documents for, as chains of single steps from the root, so that views compare to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from weft.documents.kind import Kind
from weft.plans.plan import And, Link, Path, Pattern, Rank, Test, conjunction

#: Links of one step each, from the root; a test stands with the step whose nodes it is on.
Expression = tuple[Link, ...]


def expression_of(pattern: Pattern) -> Expression:
    """A pattern's way from the root, with all its tests."""
    above = expression_of(pattern.parent) if pattern.parent is not None else ()
    return above + steps_of(pattern.path, pattern.test)


def steps_of(path: Path, test: Test | None = None) -> Expression:
    """A path step by step, the test with the last one."""
    links = tuple(Link((step,)) for step in path)
    return (*links[:-1], replace(links[-1], test=test)) if links else ()


def with_tests(expression: Expression, tests: Sequence[Test]) -> Expression:
    """The expression whose last step has these tests too."""
    last = expression[-1]
    both = conjunction([*([last.test] if last.test is not None else []), *tests])
    return (*expression[:-1], replace(last, test=both))


def tests_of(test: Test | None) -> list[Test]:
    """The tests that must all hold."""
    if test is None:
        return []
    return list(test.tests) if isinstance(test, And) else [test]


def position_of(link: Link) -> int | None:
    """The n of a step that ends in [n] and has no other test."""
    test = link.test
    if not isinstance(test, Rank) or test.before is not None or test.operator != "=" or test.number is None:
        return None
    step = link.path[0]
    is_whole = test.number == int(test.number) and test.number > 0
    return int(test.number) if is_whole and not step.deep and step.kind is Kind.ELEMENT else None


def without_position(expression: Expression, place: int) -> Expression:
    """The expression without the test at a place."""
    return (*expression[:place], replace(expression[place], test=None), *expression[place + 1 :])


def pattern_of(expression: Expression) -> Pattern:
    """The pattern that selects an expression's nodes: steps without a test between them are one path."""
    pattern: Pattern | None = None
    path: Path = ()
    for place, link in enumerate(expression, start=1):
        path += link.path
        if link.test is not None or place == len(expression):
            pattern, path = Pattern(pattern, path, link.test), ()
    assert pattern is not None, "an expression has a step"
    return pattern
