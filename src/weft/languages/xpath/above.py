"""Tests on what is above a node, while a query is read: they move to where the path comes from, and none is left."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Literal, cast

from weft.documents.kind import Kind
from weft.plans.comparisons import HOLDS
from weft.plans.plan import (
    Always,
    And,
    Count,
    Has,
    Label,
    Link,
    Named,
    Not,
    Or,
    Rank,
    Step,
    Test,
    Value,
    conjunction,
    has,
    negation,
)

MOST_WAYS = 16  # of one path, or to meet what is asked of it: each is a pattern, or a test
Axis = Literal["parent", "ancestor", "document"]


@dataclass(frozen=True, slots=True)
class Above:
    """The parent, some ancestor or the document passes the test."""

    axis: Axis
    test: Test


class NoRewriteError(Exception):
    """What there is no rewrite for."""


def above(axis: Axis, test: Test) -> Test:
    """A test on what is above a node. It is none of a plan's, and stands among them only while a path is read."""
    return cast(Test, Above(axis, test))


def parts_of(test: Test) -> tuple[Test, ...]:
    """The tests that must all hold for a test to hold."""
    return test.tests if isinstance(test, And) else (test,)


def goes_up(test: object) -> bool:
    """Whether a test asks for what is above the node."""
    match test:
        case Above():
            return True
        case And(tests) | Or(tests):
            return any(map(goes_up, tests))
        case Not(part) | Has(_, part) | Rank(part):
            return goes_up(part)
        case _:
            return False


def branches(test: Test) -> Iterator[tuple[Test | None, list[Above]]]:
    """The ways to pass a test: what is asked of the node, and what of those above it.

    before  a[../b or c][d]
    after   a[d][../b] and a[c][d]
    """
    parts = parts_of(test)
    plain = [part for part in parts if not goes_up(part)]
    ways = [list(_ways(part)) for part in parts if goes_up(part)]
    if prod(map(len, ways)) > MOST_WAYS:
        raise NoRewriteError(f"conditions on what is above that can be met in more than {MOST_WAYS} ways")
    for chosen in product(*ways):
        asked = conjunction([*plain, *(each for own, _ in chosen for each in own)])
        yield asked, [each for _, up in chosen for each in up]


def _ways(part: object) -> Iterator[tuple[list[Test], list[Above]]]:
    match part:
        case Above():
            yield [], [part]
        case Not(inner) if (denied := _denied(inner)) is not None:
            yield [], [denied]
        case Or(tests):
            for each in tests:
                for asked, moved in branches(each):
                    yield [asked] if asked else [], moved
        case Rank(before, operator, number) if before is not None:
            yield [Rank(of_siblings(before), operator, number)], []
        case _:
            raise NoRewriteError("a condition like this on what is above")


def _denied(test: object) -> Above | None:
    """The opposite of what is asked of the parent or the document, of which there is one."""
    if not isinstance(test, Above) or test.axis == "ancestor":
        return None
    return Above(test.axis, negation(test.test))


def of_siblings(before: Test) -> Test | None:
    """What positions count: siblings have the same parent and ancestors, so what is asked of those all of them pass."""
    kept = [part for part in parts_of(before) if not goes_up(part)]
    for part in parts_of(before):
        if (
            goes_up(part)
            and not isinstance(part, Above | Rank)
            and not (isinstance(part, Not) and isinstance(part.test, Above))
        ):
            raise NoRewriteError("a position behind a condition like this on what is above")
        if isinstance(part, Rank) and part.before is not None and goes_up(part):
            kept.append(Rank(of_siblings(part.before), part.operator, part.number))
    return conjunction(kept)


def at_document(test: Test) -> Test:
    """A test on the document as one on its root element.

    before  /[a/b = 1]
    after   /*[self::a/b = 1]
    """
    match cast(object, test):
        case Has(path, part):
            return _below_document(path[0].deep, Has(path, part))
        case And(tests):
            return conjunction([at_document(each) for each in tests]) or Always(True)
        case Or(tests):
            return either([at_document(each) for each in tests])
        case Not(part):
            return negation(at_document(part))
        case Value() | Always():
            return test
        case Count((Link((Step(label, False, Kind.ELEMENT),), part),), operator, wanted):  # the root element alone
            return _below_document(False, Has((Step(label),), _both(part, Always(bool(HOLDS[operator](1, wanted))))))
        case Named() | Above("parent" | "ancestor"):
            return Always(False)
        case Above(_, part):
            return at_document(part)
        case _:
            raise NoRewriteError("a count or a function of what lies below the document")


def _both(test: Test | None, other: Test) -> Test:
    return conjunction([part for part in (test, other) if part is not None]) or Always(True)


def _below_document(is_deep: bool, test: Has) -> Test:
    step, rest = test.path[0], test.path[1:]
    if step.kind is not Kind.ELEMENT:
        return test if is_deep else Always(False)
    inner = has((Link(rest),), test.test) if rest else test.test
    root = conjunction([*([] if step.label == "*" else [Named(step.label)]), *([inner] if inner else [])]) or Always(
        True
    )
    return either([root, test]) if is_deep else root


def either(tests: list[Test]) -> Test:
    """One of these, without those that never hold."""
    if any(test == Always(True) for test in tests):
        return Always(True)
    kept = [test for test in tests if test != Always(False)]
    return kept[0] if len(kept) == 1 else Or(tuple(kept)) if kept else Always(False)


def never(test: Test | None) -> bool:
    """Whether it is plain that no node passes a test: it has two names, or what is false is asked."""
    parts = parts_of(test) if test is not None else []
    names = {part.label for part in parts if isinstance(part, Named)}
    plain = {name for name in names if isinstance(name, str) and "*" not in name}
    return len(plain) > 1 or Always(False) in parts


def knowing(test: Test, label: Label) -> Test:
    """A test on an element whose name is known."""
    if not isinstance(label, str) or "*" in label:
        return test
    match test:
        case Named(str(name)) if "*" not in name:
            return Always(name == label)
        case And(tests):
            return conjunction([knowing(part, label) for part in tests]) or Always(True)
        case Or(tests):
            return either([knowing(part, label) for part in tests])
        case Not(part):
            return negation(knowing(part, label))
        case _:
            return test
