"""A plan of the paper's operators in, text for people out: which operator by which way, and which claim allows it."""

from __future__ import annotations

from collections.abc import Iterator

from weft.plans.show import Line, show_path, show_test
from weft.reference.pathsharing.operators import (
    BindingsPlan,
    DupElim,
    FieldSelection,
    JoinedList,
    PathStream,
    ReturnSelect,
    SearchedList,
    Semijoin,
    WhereFilter,
)


def show_operators(plan: ReturnSelect) -> str:
    """The operators, one a line, what feeds an operator below it."""
    return "\n".join("  " * depth + text for depth, text in operator_lines(plan))


def operator_lines(plan: ReturnSelect) -> Iterator[Line]:
    """The operators with their depth, from the top down."""
    joined = any(isinstance(entry, JoinedList) for entry in plan.lists)
    yield 0, "OuterJoin-Select" if joined else "Return-Select"
    for entry in plan.lists:
        yield from _list(entry, 1)
    removed = f" (DupElim removed by claim {_numbers(plan.claims)})" if plan.claims else ""
    lines = list(_bindings(plan.input, 1))
    yield lines[0][0], f"bindings: {lines[0][1]}{removed}"
    yield from lines[1:]


def _list(entry: SearchedList | JoinedList, depth: int) -> Iterator[Line]:
    path = "".join(show_path(link.path) for link in entry.slot.links) or "."
    if isinstance(entry, SearchedList):
        yield depth, f"list {path}: tree search"
        return
    why = f" by claim {_numbers(entry.claims)}" if entry.claims else ""
    yield depth, f"list {path}: {entry.by} join on field {entry.field}{why}"
    yield from _bindings(entry.input, depth + 1)


def _bindings(plan: BindingsPlan, depth: int) -> Iterator[Line]:
    match plan:
        case PathStream(path):
            yield depth, f"stream {show_path(path)}"
        case FieldSelection(source, tests):
            told = "; ".join(f"field {field}: {' '.join(show_test(test).split())}" for field, test in tests)
            yield depth, f"Selection {told}"
            yield from _bindings(source, depth + 1)
        case DupElim(source, fields, by):
            yield depth, f"DupElim on {_numbers(fields)} by {by}"
            yield from _bindings(source, depth + 1)
        case WhereFilter(source, test):
            yield depth, f"Where-Filter {' '.join(show_test(test).split())}"
            yield from _bindings(source, depth + 1)
        case Semijoin(left, right, field, by, claim):
            why = f" by claim {claim}" if claim else ""
            yield depth, f"Semijoin by {by} on field {field}{why}"
            yield from _bindings(left, depth + 1)
            yield from _bindings(right, depth + 1)


def _numbers(numbers: tuple[int, ...]) -> str:
    return " and ".join(map(str, sorted(set(numbers))))
