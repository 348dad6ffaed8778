"""A selection in, the names and constants out that it requires or mentions: which pairs are worth comparing.

One that requires a name covers none that does not mention it, but for rare cases which are only not found then.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce

from weft.plans.plan import (
    And,
    Combine,
    Count,
    First,
    Has,
    Label,
    Link,
    Named,
    Or,
    Path,
    Pattern,
    Selection,
    Step,
    Test,
    Unlike,
    Value,
)
from weft.plans.walk import walk

Tokens = frozenset[str]
_NONE: Tokens = frozenset()


def required(selection: Selection) -> Tokens:
    """What every document in which something is selected must have."""
    match selection:
        case Combine("union", parts):
            return reduce(frozenset.intersection, map(required, parts))
        case Combine("intersect", parts):
            return _NONE.union(*map(required, parts))
        case Combine(_, parts):
            return required(parts[0])
        case Pattern(parent, path, test):
            return _of_path(path) | _of_test(test) | (required(parent) if parent is not None else _NONE)


def mentioned(selection: Selection) -> Tokens:
    """All names and constants that stand in it, wherever."""
    return _NONE.union(*(_of_part(part) for part in walk(selection)))


def _of_part(part: object) -> Tokens:
    match part:
        case Step(label, _, _) | Named(label):
            return _of_label(label)
        case Value(_, constant, _):
            return frozenset([f"={constant}"])
        case _:
            return _NONE


def _of_test(test: Test | None) -> Tokens:
    match test:
        case Value("=", constant, _):
            return frozenset([f"={constant}"])
        case Has(path, inner):
            return _of_path(path) | _of_test(inner)
        case First(links, _, _) | Count(links, _, _):
            return _of_links(links)
        case Named(label):
            return _of_label(label)
        case And(tests):
            return _NONE.union(*map(_of_test, tests))
        case Or(tests):
            return reduce(frozenset.intersection, map(_of_test, tests))
        case _:
            return _NONE


def _of_links(links: Iterable[Link]) -> Tokens:
    return _NONE.union(*(_of_path(link.path) | _of_test(link.test) for link in links))


def _of_path(path: Path) -> Tokens:
    return _NONE.union(*(_of_label(step.label) for step in path))


def _of_label(label: Label) -> Tokens:
    """The local name, which all forms of a label test have in common."""
    if isinstance(label, Unlike):
        return _NONE
    local = label.rpartition("}")[2].rpartition(":")[2]
    return frozenset([local]) if local != "*" else _NONE
