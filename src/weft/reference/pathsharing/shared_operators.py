"""Plans of single queries in, shared operators out: the paper's section 5, Selection-DupElim pulled up over joins.

Queries whose semijoins have one *signature*, the paths of both inputs, share a join. Above it selections with one
signature, which says of each input where the predicate stands and its operator, are one shared selection that has an
output for each pair of constants. What fits neither keeps its own plan; all share the grouping of return paths.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple

from weft.documents.kind import Kind
from weft.plans.plan import Constant, Has, Path, Step, Test, Value
from weft.reference.pathsharing.constants import ConstantIndex
from weft.reference.pathsharing.operators import (
    BindingsPlan,
    DupElim,
    FieldSelection,
    JoinBy,
    PathStream,
    ReturnSelect,
    Semijoin,
)


class PredicateSignature(NamedTuple):
    """Where the one predicate of a path stands and what it is, but for its constant."""

    level: int
    attribute: Step | None  # of the node at this level; None: the node itself is compared
    test: Value  # with a constant of the same type, which says nothing


class JoinSignature(NamedTuple):
    """The inputs of a shared join; without a right one it is the left stream."""

    left: Path
    right: Path | None
    field: int
    by: JoinBy


#: What a path without a predicate has.
SelectionSignature = tuple[PredicateSignature | None, PredicateSignature | None]
ConstantPair = tuple[Constant | None, Constant | None]


class Merged(NamedTuple):
    """Where a query's bindings come from."""

    join: JoinSignature
    selection: SelectionSignature
    constants: ConstantPair


@dataclass(slots=True)
class SharedSelection:
    """Selections with one signature. `outputs` has the queries that read each output, by the pair of constants."""

    indexes: tuple[ConstantIndex | None, ConstantIndex | None]
    outputs: dict[ConstantPair, dict[int, None]] = field(default_factory=dict)


class SharedOperators:
    """The shared joins and selections of all queries that fit; merging one leaves the others as they are."""

    def __init__(self) -> None:
        self.joins: dict[JoinSignature, dict[SelectionSignature, SharedSelection]] = {}
        self._merged: dict[int, Merged] = {}

    def __contains__(self, number: object) -> bool:
        return number in self._merged

    def merged(self, number: int) -> Merged | None:
        """Where a query's bindings come from; nothing where its plan does not fit."""
        return self._merged.get(number)

    def add(self, number: int, plan: ReturnSelect) -> None:
        """Merge a query's plan, if it fits."""
        merged = merged_of(plan.input)
        if merged is None:
            return
        self._merged[number] = merged
        selections = self.joins.setdefault(merged.join, {})
        left, right = merged.selection
        if merged.selection not in selections:
            selections[merged.selection] = SharedSelection((_index(left), _index(right)))
        selection = selections[merged.selection]
        readers = selection.outputs.setdefault(merged.constants, {})
        if not readers:
            for index, constant in zip(selection.indexes, merged.constants, strict=True):
                if index is not None and constant is not None:
                    index.add(constant)
        readers[number] = None

    def remove(self, number: int) -> None:
        """Let a query go, and what only it has."""
        merged = self._merged.pop(number, None)
        if merged is None:
            return
        selections = self.joins[merged.join]
        selection = selections[merged.selection]
        del selection.outputs[merged.constants][number]
        if selection.outputs[merged.constants]:
            return
        del selection.outputs[merged.constants]
        for index, constant in zip(selection.indexes, merged.constants, strict=True):
            if index is not None and constant is not None:
                index.remove(constant)
        if not selection.outputs:
            del selections[merged.selection]
        if not selections:
            del self.joins[merged.join]


def merged_of(plan: BindingsPlan) -> Merged | None:
    """Where the bindings of a plan come from, if it has one predicate path at most, and each path one predicate."""
    right: PathStream | FieldSelection | None = None
    join: tuple[int, JoinBy] = (0, "merge")
    if isinstance(plan, Semijoin):
        right, join, plan = plan.right, (plan.field, plan.by), plan.left
    if isinstance(plan, DupElim):  # pulled up too: a scan behind the selection does it
        plan = plan.input
    if not isinstance(plan, PathStream | FieldSelection):
        return None
    ours, theirs = _predicate(plan), None if right is None else _predicate(right)
    if ours is None or (right is not None and theirs is None):
        return None
    if theirs is None:
        return Merged(JoinSignature(ours.path, None, *join), (ours.signature, None), (ours.constant, None))
    signature = JoinSignature(ours.path, theirs.path, *join)
    return Merged(signature, (ours.signature, theirs.signature), (ours.constant, theirs.constant))


class _SimplePredicate(NamedTuple):
    path: Path
    signature: PredicateSignature | None = None
    constant: Constant | None = None


def _predicate(plan: PathStream | FieldSelection) -> _SimplePredicate | None:
    """The path of a stream, the signature of its predicate and the constant; nothing where it has several."""
    if isinstance(plan, PathStream):
        return _SimplePredicate(plan.path)
    if len(plan.tests) > 1:
        return None
    ((level, test),) = plan.tests
    attribute, value = _compared(test)
    if value is None:
        return None
    blank: Constant = "" if isinstance(value.constant, str) else value.constant
    if isinstance(blank, int | float):
        blank = 0.0
    signature = PredicateSignature(level, attribute, replace(value, constant=blank))
    return _SimplePredicate(plan.input.path, signature, value.constant)


def _compared(test: Test) -> tuple[Step | None, Value | None]:
    """What is compared of a node: an attribute that it can have once, or itself."""
    match test:
        case Value(operator=operator) if operator != "matches":
            return None, test
        case Has((Step(label=str(), deep=False, kind=Kind.ATTRIBUTE) as step,), Value(operator=operator) as value):
            return (step, value) if step.label != "*" and operator != "matches" else (None, None)
        case _:
            return None, None


def _index(signature: PredicateSignature | None) -> ConstantIndex | None:
    return None if signature is None else ConstantIndex(signature.test)
