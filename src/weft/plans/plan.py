"""What every query becomes: patterns that hold nodes, each a path from its parent pattern, with tests on them.

`/a/b[c = "x"]/@d` is a pattern for `b` with the test `Has(c, Value(= "x"))`, and below it the pattern for `@d`,
which is the result.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from weft.documents.kind import Kind
from weft.plans.instants import Instant

if TYPE_CHECKING:
    from weft.plans.formulas import Formula


@dataclass(frozen=True, slots=True)
class Unlike:
    """A label test that all names pass but these: `*[not(self::a or self::b)]`."""

    labels: tuple[str, ...]


#: A label test: `{uri}local`, `local`, `*:local`, `{uri}*`, `*`, or all but some of these.
Label = str | Unlike


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a path: to children, or with `deep` to descendants (attributes and texts: also the node's own)."""

    label: Label
    deep: bool = False
    kind: Kind = Kind.ELEMENT


Path = tuple[Step, ...]
#: What a value is compared with; a date, or a time, is an instant.
Constant = str | float | Instant
Comparison = Literal["=", "!=", "<", "<=", ">", ">="]
Operator = Literal["=", "!=", "<", "<=", ">", ">=", "contains", "starts-with", "ends-with", "matches"]


@dataclass(frozen=True, slots=True)
class Value:
    """The node's string-value (or number, or instant, if the constant is one) stands in this relation to the constant.

    What text is a number is for the language to say: with `is_double` XQuery, which has `+1` and `INF`, else XPath. A
    text that is no instant of the constant's type stands in no relation to it, not even in `!=`.
    """

    operator: Operator
    constant: Constant
    is_double: bool = False


@dataclass(frozen=True, slots=True)
class Has:
    """Some node on the path passes the test."""

    path: Path
    test: Test | None = None


@dataclass(frozen=True, slots=True)
class Link:
    """One stretch of a path, and the test that nodes at its end pass."""

    path: Path
    test: Test | None = None


@dataclass(frozen=True, slots=True)
class First:
    """The first node, in document order, that the links lead to passes the test; XPath's functions read just that.

    With `fails` there is such a node and it does not pass.
    """

    links: tuple[Link, ...]
    test: Value
    fails: bool = False


@dataclass(frozen=True, slots=True)
class Count:
    """How many nodes the links lead to, at least one, stands in this relation to the number."""

    links: tuple[Link, ...]
    operator: Comparison
    number: float


@dataclass(frozen=True, slots=True)
class Rank:
    """The node's position among its siblings that pass the label test and `before`; no number means the last."""

    before: Test | None
    operator: Comparison
    number: float | None


@dataclass(frozen=True, slots=True)
class Named:
    """The node's name passes a label test."""

    label: Label


@dataclass(frozen=True, slots=True)
class And:
    """All of these hold."""

    tests: tuple[Test, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """One of these holds."""

    tests: tuple[Test, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """This does not hold."""

    test: Test


@dataclass(frozen=True, slots=True)
class Derived:
    """What a formula makes of the node passes the test, one of several nodes is enough; without a test, it is true."""

    formula: Formula
    test: Value | None = None


@dataclass(frozen=True, slots=True)
class Among:
    """The node is one of those that a formula selects in its document."""

    formula: Formula


@dataclass(frozen=True, slots=True)
class Always:
    """A test that is true, or false, whatever the document."""

    value: bool


@dataclass(frozen=True, slots=True)
class On:
    """A test on what a variable holds; only where several variables are there."""

    variable: int
    test: Test


Test = Value | Has | First | Count | Rank | Named | Derived | Among | And | Or | Not | Always | On


@dataclass(frozen=True, slots=True)
class Pattern:
    """Nodes that a path leads to from the parent pattern's nodes (from the document's root where there is none)."""

    parent: Pattern | None
    path: Path
    test: Test | None = None


@dataclass(frozen=True, slots=True)
class Combine:
    """The nodes of several selections as a set: all, those in each, or the first's without the others'."""

    operator: Literal["union", "intersect", "except"]
    parts: tuple[Selection, ...]


Selection = Pattern | Combine


@dataclass(frozen=True, slots=True)
class Edge:
    """Pairs of nodes: each that a pattern holds, with those that links lead to from it."""

    pattern: Pattern
    links: tuple[Link, ...]


def conjunction(tests: list[Test]) -> Test | None:
    """One test for all of these, flat; nothing where there is nothing to test."""
    if not tests:
        return None
    flat: list[Test] = []
    for test in tests:
        if isinstance(test, And):
            flat.extend(test.tests)
        elif not isinstance(test, Always):
            flat.append(test)
        elif not test.value:
            return test
    return (flat[0] if len(flat) == 1 else And(tuple(flat))) if flat else None


def negation(test: Test) -> Test:
    """The opposite, with `not` driven down to tests that are neither `and` nor `or`."""
    match test:
        case Not(inner):
            return inner
        case And(tests):
            return Or(tuple(negation(part) for part in tests))
        case Or(tests):
            return conjunction([negation(part) for part in tests]) or Always(True)
        case Always(value):
            return Always(not value)
        case _:
            return Not(test)


def has(links: tuple[Link, ...], test: Test | None = None) -> Test:
    """Some node at the end of the links passes the test."""
    for link in reversed(links):
        test = conjunction([part for part in (link.test, test) if part is not None])
        if link.path:
            test = Has(link.path, test)
    return test or Always(True)
