"""A formula in, the test that it is as a condition out: what can be compared with a constant is looked up among them.

What nothing can be looked up for comes with what is needed for it to be true, so that this brings it up.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

from weft.documents.kind import Kind
from weft.languages.xpath.above import NoRewriteError, at_document
from weft.languages.xpath.conversions import as_truth
from weft.plans.comparisons import FLIPPED
from weft.plans.formulas import (
    ARITHMETIC,
    Applied,
    Fixed,
    Formula,
    Move,
    NodeFilter,
    NodePath,
    NodeQuantifier,
    NodeSet,
    Related,
    Walk,
    type_of,
)
from weft.plans.numbers import number
from weft.plans.plan import (
    Always,
    Derived,
    Link,
    Named,
    Operator,
    Or,
    Step,
    Test,
    Value,
    conjunction,
    has,
    negation,
)

_PARTS = ("contains", "starts-with", "ends-with")


def test_of(formula: Formula) -> Test:
    """A formula as a condition."""
    match formula:
        case Fixed():
            return Always(bool(cast(Fixed, as_truth(formula)).value))
        case Applied("and", parts):
            return conjunction([test_of(part) for part in parts]) or Always(True)
        case Applied("or", parts):
            return Or(tuple(test_of(part) for part in parts))
        case Applied("not", (part,)):
            return negation(test_of(part))
        case Applied("boolean" | "exists", (part,)) if type_of(part) == "nodes":
            return _with_needs(part)
        case Applied("empty", (part,)):
            return negation(_with_needs(part))
        case Related("=" | "!=" as operator, left, Fixed(bool(value)), "truth"):
            return test_of(left) if value == (operator == "=") else negation(test_of(left))
        case Related("=" | "!=" as operator, Fixed(bool(value)), right, "truth"):
            return test_of(right) if value == (operator == "=") else negation(test_of(right))
        case Related(operator, left, Fixed(constant), reading) if _is_looked_up(left, reading):
            return Derived(*_lookup(left, operator, constant, reading))
        case Related(operator, Fixed(constant), right, reading) if _is_looked_up(right, reading):
            return Derived(*_lookup(right, FLIPPED[operator], constant, reading))
        case Applied(name, (subject, Fixed(str(constant)))) if name in _PARTS:
            return Derived(subject, Value(cast(Operator, name), constant)) if constant else Always(True)
        case _:
            return _with_needs(formula)


def _is_looked_up(formula: Formula, reading: str) -> bool:
    return reading != "truth" and not isinstance(formula, Fixed)


def _lookup(formula: Formula, operator: str, constant: str | float, reading: str) -> tuple[Formula, Value]:
    """What is compared, and with what; number() and string() around it are how it is read anyway."""
    if isinstance(formula, Applied) and formula.function == reading and len(formula.arguments) == 1:
        (inner,) = formula.arguments
        if type_of(inner) == "text":
            formula = inner
    return formula, Value(cast(Operator, operator), constant, reading == "double")


def _with_needs(formula: Formula) -> Test:
    test = Derived(formula)
    return conjunction([*needs(formula), test]) or test


# -- what must be there for a formula to be true


def needs(formula: Formula) -> list[Test]:
    """Tests on the node that it passes wherever the formula is true; not all that there are."""
    match formula:
        case Walk("here", moves):
            asked = _asked(moves)
            return [asked] if asked is not None else []
        case NodeFilter(nodes) | NodePath(nodes):
            return needs(nodes)
        case NodeSet("union", parts) | Applied("or", parts):
            return _either([needs(part) for part in parts])
        case NodeSet("intersect", parts) | Applied("and", parts):
            return _distinct(each for part in parts for each in needs(part))
        case NodeSet(_, parts):
            return needs(parts[0])
        case Related(operator, left, right, reading) if reading != "truth":
            return _distinct(each for side in (left, right) for each in _of_side(side, operator))
        case NodeQuantifier(False, _, source):
            return needs(source)
        case Applied("boolean" | "exists", (part,)):
            return needs(part)
        case _:
            return []


def _of_side(side: Formula, operator: str) -> list[Test]:
    """What is needed for one side of a comparison to be in it: nodes have to be there, or numbers."""
    if type_of(side) == "nodes":
        return needs(side)
    if operator == "!=" or not isinstance(side, Applied):
        return []
    if side.function in (*ARITHMETIC, "negative", "number", "double", "floor", "ceiling", "round", "abs"):
        return _distinct(each for part in side.arguments for each in _of_side(part, operator))
    return []


def _asked(moves: Iterable[Move]) -> Test | None:
    """Something is where moves lead to, as far as they go down."""
    links: list[Link] = []
    deep = False
    for move in moves:
        if move.axis == "descendant-or-self" and move.kind is None and not move.conditions:
            deep = True
            continue
        if move.axis not in ("child", "descendant", "attribute") or move.kind is None:
            break
        label = "text()" if move.kind is Kind.TEXT else move.label
        step = Step(label, deep or move.axis == "descendant", move.kind)
        links.append(Link((step,), conjunction([each for part in move.conditions for each in _of_condition(part)])))
        deep = False
    return has(_merged(links)) if links else None


def _merged(links: list[Link]) -> tuple[Link, ...]:
    """Links without tests go on in the next."""
    found: list[Link] = []
    for link in links:
        if found and found[-1].test is None:
            found[-1] = Link(found[-1].path + link.path, link.test)
        else:
            found.append(link)
    return tuple(found)


def _of_condition(condition: Formula) -> list[Test]:
    """What a condition in brackets needs; a comparison of a plain path with a constant says all of itself."""
    match condition:
        case Related(operator, Walk("here", moves), Fixed(constant), reading) if reading in ("text", "number"):
            value = Value(operator, number(constant) if reading == "number" and isinstance(constant, str) else constant)
            return _compared(moves, value)
        case Applied("and", parts):
            return _distinct(each for part in parts for each in _of_condition(part))
        case Applied("or", parts):
            return _either([_of_condition(part) for part in parts])
        case Applied("boolean", (Walk("here", moves),)) if moves and all(move.axis == "self" for move in moves):
            names = [move.label for move in moves if move.kind is Kind.ELEMENT and move.label != "*"]
            return [Named(label) for label in names]
        case _:
            return needs(condition)


def _compared(moves: tuple[Move, ...], value: Value) -> list[Test]:
    """A path, compared."""
    if not moves:
        return [value]
    *before, last = moves
    if last.conditions or any(move.conditions for move in before):
        return needs(Walk("here", moves))
    path: list[Step] = []
    deep = False
    for move in moves:
        if move.axis == "descendant-or-self" and move.kind is None:
            deep = True
            continue
        if move.axis not in ("child", "descendant", "attribute") or move.kind is None:
            return needs(Walk("here", moves))
        label = "text()" if move.kind is Kind.TEXT else move.label
        path.append(Step(label, deep or move.axis == "descendant", move.kind))
        deep = False
    return [has((Link(tuple(path)),), value)] if path and not deep else []


def _either(parts: list[list[Test]]) -> list[Test]:
    """What one of several needs; nothing where one of them needs nothing."""
    tests = [conjunction(part) for part in parts]
    found = tuple(dict.fromkeys(test for test in tests if test is not None))
    if len(found) == 1 and None not in tests:
        return [found[0]]
    return [Or(found)] if found and None not in tests else []


def _distinct(tests: Iterable[Test]) -> list[Test]:
    return list(dict.fromkeys(tests))


def needs_at_root(formula: Formula) -> Test | None:
    """What the root element has to pass for a formula to select anything in its document."""
    match formula:
        case Walk("document", moves):
            asked = _asked(moves)
            try:
                return None if asked is None else at_document(asked)
            except NoRewriteError:
                return None
        case Walk(start) if not isinstance(start, str):
            return needs_at_root(start)
        case NodeFilter(nodes) | NodePath(nodes):
            return needs_at_root(nodes)
        case NodeSet("union", parts):
            return next(iter(_either([[each] if (each := needs_at_root(part)) else [] for part in parts])), None)
        case NodeSet(_, parts):
            return needs_at_root(parts[0])
        case _:
            return None
