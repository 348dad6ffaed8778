"""FLWR queries in, their groups out, by plans that share what they can: the paper's PlanSharing (section 5).

Operators hand on *tpLists*: places of path-tuples, which whoever is next reads and nobody copies. A shared selection
has one for each pair of constants that the data meets; those of others are never made.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import repeat

import numpy as np

from weft.columns.integers import Ints, Longs, expand
from weft.documents.dtd import Dtd
from weft.documents.table import NodeTable
from weft.engine.messages.budget import Budget
from weft.engine.paths.bounds import Bounds
from weft.engine.profile import Profile
from weft.plans.flwr import Flwr
from weft.plans.plan import Constant, Path
from weft.reference.pathsharing.constants import ConstantIndex
from weft.reference.pathsharing.operators import JoinedList
from weft.reference.pathsharing.pathsharing import Column, PathSharing, PathSharingRun, Query
from weft.reference.pathsharing.search import TreeSearch
from weft.reference.pathsharing.shared_operators import (
    ConstantPair,
    JoinSignature,
    PredicateSignature,
    SelectionSignature,
    SharedOperators,
    SharedSelection,
)
from weft.reference.pathsharing.streams import Streams
from weft.reference.pathsharing.use_order import path_of

TpLists = dict[ConstantPair, list[int]]


class PlanSharing(PathSharing):
    """PathSharing-FWR whose plans are merged."""

    def __init__(
        self,
        dtd: Dtd | None = None,
        optimized: bool = True,
        bounds: Bounds | None = None,
        profile: Profile | None = None,
    ) -> None:
        super().__init__("PlanSharing", dtd, optimized, bounds, profile)
        self.operators = SharedOperators()

    def add(self, number: int, plan: Flwr) -> None:
        """Take a query in: its own plan first, which is merged with the others if it fits."""
        super().add(number, plan)
        self.operators.add(number, self.queries[number].physical)

    def remove(self, number: int) -> None:
        """Let a query go."""
        super().remove(number)
        self.operators.remove(number)

    def _run(self, table: NodeTable, streams: Streams, search: TreeSearch, budget: Budget) -> PathSharingRun:
        return PlanSharingRun(self.queries, streams, search, self.profile, budget, self.operators, table)


class PlanSharingRun(PathSharingRun):
    """One batch against all queries: shared operators once, then each query's outer join."""

    def __init__(
        self,
        queries: dict[int, Query],
        streams: Streams,
        search: TreeSearch,
        profile: Profile,
        budget: Budget,
        operators: SharedOperators,
        table: NodeTable,
    ) -> None:
        self._operators, self._nodes = operators, table.nodes
        self._group_bys: dict[tuple[object, ...], tuple[Longs, Ints]] = {}
        super().__init__(queries, streams, search, profile, budget)

    def _worked_out(self) -> Iterator[tuple[int, tuple[Ints, list[Column]]]]:
        for number, query in self._queries.items():
            if number not in self._operators:
                yield number, self._own(number, query)
        for signature, selections in self._operators.joins.items():
            some = next(iter(next(iter(next(iter(selections.values())).outputs.values()))))
            states = self._queries[some].states  # the same for all that share the join
            left, right = self._joined(signature, states)
            for selection_signature, selection in selections.items():
                rows = left[:, -1]
                for constants, tuples in self._selected(selection_signature, selection, left, right).items():
                    with self._profile("Selection"):
                        bound = _distinct_in_order(rows[tuples])
                    for number in selection.outputs[constants]:
                        yield number, self._grouped(number, self._queries[number], bound)

    # -- shared joins and selections

    def _joined(self, signature: JoinSignature, states: dict[Path, int]) -> tuple[Ints, Ints | None]:
        """The tuples of both inputs that have one binding, in the order of the left one; all fields are kept."""
        with self._profile("PME"):
            left = self._streams.tuples(states[signature.left], len(signature.left))
            if signature.right is None:
                return left, None
            right = self._streams.tuples(states[signature.right], len(signature.right))
        with self._profile("Join"):
            field = right[:, signature.field - 1]
            if signature.by == "hash":
                order = np.argsort(field, kind="stable")
                field, right = field[order], right[order]
            bound = left[:, -1]
            which, inside = expand(np.searchsorted(field, bound), np.searchsorted(field, bound, "right"))
            return left[which], right[inside]

    def _selected(
        self, signature: SelectionSignature, selection: SharedSelection, left: Ints, right: Ints | None
    ) -> TpLists:
        """The tpLists of a shared selection that some tuple is in."""
        if not len(left):
            return {}
        with self._profile("Selection"):
            passed = [
                self._passed(part, index, tuples)
                for part, index, tuples in zip(signature, selection.indexes, (left, right), strict=True)
            ]
            lists: TpLists = {}
            for at, ours, theirs in zip(range(len(left)), *passed, strict=False):
                for one in ours:
                    for other in theirs:
                        if (one, other) in selection.outputs:
                            lists.setdefault((one, other), []).append(at)
            return lists

    def _passed(
        self, signature: PredicateSignature | None, index: ConstantIndex | None, tuples: Ints | None
    ) -> Iterable[list[Constant | None]]:
        """For each tuple the constants of the predicates that it passes; each value is looked up once."""
        if signature is None or index is None or tuples is None:
            return repeat([None])
        nodes, place = np.unique(tuples[:, signature.level - 1], return_inverse=True)
        texts: list[str | None] = [None] * nodes.size
        if signature.attribute is None:
            texts = [*self._table.string_values(nodes)]
        else:
            origin, found = self._search.below((signature.attribute,), nodes)
            for at, value in zip(origin.tolist(), self._table.string_values(found), strict=True):
                texts[at] = value
        known: dict[str | None, list[Constant | None]] = {None: []}
        known |= {text: [*index.passed(text)] for text in set(texts) if text is not None}
        return [known[texts[at]] for at in place.tolist()]

    # -- shared grouping

    def _outer_joined(self, entry: JoinedList, query: Query, bound: Ints) -> Column:
        """The list of a return path at each binding: its groups are made once, whoever asks."""
        key = (query.states[path_of(entry.input)], entry.field, entry.by, type(entry.input))
        made = self._group_bys.get(key)
        if made is None:
            with self._profile("GroupBy"):
                field, nodes = self._pairs(entry, query)
                order = np.argsort(field, kind="stable") if entry.by == "hash" else np.arange(field.size)
                starts = np.searchsorted(field[order], np.arange(self._nodes + 1))
                made = self._group_bys[key] = starts, nodes[order]
        starts, nodes = made
        with self._profile("OuterJoin-Select"):
            return starts[bound], starts[bound + 1], nodes


def _distinct_in_order(rows: Ints) -> Ints:
    """DupElim by a scan: joins keep the order of their left input."""
    return np.asarray(rows[np.append(True, rows[1:] != rows[:-1])]) if rows.size else rows
