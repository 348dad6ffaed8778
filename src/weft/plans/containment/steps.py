"""Patterns and links in, single steps with the tests at each out: the form in which both sides are compared."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import cast

from weft.documents.kind import Kind
from weft.plans.comparisons import OPPOSITE
from weft.plans.plan import And, Link, Not, Or, Pattern, Rank, Step, Test

#: Steps, each with the tests on the nodes that it leads to.
Stretch = list[tuple[Step, list[Test]]]


class TooLargeError(Exception):
    """The patterns are too large to be compared; nobody outside this folder sees it."""


@dataclass(frozen=True, slots=True)
class Placed:
    """A position, with the label test that its siblings pass: what they are decides what it counts."""

    step: Step  # shallow: how the path comes to the node does not matter
    rank: Rank


#: A test as it is compared here.
TestPart = Test | Placed


def links_of(pattern: Pattern) -> list[Link]:
    """The way from the document to a pattern's nodes."""
    links: list[Link] = []
    each: Pattern | None = pattern
    while each is not None:
        links.append(Link(each.path, each.test))
        each = each.parent
    return links[::-1]


def stretch_of(links: Iterable[Link]) -> tuple[list[Test], Stretch]:
    """The tests on the node that links start from, and their steps."""
    here: list[Test] = []
    steps: Stretch = []
    for link in links:
        steps += [(step, []) for step in link.path]
        if link.test is not None:
            (steps[-1][1] if steps else here).append(link.test)
    return here, steps


def from_document(steps: Stretch) -> Stretch:
    """`//@x` as `//*/@x`: the document itself has neither attributes nor texts."""
    if not steps or steps[0][0].kind is Kind.ELEMENT or not steps[0][0].deep:
        return steps
    (leaf, tests), *rest = steps
    return [(Step("*", deep=True), []), (replace(leaf, deep=False), tests), *rest]


def placed(test: Test, step: Step | None) -> TestPart:
    """A test on the nodes of a step, with the step in its positions; so equal tests mean the same wherever they stand.

    Where nothing comes before a position, `not` goes into its operator.
    """
    match test:
        case And(parts) | Or(parts):
            return type(test)(tuple(cast(Test, placed(part, step)) for part in parts))
        case Rank() if step is not None:
            return Placed(replace(step, deep=False), test)
        case Not(Rank(None, operator, number)) if step is not None:
            return Placed(replace(step, deep=False), Rank(None, OPPOSITE[operator], number))
        case Not(part):
            return Not(cast(Test, placed(part, step)))
        case _:
            return test


def flat(parts: Iterable[TestPart]) -> list[TestPart]:
    """What must all hold, without `and`."""
    found: list[TestPart] = []
    waiting = list(parts)[::-1]
    while waiting:
        part = waiting.pop()
        if isinstance(part, And):
            waiting += reversed(part.tests)
        else:
            found.append(part)
    return found
