"""A program's body in, the nodes without which it has no message out: a condition that it shares with other queries.

What is said here must be necessary, it need not be all: predicates and conditions that are left out only let more
documents come near the query.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import NamedTuple

from weft.documents.kind import Kind
from weft.languages.xquery.findings import PASSING
from weft.languages.xquery.values import join
from weft.plans.clauses import CountClause, ForClause, GroupClause, LetClause, WhereClause
from weft.plans.expressions import (
    AxisStep,
    Call,
    ComingDocument,
    ComparedItems,
    Connected,
    ConstantValue,
    ContextItem,
    Filtered,
    Finding,
    FlwrExpression,
    Mapped,
    NodeSets,
    Quantified,
    QueryExpression,
    Steps,
    TreeRoot,
    UserCall,
    UserFunction,
    VariableUse,
)
from weft.plans.plan import (
    Combine,
    Comparison,
    Has,
    Link,
    Or,
    Pattern,
    Selection,
    Step,
    Test,
    Value,
    conjunction,
    has,
)
from weft.plans.walk import walk

Links = tuple[Link, ...]
StandsFor = Mapping[str, QueryExpression]  # what variables stand for
_ANY = Pattern(None, (Step("*"),))  # the root element, which every document has
_UNKNOWN = ConstantValue("")


class Needed(NamedTuple):
    """A pattern that must hold something, and whether it holds what is found, or only what is on the way there."""

    pattern: Pattern
    is_whole: bool


_UNKNOWN_NODES = Needed(_ANY, False)
_MOST = 64  # patterns of a query
_TURNED = {"=": "=", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_KINDS = {"element": Kind.ELEMENT, "attribute": Kind.ATTRIBUTE, "text": Kind.TEXT}
#: Functions that give nothing where their first argument is nothing.
_THROUGH = PASSING - {"insert-before", "tokenize"}


def required(body: QueryExpression, functions: tuple[UserFunction, ...]) -> Selection:
    """The patterns of which one must hold something."""
    known: dict[str, QueryExpression] = {each.name: each.body for each in functions if each.name.startswith("$")}
    patterns: dict[Pattern, None] = {}
    for part in walk(body):
        for name, value in _bound(part):  # a name that is bound twice stands for neither
            known[name] = _UNKNOWN if value is None or (name in known and known[name] != value) else value
    for part in walk(body):
        if isinstance(part, Finding):
            found = [_UNKNOWN_NODES] if part.always else _patterns(part.expression, known)
            patterns |= dict.fromkeys(needed.pattern for needed in found)
    if _ANY in patterns or not 0 < len(patterns) <= _MOST:
        return _ANY
    return Combine("union", tuple(patterns)) if len(patterns) > 1 else next(iter(patterns))


def first_binding(body: QueryExpression, selection: Selection) -> ForClause | None:
    """The clause that may bind just the nodes that are required; nothing where there is more."""
    found = [part for part in walk(body) if isinstance(part, Finding)]
    if len(found) != 1 or found[0].always or not isinstance(found[0].expression, FlwrExpression):
        return None
    first = next((each for each in found[0].expression.clauses if not isinstance(each, LetClause)), None)
    if not isinstance(first, ForClause) or first.allows_empty:
        return None
    source = first.source
    if not isinstance(source, Steps) or not isinstance(source.start, ComingDocument | TreeRoot):
        return None
    is_plain = all(isinstance(step, AxisStep) and not step.predicates for step in source.steps)
    is_known = is_plain and _goes_down(source.steps) and isinstance(selection, Pattern)
    return first if is_known and selection != _ANY else None


def known_conditions(body: QueryExpression, first: ForClause | None) -> tuple[WhereClause, ...]:
    """The where clauses that the required nodes pass, as all that they ask for is in the pattern."""
    flwrs = (part for part in walk(body) if isinstance(part, FlwrExpression) and first in part.clauses)
    flwr = next(flwrs, None) if first is not None else None
    if (
        flwr is None
        or first is None
        or [name for each in flwr.clauses for name, _ in _bound(each)].count(first.name) != 1
    ):
        return ()
    until = next((at for at, each in enumerate(flwr.clauses) if isinstance(each, GroupClause)), len(flwr.clauses))
    some = (each for each in flwr.clauses[:until] if isinstance(each, WhereClause))
    return tuple(each for each in some if _is_exact(each.condition, first.name))


def _is_exact(condition: QueryExpression, subject: str) -> bool:
    """Whether a condition and the test that it becomes mean the same."""
    match condition:
        case Connected("and", parts):
            return all(_is_exact(part, subject) for part in parts)
        case ComparedItems("general", _, left, ConstantValue(constant)):
            return _is_plain(left, subject) and not isinstance(constant, bool)
        case Steps():
            return _is_plain(condition, subject)
        case _:
            return False


def _is_plain(expression: QueryExpression, subject: str) -> bool:
    """Whether an expression is a path without predicates from a variable."""
    steps = expression.steps if isinstance(expression, Steps) else ()
    has_none = all(isinstance(step, AxisStep) and not step.predicates for step in steps)
    return has_none and _from_subject(expression, subject) is not None


def _bound(part: object) -> Iterator[tuple[str, QueryExpression | None]]:
    """The names that a clause or a quantifier binds, each with what it stands for if that is an expression."""
    match part:
        case LetClause(name, value):
            yield name, value
        case ForClause(name, _, place):
            yield from ((each, None) for each in (name, place) if each is not None)
        case CountClause(name):
            yield name, None
        case Quantified(bindings=bindings):
            yield from ((name, None) for name, _ in bindings)


def _patterns(expression: QueryExpression, known: StandsFor) -> list[Needed]:
    """What must hold something where an expression finds something."""
    match expression:
        case FlwrExpression(clauses):
            first = next((clause for clause in clauses if isinstance(clause, ForClause | WhereClause)), None)
            if not isinstance(first, ForClause) or first.allows_empty:
                return [_UNKNOWN_NODES]
            names = [name for each in clauses for name, _ in _bound(each)]
            is_once = names.count(first.name) == 1
            conditions = [each.condition for each in clauses if isinstance(each, WhereClause) and is_once]
            tests = [test for each in conditions for test in _all_tests(each, first.name, known)]
            return [_with_tests(needed, tests) for needed in _patterns(first.source, known)]
        case NodeSets("union", left, right):
            return [*_patterns(left, known), *_patterns(right, known)]
        case NodeSets(left=left) | Filtered(left):
            return _patterns(left, known)
        case Mapped(left):
            return [Needed(each.pattern, False) for each in _patterns(left, known)]
        case Call(name, arguments) if name in _THROUGH:
            return [Needed(each.pattern, False) for each in _patterns(arguments[0], known)]
        case VariableUse(name) | UserCall(name, ()) if name in known:
            return _patterns(known[name], {other: value for other, value in known.items() if other != name})
        case Steps(start, steps):
            links, is_whole = _links(steps), _goes_down(steps)
            if isinstance(start, ComingDocument | TreeRoot):
                return [Needed(_below(None, links), is_whole)]
            return [_behind(needed, links, is_whole) for needed in _patterns(start, known)]
        case _:
            return [_UNKNOWN_NODES]


def _below(pattern: Pattern | None, links: Links) -> Pattern:
    for link in links:
        if pattern is not None and pattern.test is None:  # a stretch without a test goes on
            pattern = Pattern(pattern.parent, pattern.path + link.path, link.test)
        else:
            pattern = Pattern(pattern, link.path, link.test)
    return pattern or _ANY


def _behind(needed: Needed, links: Links, is_whole: bool) -> Needed:
    """A path goes on; nothing is known of where it goes if it is not known where it starts."""
    if not needed.is_whole:
        return needed
    return Needed(_below(needed.pattern, links), is_whole)


def _with_tests(needed: Needed, tests: list[Test]) -> Needed:
    """Conditions on the nodes that a path leads to, if it is known to its end."""
    if not needed.is_whole or not tests:
        return needed
    pattern = needed.pattern
    own = [] if pattern.test is None else [pattern.test]
    return Needed(Pattern(pattern.parent, pattern.path, conjunction([*own, *tests])), True)


def _goes_down(steps: tuple[object, ...]) -> bool:
    """Whether `_links` has all steps of a path."""
    return sum(len(link.path) for link in _links(steps)) == sum(
        not (isinstance(step, AxisStep) and step.axis == "descendant-or-self" and step.test.kind == "node")
        for step in steps
    )


def _links(steps: tuple[object, ...]) -> Links:
    """A path as far as it goes down."""
    links: Links = ()
    deep = False
    for step in steps:
        if not isinstance(step, AxisStep):
            break
        if step.axis == "descendant-or-self" and step.test.kind == "node" and not step.predicates:
            deep = True
            continue
        if step.axis not in ("child", "attribute", "descendant") or step.test.kind not in _KINDS:
            break
        label = "text()" if step.test.kind == "text" else step.test.label
        made = Step(label, deep or step.axis == "descendant", _KINDS[step.test.kind])
        deep = False
        tests = [test for predicate in step.predicates for test in _all_tests(predicate, None, {})]
        links = join(links, (Link((made,), conjunction(tests)),))
    return links


def _all_tests(condition: QueryExpression, subject: str | None, known: StandsFor) -> list[Test]:
    parts = condition.parts if isinstance(condition, Connected) and condition.operator == "and" else (condition,)
    tests = (_test(part, subject, known) for part in parts)
    return [test for test in tests if test is not None]


def _test(condition: QueryExpression, subject: str | None, known: StandsFor) -> Test | None:
    """What a condition asks at least of a variable's node, or of the context item; nothing where that is not known."""
    match condition:
        case Connected("or", parts):
            each = [_test(part, subject, known) for part in parts]
            some = [test for test in each if test is not None]
            return Or(tuple(some)) if len(some) == len(each) else None
        case Connected("and"):
            return conjunction(_all_tests(condition, subject, known))
        case ComparedItems("general" | "value", operator, left, right):
            found = _compared(operator, left, right, subject)
            return found or _compared(_TURNED[operator], right, left, subject)
        case Call("exists" | "boolean", (operand,)):
            return _exists(operand, subject)
        case Steps():
            return _exists(condition, subject)
        case _:
            return None


def _compared(operator: str, left: QueryExpression, right: QueryExpression, subject: str | None) -> Test | None:
    links = _from_subject(left, subject)
    if links is None or not isinstance(right, ConstantValue) or isinstance(right.value, bool):
        return None
    constant = float(right.value) if isinstance(right.value, int | float | Decimal) else right.value
    operators: dict[str, Comparison] = {"=": "=", "!=": "!=", "<": "<", "<=": "<=", ">": ">", ">=": ">="}
    return has(links, Value(operators[operator], constant, isinstance(constant, float)))


def _exists(operand: QueryExpression, subject: str | None) -> Test | None:
    links = _from_subject(operand, subject)
    found = None if not links else has(links)
    return found if isinstance(found, Has) else None


def _from_subject(expression: QueryExpression, subject: str | None) -> Links | None:
    """The path from the subject; the value of its last node is asked, so it must go down all the way."""
    start, steps = (expression.start, expression.steps) if isinstance(expression, Steps) else (expression, ())
    if start != (ContextItem() if subject is None else VariableUse(subject)):
        return None
    links = _links(steps)
    return links if _goes_down(steps) else None
