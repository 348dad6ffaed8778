"""A shared plan in, the same as arrays out: valid until the plan changes."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from weft.columns.integers import Flags, Ints
from weft.columns.ragged import Pairs, Ragged
from weft.engine.shared.comparisons import FAMILIES, Comparisons, Family, Reading
from weft.engine.shared.constants import TEXT_INDEXES, Constants, TextIndex
from weft.engine.shared.needed import needed_nodes
from weft.engine.shared.parts import parts_of
from weft.engine.shared.plan import NOTHING, NodeKind, SharedPlan
from weft.engine.shared.tables import make_tables
from weft.kernel.plan_tables import PlanTables

COMPARISONS = ("=", "!=", "<", "<=", ">", ">=")


class Work:
    """The bits of things to do at a state; those of comparisons come behind."""

    CONTEXT, TEXTS, EVERY, EAGER, NAMED = 1, 2, 4, 8, 16


def family_bit(family: Family) -> int:
    """The bit of a family of comparisons."""
    return 32 << FAMILIES.index(family)


class Frozen:
    """The shared plan as arrays; with `is_thorough` such that every node comes up, not only what drives a result."""

    def __init__(
        self,
        shared: SharedPlan,
        result_of_state: dict[int, int],
        result_of_node: dict[int, int],
        is_thorough: bool = False,
    ) -> None:
        self.shared = shared
        nodes, states = len(shared), len(shared.states)
        self.result_of_state = _scatter(result_of_state, states)
        self.result_of_node = _scatter(result_of_node, nodes)
        self._needed = np.ones(nodes, bool) if is_thorough else needed_nodes(shared, result_of_node)
        self.kind = np.array(shared.kind, np.int8)
        self.height = np.array(shared.height, np.int32)
        self.edge = np.array(shared.edge, np.int32)
        self.tallest = max(shared.height, default=-1)
        self.dependents = Ragged(self._only_needed(shared.dependents), nodes)
        self.every = Ragged(self._only_needed(shared.every), states)
        self.named = Ragged(self._only_needed(shared.named), states)
        edges = shared.edges
        eager = (node for node in shared.eager if self._needed[node])
        self.eager = Ragged(((edges.below[shared.edge[node]], node) for node in eager), states)
        self.checks = Ragged(self._checks(), nodes)
        self.down = self._down()
        self.ranks = self._ranks()
        self.edge_up = np.array(edges.up, np.int32)
        self.edge_length = np.array(list(map(len, edges.steps)), np.int32)
        self.edge_steps = Ragged(((at, step) for at, steps in enumerate(edges.steps) for step in steps), len(edges))
        self._index_tests()
        probed = (node for node, detail in self._of_kind(NodeKind.TEST) if cast(Any, detail)[0] in TEXT_INDEXES)
        self.is_probed = _marks(probed, nodes)
        self.is_context = _marks(shared.contexts, states)
        self.work = self._work(states)

    @cached_property
    def tables(self) -> PlanTables:
        """The same for the compiled evaluation."""
        return make_tables(self.shared, self.comparisons, self.result_of_node, self.dependents, self.edge_steps)

    def __getstate__(self) -> dict[str, object]:
        return {name: value for name, value in self.__dict__.items() if name != "tables"}

    def _only_needed(self, pairs: Pairs) -> Pairs:
        """The pairs whose right side is needed."""
        keep = self._needed[np.frombuffer(pairs.right, np.int32)] if len(pairs.right) else np.zeros(0, bool)
        if keep.all():
            return pairs
        kept = Pairs()
        kept.left = array("i", np.frombuffer(pairs.left, np.int32)[keep].tobytes())
        kept.right = array("i", np.frombuffer(pairs.right, np.int32)[keep].tobytes())
        return kept

    def _work(self, states: int) -> Ints:
        """For each state a bit for each kind of thing there is to do: most states have few, most label paths too."""
        work = np.where(self.is_context, Work.CONTEXT, 0).astype(np.int32)
        work |= np.where(_marks(self.texts, states), Work.TEXTS, 0).astype(np.int32)
        parts = [(Work.EVERY, self.every.starts), (Work.EAGER, self.eager.starts), (Work.NAMED, self.named.starts)]
        parts += [(family_bit(family), runs[0]) for family, runs in self.comparisons.families.items()]
        for bit, starts in parts:
            work[np.diff(starts) > 0] |= bit
        return work

    def _checks(self) -> Iterable[tuple[int, int]]:
        for node, detail in self._of_kind(NodeKind.AND):
            for check in cast(tuple[int, tuple[int, ...]], detail)[1]:
                yield node, check

    def _down(self) -> NDArray[np.int32]:
        """For DOWN nodes the parent, the test and whether the test drives."""
        table = np.zeros((len(self.shared), 3), np.int32)
        for node, detail in self._of_kind(NodeKind.DOWN):
            table[node] = cast(tuple[int, int, bool], detail)
        return table

    def _ranks(self) -> NDArray[np.float64]:
        """For RANK nodes the operator, as its place in COMPARISONS, and the number: NaN for the last."""
        table = np.zeros((len(self.shared), 2))
        for node, detail in self._of_kind(NodeKind.RANK):
            _, operator, number = cast(tuple[int, str, float | None], detail)
            table[node] = COMPARISONS.index(operator), np.nan if number is None else number
        return table

    def _index_tests(self) -> None:
        comparisons: list[tuple[int, int, Family, str | float]] = []
        texts: dict[tuple[int, str], Constants] = {}
        for node, detail in self._of_kind(NodeKind.TEST):
            operator, constant, reading = cast(tuple[str, str | float, int], detail)
            state = self.shared.state[node]
            if operator in TEXT_INDEXES:
                texts.setdefault((state, operator), []).append((str(constant), node))
            else:
                comparisons.append((node, state, (operator, Reading(reading)), constant))
        self.comparisons = Comparisons(comparisons, len(self.shared.states), self._needed)
        self.texts: dict[int, list[TextIndex]] = {}
        for (state, operator), constants in texts.items():
            self.texts.setdefault(state, []).append(TEXT_INDEXES[operator](constants))

    @cached_property
    def _users(self) -> Ragged:
        """For every node those that are made of it."""
        shared = self.shared
        return Ragged(((part, node) for node in range(len(shared)) for part in parts_of(shared, node)), len(shared))

    def depending_on(self, nodes: Iterable[int]) -> Flags:
        """Marks on some nodes and on all that are made of them, of these, and so on."""
        marks = np.zeros(len(self.shared), bool)
        fresh = np.fromiter(nodes, np.int32)
        while fresh.size:
            marks[fresh] = True
            fresh = np.unique(self._users.of(fresh)[1])
            fresh = fresh[~marks[fresh]]
        return marks

    def _of_kind(self, kind: NodeKind) -> Iterable[tuple[int, object]]:
        shared = self.shared
        return ((int(node), shared.detail[node]) for node in np.flatnonzero(self.kind == kind))


def _scatter(values: dict[int, int], size: int) -> Ints:
    array = np.full(size, NOTHING, np.int32)
    array[list(values)] = list(values.values())
    return array


def _marks(places: Iterable[int], size: int) -> Flags:
    marks = np.zeros(size, bool)
    marks[list(places)] = True
    return marks
