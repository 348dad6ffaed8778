"""Drop duplicate elimination where a path cannot bind the same node twice."""

from __future__ import annotations

from dataclasses import replace

from weft.documents.dtd import Dtd
from weft.reference.pathsharing.claims import no_duplicate_pairs, no_duplicates
from weft.reference.pathsharing.operators import (
    BindingsPlan,
    DupElim,
    JoinedList,
    PathStream,
    ReturnSelect,
    SearchedList,
    Semijoin,
    WhereFilter,
)


def drop_distinct(plan: ReturnSelect, dtd: Dtd | None) -> ReturnSelect:
    """Claims 1 to 3: `//a//b` needs it only if `a` can contain `a`."""
    bindings, claim = _bindings(plan.input, dtd)
    lists = tuple(_list(entry, dtd) for entry in plan.lists)
    if bindings is plan.input and lists == plan.lists:
        return plan
    return ReturnSelect(bindings, lists, plan.claims + ((claim,) if claim else ()))


def _bindings(plan: BindingsPlan, dtd: Dtd | None) -> tuple[BindingsPlan, int | None]:
    match plan:
        case DupElim(input=source):
            path = source.path if isinstance(source, PathStream) else source.input.path
            claim = no_duplicates(path, dtd)
            return (source, claim) if claim else (plan, None)
        case WhereFilter(input=inner):
            changed, claim = _bindings(inner, dtd)
            return (plan if changed is inner else replace(plan, input=changed)), claim
        case Semijoin(left=inner):
            changed, claim = _bindings(inner, dtd)
            return (plan if changed is inner else replace(plan, left=changed)), claim
        case _:
            return plan, None


def _list(entry: SearchedList | JoinedList, dtd: Dtd | None) -> SearchedList | JoinedList:
    if isinstance(entry, JoinedList) and isinstance(entry.input, DupElim) and isinstance(entry.input.input, PathStream):
        stream = entry.input.input
        if claim := no_duplicate_pairs(stream.path, entry.field, dtd):
            return replace(entry, input=stream, claims=(*entry.claims, claim))
    return entry
