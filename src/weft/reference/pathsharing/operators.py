"""The paper's operators: what a FLWR query's own plan is made of, from the streams of path-tuples to the groups.

A *stream* has a field for each step of its path and is ordered by the last one. Fields are counted from 1, so that a
field is also the number of steps up to it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from weft.plans.flwr import Slot
from weft.plans.plan import Path, Test

By = Literal["scan", "hash"]
JoinBy = Literal["merge", "hash"]


@dataclass(frozen=True, slots=True)
class PathStream:
    """The path-tuples that match a path, from the path matching engine."""

    path: Path


@dataclass(frozen=True, slots=True)
class FieldSelection:
    """The tuples whose nodes in these fields pass the tests."""

    input: PathStream
    tests: tuple[tuple[int, Test], ...]


@dataclass(frozen=True, slots=True)
class DupElim:
    """Each combination of fields once; by a scan where the input is in their order, else by hashing."""

    input: PathStream | FieldSelection
    fields: tuple[int, ...]
    by: By


StreamPlan = PathStream | FieldSelection | DupElim


@dataclass(frozen=True, slots=True)
class WhereFilter:
    """The bindings that pass a test, by searching the tree below them."""

    input: BindingsPlan
    test: Test


@dataclass(frozen=True, slots=True)
class Semijoin:
    """The bindings that are in the binding field of a predicate path's stream."""

    left: BindingsPlan
    right: PathStream | FieldSelection
    field: int
    by: JoinBy
    claim: int | None = None


BindingsPlan = StreamPlan | WhereFilter | Semijoin


@dataclass(frozen=True, slots=True)
class SearchedList:
    """A list of a group, by searching the tree below the binding."""

    slot: Slot


@dataclass(frozen=True, slots=True)
class JoinedList:
    """A list of a group, from the stream of a return path; `field` is its binding field."""

    slot: Slot
    input: PathStream | DupElim
    field: int
    by: JoinBy
    claims: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class ReturnSelect:
    """A group for each binding. With a joined list among the lists it is the paper's OuterJoin-Select."""

    input: BindingsPlan
    lists: tuple[SearchedList | JoinedList, ...]
    claims: tuple[int, ...] = ()  # that the binding path's DupElim was removed by
