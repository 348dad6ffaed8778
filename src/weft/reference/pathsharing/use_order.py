"""Scan and merge instead of hashing where a stream is in the order of its binding field."""

from __future__ import annotations

from dataclasses import replace

from weft.documents.dtd import Dtd
from weft.plans.plan import Path
from weft.reference.pathsharing.claims import is_ordered
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


def use_order(plan: ReturnSelect, dtd: Dtd | None) -> ReturnSelect:
    """Claims 4 and 5: `/a/b//c` is in the order of `b`, `//a//b/c` is if no `b` contains `a`s and `b`s."""
    bindings = _bindings(plan.input, dtd)
    lists = tuple(_list(entry, dtd) for entry in plan.lists)
    return plan if bindings is plan.input and lists == plan.lists else replace(plan, input=bindings, lists=lists)


def _bindings(plan: BindingsPlan, dtd: Dtd | None) -> BindingsPlan:
    match plan:
        case WhereFilter(input=inner):
            changed = _bindings(inner, dtd)
            return plan if changed is inner else replace(plan, input=changed)
        case Semijoin(left=inner, right=right, field=field):
            changed = _bindings(inner, dtd)
            claim = is_ordered(path_of(right), field, dtd)
            if claim is None:
                return plan if changed is inner else replace(plan, left=changed)
            return replace(plan, left=changed, by="merge", claim=claim)
        case _:
            return plan


def _list(entry: SearchedList | JoinedList, dtd: Dtd | None) -> SearchedList | JoinedList:
    if not isinstance(entry, JoinedList):
        return entry
    claim = is_ordered(path_of(entry.input), entry.field, dtd)
    if claim is None:
        return entry
    source = replace(entry.input, by="scan") if isinstance(entry.input, DupElim) else entry.input
    return replace(entry, input=source, by="merge", claims=(*entry.claims, claim))


def path_of(source: PathStream | FieldSelection | DupElim) -> Path:
    """The path of the stream that an operator reads in the end."""
    while not isinstance(source, PathStream):
        source = source.input
    return source.path
