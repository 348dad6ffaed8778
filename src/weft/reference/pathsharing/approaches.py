"""A FLWR plan in, its own plan of the paper's operators out: how much the path matching engine does for it.

PathSharing-F retrieves binding paths in the engine, -FW also predicate paths, -FWR also return paths. What is not
retrieved there is searched in the tree. Conditions that are not `path op constant` or existence are always searched.
PlanSharing begins with the plans of -FWR, and merges them.
"""

from __future__ import annotations

from typing import Literal

from weft.plans.flwr import Flwr, Slot
from weft.plans.plan import And, Has, Link, Path, Test, Value, conjunction
from weft.plans.recipe import make_recipe
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

Approach = Literal["F", "FW", "FWR", "PlanSharing"]


def plan_by(approach: Approach, plan: Flwr) -> ReturnSelect:
    """The plan without any optimization: every DupElim there, and every join by hashing."""
    variable = plan.variables[0]
    path = whole_path(variable.links)
    bindings: BindingsPlan = _binding_stream(variable.links, path)
    searched: list[Test] = []
    for part in _conjuncts(variable.where):
        predicate = _predicate_path(part) if approach != "F" else None
        if predicate is None:
            searched.append(part)
        else:
            extended, test = predicate
            right = _with_selection(PathStream(path + extended), len(path + extended), test)
            bindings = Semijoin(bindings, right, len(path), "hash")
    if (where := conjunction(searched)) is not None:
        bindings = WhereFilter(bindings, where)
    return ReturnSelect(bindings, tuple(_list(approach, slot, path) for slot in make_recipe(plan)[1]))


def whole_path(links: tuple[Link, ...]) -> Path:
    """Links as one navigation path."""
    return tuple(step for link in links for step in link.path)


def _binding_stream(links: tuple[Link, ...], path: Path) -> DupElim:
    tests, field = [], 0
    for link in links:
        field += len(link.path)
        if link.test is not None:
            tests.append((field, link.test))
    stream = PathStream(path)
    # A scan will do: the stream is ordered by its last field, which is the binding field.
    return DupElim(FieldSelection(stream, tuple(tests)) if tests else stream, (len(path),), "scan")


def _with_selection(stream: PathStream, field: int, test: Value | None) -> PathStream | FieldSelection:
    return FieldSelection(stream, ((field, test),)) if test is not None else stream


def _conjuncts(test: Test | None) -> tuple[Test, ...]:
    return () if test is None else test.tests if isinstance(test, And) else (test,)


def _predicate_path(test: Test) -> tuple[Path, Value | None] | None:
    """A predicate path and its simple predicate, if the test is that."""
    match test:
        case Has(path, None):
            return path, None
        case Has(path, Value() as value):
            return path, value
        case _:
            return None


def _list(approach: Approach, slot: Slot, binding: Path) -> SearchedList | JoinedList:
    is_path = slot.variable == 0 and len(slot.links) == 1 and slot.links[0].test is None
    if approach in ("F", "FW") or not is_path:
        return SearchedList(slot)
    path = binding + slot.links[0].path
    return JoinedList(slot, DupElim(PathStream(path), (len(binding), len(path)), "hash"), len(binding), "hash")
