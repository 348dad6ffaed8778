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
Join = Literal["merge", "hash"]


@dataclass(frozen=True, slots=True)
class Stream:
    """The path-tuples that match a path, from the path matching engine."""

    path: Path


@dataclass(frozen=True, slots=True)
class Selection:
    """The tuples whose nodes in these fields pass the tests."""

    input: Stream
    tests: tuple[tuple[int, Test], ...]


@dataclass(frozen=True, slots=True)
class DupElim:
    """Each combination of fields once; by a scan where the input is in their order, else by hashing."""

    input: Stream | Selection
    fields: tuple[int, ...]
    by: By


Source = Stream | Selection | DupElim


@dataclass(frozen=True, slots=True)
class WhereFilter:
    """The bindings that pass a test, by searching the tree below them."""

    input: Bindings
    test: Test


@dataclass(frozen=True, slots=True)
class Semijoin:
    """The bindings that are in the binding field of a predicate path's stream."""

    left: Bindings
    right: Stream | Selection
    field: int
    by: Join
    claim: int | None = None


Bindings = Source | WhereFilter | Semijoin


@dataclass(frozen=True, slots=True)
class SearchedList:
    """A list of a group, by searching the tree below the binding."""

    slot: Slot


@dataclass(frozen=True, slots=True)
class JoinedList:
    """A list of a group, from the stream of a return path; `field` is its binding field."""

    slot: Slot
    input: Stream | DupElim
    field: int
    by: Join
    claims: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class ReturnSelect:
    """A group for each binding. With a joined list among the lists it is the paper's OuterJoin-Select."""

    input: Bindings
    lists: tuple[SearchedList | JoinedList, ...]
    claims: tuple[int, ...] = ()  # that the binding path's DupElim was removed by
