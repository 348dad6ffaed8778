"""FLWR queries in, their groups out, each by its own plan of the paper's operators: PathSharing-F, -FW and -FWR.

Only the path matching is shared. This is how the paper begins, what the shared plan is measured against, and a second
way to every message that the first must agree with.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import cast

import numpy as np

from weft.columns.integers import Flags, Ints, Longs, as_lists, contains
from weft.documents.document import Limits, is_in_stream
from weft.documents.dtd import Dtd
from weft.documents.table import NodeTable
from weft.engine.evaluation.booleans import passing
from weft.engine.evaluation.navigate import Navigation
from weft.engine.messages.budget import Budget
from weft.engine.messages.factory import Factory
from weft.engine.paths.bounds import Bounds
from weft.engine.profile import Profile
from weft.engine.shared.frozen import Frozen
from weft.engine.shared.plan import SharedPlan
from weft.engine.shared.results import Results
from weft.plans.flwr import Flwr
from weft.plans.plan import On, Step, Test
from weft.plans.recipe import Recipe, make_recipe
from weft.plans.walk import paths_in, walk
from weft.reference.pathsharing.approaches import whole_path
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
from weft.reference.pathsharing.optimize import Approach, canonical_paths, improve, plan_by
from weft.reference.pathsharing.search import TreeSearch
from weft.reference.pathsharing.streams import PathMatcher, Streams

#: Where each list of each group starts and ends among some nodes.
Column = tuple[Longs, Longs, Ints]


@dataclass(frozen=True, slots=True)
class Query:
    """A FLWR query with its own plan."""

    plan: Flwr
    physical: ReturnSelect
    recipe: Recipe
    states: dict[tuple[Step, ...], int]  # of the paths that are in the path matching engine


class PathSharing:
    """FLWR queries that share path matching and nothing else."""

    def __init__(
        self,
        approach: Approach,
        dtd: Dtd | None = None,
        optimized: bool = True,
        bounds: Bounds | None = None,
        profile: Profile | None = None,
    ) -> None:
        self.approach, self._dtd, self._optimized = approach, dtd, optimized
        self._shared = SharedPlan()
        self.matcher = PathMatcher(self._shared.states, bounds)
        self.queries: dict[int, Query] = {}
        self.profile = profile or Profile()
        self._frozen: Frozen | None = None

    def add(self, number: int, plan: Flwr) -> None:
        """Take a query in."""
        plan = canonical_paths(plan, self._dtd) if self._optimized else plan
        physical = plan_by(self.approach, plan)
        physical = improve(physical, self._dtd) if self._optimized else physical
        states = {part.path: self.matcher.add(part.path) for part in walk(physical) if isinstance(part, PathStream)}
        for path in paths_in((plan, physical)):
            self._shared.add_walk(path)
            self._shared.add_walk((replace(path[-1], deep=False),))  # for positions
        self.queries[number] = Query(plan, physical, make_recipe(plan)[0], states)
        self._frozen = None

    def remove(self, number: int) -> None:
        """Let a query go; its paths stay."""
        del self.queries[number]

    def match(self, table: NodeTable, budget: Budget | None = None) -> PathSharingRun:
        """Answer a batch. Whatever ends it too soon leaves no half-made label path: the next one begins anew."""
        if self._frozen is None:
            self._frozen = Frozen(self._shared, Results())
        mark = len(self.matcher.labels)
        try:
            with self.profile("PME"):
                streams = Streams(table, self.matcher)
            navigation = Navigation(table, streams.labels, None, self._frozen)
            search = TreeSearch(table, navigation, self._shared)
            run = self._run(table, streams, search, budget or Budget(table, Limits()))
        except BaseException:
            self.matcher.labels.clear()
            raise
        self.matcher.labels.finish_batch(mark)
        return run

    def _run(self, _: NodeTable, streams: Streams, search: TreeSearch, budget: Budget) -> PathSharingRun:
        return PathSharingRun(self.queries, streams, search, self.profile, budget)


class PathSharingRun:
    """One batch against all queries, one after the other."""

    def __init__(
        self, queries: dict[int, Query], streams: Streams, search: TreeSearch, profile: Profile, budget: Budget
    ) -> None:
        self._streams, self._search, self._profile, self._budget = streams, search, profile, budget
        self._table = streams.table
        self._queries = queries
        self.groups = {number: made for number, made in self._worked_out() if len(made[0])}

    def subscriptions(self) -> list[Ints]:
        """For each document the queries that have a message for it, in the order in which they came."""
        matched: list[list[int]] = [[] for _ in self._table.documents]
        for number, (found, _) in self.groups.items():
            for document in np.unique(self._table.node_document[found[:, 0]]).tolist():
                if self._is_in_stream(document, number):
                    matched[document].append(number)
        return [np.array(sorted(numbers), np.int32) for numbers in matched]

    def _is_in_stream(self, document: int, number: int) -> bool:
        return is_in_stream(self._table.documents[document], self._queries[number].plan.stream)

    def messages(self) -> Iterator[tuple[int, int, str]]:
        """(document, query, message)."""
        factory = Factory(self._table, self._budget)
        for number, (found, columns) in self.groups.items():
            query = self._queries[number]
            lists = [as_lists(*column) for column in columns]
            document = self._table.node_document[found[:, 0]]
            for at in np.unique(document).tolist():
                if not self._is_in_stream(at, number):
                    continue
                here = np.flatnonzero(document == at).tolist()
                groups = [[column[row] for column in lists] for row in here]
                entries = sum(len(each) for group in groups for each in group)
                message = factory.make(at, number, query.recipe, groups, entries)
                if message is not None:
                    yield at, number, message

    # -- the operators

    def _worked_out(self) -> Iterator[tuple[int, tuple[Ints, list[Column]]]]:
        """The groups of each query: its bindings, and a column for each list."""
        for number, query in self._queries.items():
            yield number, self._own(number, query)

    def _own(self, number: int, query: Query) -> tuple[Ints, list[Column]]:
        """The groups of a query by its own plan."""
        return self._grouped(number, query, self._bindings(query.physical.input, query))

    def _grouped(self, number: int, query: Query, rows: Ints) -> tuple[Ints, list[Column]]:
        """The groups of a query from what its first variable binds."""
        found = self._within(number, self._tuples(query, rows)) if rows.size else rows[:, None]
        if not len(found):
            return found, []
        name = "OuterJoin-Select" if any(isinstance(e, JoinedList) for e in query.physical.lists) else "Return-Select"
        columns = []
        for entry in query.physical.lists:
            bound = found[:, entry.slot.variable]
            if isinstance(entry, SearchedList):
                with self._profile(name):
                    columns.append(self._searched(entry, bound))
                continue
            columns.append(self._outer_joined(entry, query, bound))
        return found, columns

    def _outer_joined(self, entry: JoinedList, query: Query, bound: Ints) -> Column:
        """The list of a return path at each binding."""
        with self._profile("DupElim"):
            pairs = self._pairs(entry, query)
        with self._profile("OuterJoin-Select"):
            return _outer_join(bound, *pairs, entry.by)

    def _within(self, number: int, found: Ints) -> Ints:
        """The bindings, without those of documents that have too many."""
        document, most = self._table.node_document[found[:, 0]], self._budget.limits.max_messages
        counts = np.bincount(document)
        for at in np.flatnonzero(counts > most).tolist():
            self._budget.refuse_many(at, number, int(counts[at]))
        return np.asarray(found[counts[document] <= most]) if (counts > most).any() else found

    def _bindings(self, plan: BindingsPlan, query: Query) -> Ints:
        """The binding field of what the operators leave, in document order."""
        match plan:
            case WhereFilter(inner, test):
                rows = self._bindings(inner, query)
                with self._profile("Where-Filter"):
                    return rows[self._search.passes(test, rows, _last_step(query))] if rows.size else rows
            case Semijoin(left, right, field, by):
                rows = self._bindings(left, query)
                if not rows.size:
                    return rows
                tuples = self._tuples_of(right, query)
                with self._profile("Semijoin"):
                    return rows[_semijoin(rows, tuples[:, field - 1], by)]
            case DupElim(inner, fields, by):
                tuples = self._tuples_of(inner, query)
                with self._profile("DupElim"):
                    return _distinct(tuples, fields, by)[:, -1]
            case _:
                return self._tuples_of(plan, query)[:, -1]

    def _tuples_of(self, plan: PathStream | FieldSelection, query: Query) -> Ints:
        if isinstance(plan, PathStream):
            with self._profile("PME"):
                return self._streams.tuples(query.states[plan.path], len(plan.path))
        tuples = self._tuples_of(plan.input, query)
        with self._profile("Selection"):
            for field, test in plan.tests:
                keep = self._search.passes(test, tuples[:, field - 1], plan.input.path[field - 1])
                tuples = tuples[keep]
        return tuples

    def _pairs(self, entry: JoinedList, query: Query) -> tuple[Ints, Ints]:
        source = entry.input
        stream = source if isinstance(source, PathStream) else cast(PathStream, source.input)
        tuples = self._tuples_of(stream, query)
        if isinstance(source, DupElim):
            tuples = _distinct(tuples, source.fields, source.by)
        return tuples[:, entry.field - 1], tuples[:, -1]

    def _searched(self, entry: SearchedList, bound: Ints) -> Column:
        origin, nodes = self._search.follow(entry.slot.links, bound)
        starts = np.searchsorted(origin, np.arange(bound.size + 1))
        return starts[:-1], starts[1:], nodes

    def _tuples(self, query: Query, rows: Ints) -> Ints:
        """The bindings of the other variables, by searching the tree, and what the where clause asks of several."""
        found = rows[:, None]
        for variable in query.plan.variables[1:]:
            origin, nodes = self._search.follow(variable.links, found[:, cast(int, variable.source)])
            if variable.where is not None:
                keep = self._search.passes(variable.where, nodes, variable.links[-1].path[-1])
                origin, nodes = origin[keep], nodes[keep]
            found = np.column_stack([found[origin], nodes])
        if query.plan.where is None:
            return found

        def holds(test: Test) -> Flags:
            """A test on one variable."""
            assert isinstance(test, On)
            step = query.plan.variables[test.variable].links[-1].path[-1]
            return self._search.passes(test.test, found[:, test.variable], step)

        return np.asarray(found[passing(query.plan.where, len(found), holds)])


def _last_step(query: Query) -> Step:
    return whole_path(query.plan.variables[0].links)[-1]


def _distinct(tuples: Ints, fields: tuple[int, ...], by: str) -> Ints:
    """Each combination of the fields once, in the order in which they come."""
    if not len(tuples):
        return tuples
    columns = tuples[:, [field - 1 for field in fields]]
    if by == "scan":
        is_new = np.append(True, np.any(columns[1:] != columns[:-1], axis=1))
        return np.asarray(tuples[is_new])
    width = np.int64(columns.max()) + 1
    keys = columns[:, 0] if len(fields) == 1 else columns[:, 0] * width + columns[:, 1]
    first = np.unique(keys, return_index=True)[1]
    return np.asarray(tuples[np.sort(first)])


def _semijoin(rows: Ints, field: Ints, by: str) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    if by == "merge":  # both are in order
        return contains(field.astype(np.int64), rows.astype(np.int64))
    return np.isin(rows, field)


def _outer_join(bound: Ints, field: Ints, nodes: Ints, by: str) -> Column:
    if by == "hash":
        order = np.argsort(field, kind="stable")
        field, nodes = field[order], nodes[order]
    return np.searchsorted(field, bound), np.searchsorted(field, bound, "right"), nodes
