"""A label path in, all that the shared plan has to do at its nodes out; made once, when the label path is first seen."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from weft.automaton.labels import Bounds, LabelPaths
from weft.automaton.states import name_forms
from weft.documents.table import NodeTable
from weft.engine.constants import Index, make_index
from weft.engine.shared import NOTHING, SharedPlan
from weft.plans.plan import Label, Operator, Unlike

Ints = NDArray[np.int32]
_NONE = np.zeros(0, np.int32)


@dataclass(slots=True)
class LabelPlan:
    """What there is to do at the nodes of a label path."""

    results: Ints = field(default_factory=lambda: _NONE)  # results that these nodes are, by their path alone
    facts: Ints = field(default_factory=lambda: _NONE)  # nodes of the shared plan that hold here, by the name alone
    every: Ints = field(default_factory=lambda: _NONE)  # nodes that are brought up here
    exists: Ints = field(default_factory=lambda: _NONE)  # eager EXISTS nodes whose edge ends here
    edges: Ints = field(default_factory=lambda: _NONE)  # edges that end here
    linked: Ints = field(default_factory=lambda: _NONE)
    tests: tuple[Index, ...] = ()
    contexts: frozenset[int] = frozenset()  # states above deep edges that are reached here
    depths: dict[int, Ints] = field(default_factory=dict)  # where deep edges that end here can begin

    @property
    def has_work(self) -> bool:
        """Whether there is anything to do but to report results."""
        return bool(self.tests or self.facts.size or self.every.size or self.exists.size or self.linked.size)


class Frozen:
    """The shared plan as arrays, from when it last changed until it changes next."""

    def __init__(self, shared: SharedPlan, result_of_state: dict[int, int], result_of_node: dict[int, int]) -> None:
        self.shared = shared
        self.result_of_state = _scatter(result_of_state, len(shared.states))
        self.result_of_node = _scatter(result_of_node, len(shared))
        self.kind = np.array(shared.kind, np.int8)
        self.height = np.array(shared.height, np.int32)
        self.edge = np.array(shared.edge, np.int32)
        self.edge_up = np.array([edge.up for edge in shared.edges], np.int32)
        self.tallest = max(shared.height, default=-1)
        self.dependent_starts, self.dependents = _ragged(shared.dependents, len(shared))
        places = (shared.tests_at, shared.named_at, shared.every_at, shared.edges_at, shared.linked_at)
        self.is_busy = np.zeros(len(shared.states), bool)
        self.is_busy[list({*chain.from_iterable(places), *shared.contexts})] = True
        self.eager_at: dict[int, list[int]] = {}
        for node in shared.eager:
            self.eager_at.setdefault(shared.edges[shared.edge[node]].below, []).append(node)


def _scatter(values: dict[int, int], size: int) -> Ints:
    array = np.full(size, NOTHING, np.int32)
    array[list(values)] = list(values.values())
    return array


def _ragged(lists: dict[int, list[int]], size: int) -> tuple[NDArray[np.int64], Ints]:
    counts = np.zeros(size + 1, np.int64)
    for key, entries in lists.items():
        counts[key + 1] = len(entries)
    flat = np.fromiter(chain.from_iterable(lists[key] for key in sorted(lists)), np.int32)
    return np.cumsum(counts), flat


class LabelPlans:
    """The label paths of a shared plan with their label plans."""

    def __init__(self, shared: SharedPlan, bounds: Bounds | None) -> None:
        self._shared = shared
        self._frozen: Frozen | None = None
        self.paths: LabelPaths[LabelPlan] = LabelPaths(shared.states, self._make, bounds)

    def freeze(self, frozen: Frozen) -> None:
        """Begin anew with a changed plan."""
        self._frozen = frozen
        self.paths.clear()

    def labels(self, table: NodeTable) -> Ints:
        """The label path of every node."""
        return self.paths.of(table)

    def _make(self, path: int, reached: Ints) -> tuple[LabelPlan, int]:
        frozen = self._frozen
        if frozen is None or path == 0:
            return LabelPlan(), 0
        results = frozen.result_of_state[reached]
        plan = LabelPlan(results=results[results >= 0])
        busy = reached[frozen.is_busy[reached]].tolist()
        size = plan.results.size
        if busy:
            size += self._fill(plan, busy, self.paths.names[self.paths.name[path]])
        return plan, size

    def _fill(self, plan: LabelPlan, states: list[int], name: str) -> int:
        shared, frozen = self._shared, self._frozen
        assert frozen is not None
        plan.every = _gather(shared.every_at, states)
        plan.edges = _gather(shared.edges_at, states)
        plan.linked = _gather(shared.linked_at, states)
        plan.exists = _gather(frozen.eager_at, states)
        plan.contexts = frozenset(shared.contexts.intersection(states))
        named = [entry for state in states if state in shared.named_at for entry in shared.named_at[state]]
        plan.facts = np.array([node for label, node in named if passes(label, name)], np.int32)
        constants: dict[tuple[str, bool], list[tuple[str | float, int]]] = {}
        for state in states:
            if state in shared.tests_at:
                for key, entries in shared.tests_at[state].items():
                    constants.setdefault(key, []).extend(entries)
        plan.tests = tuple(_index(key, entries) for key, entries in constants.items())
        return plan.every.size + plan.edges.size + 8 * sum(map(len, constants.values()))

    def depths(self, path: int, edge: int) -> Ints:
        """The depths at which a deep edge that ends at a label path can begin."""
        plan = self.paths.plans[path]
        depths = plan.depths.get(edge)
        if depths is None:
            depths = plan.depths[edge] = self._find_depths(path, edge)
        return depths

    def _find_depths(self, path: int, edge: int) -> Ints:
        """Back over the names, step by step: where can the step before have been?"""
        paths, states = self.paths, self._shared.states
        above, steps = self._shared.edges[edge].above, self._shared.edges[edge].steps
        chain_ = [0, *paths.chain(path)]
        names = [paths.names[paths.name[at]] for at in chain_]
        can = np.zeros(len(chain_), bool)
        can[-1] = True
        for at in range(len(steps) - 1, -1, -1):
            before = np.zeros_like(can)
            if steps[at][1]:
                before[: int(np.flatnonzero(can)[-1]) if can.any() else 0] = True
            else:
                before[:-1] = can[1:]
            if at and (symbol := steps[at - 1][0]) != NOTHING:
                before &= [name != "" and symbol in states.symbols_of(name) for name in names]
            can = before
        candidates = np.flatnonzero(can).tolist()
        return np.array([at for at in candidates if above in paths.plans[chain_[at]].contexts], np.int32)


def _gather(at: dict[int, list[int]], states: list[int]) -> Ints:
    return np.array([node for state in states if state in at for node in at[state]], np.int32)


def _index(key: tuple[str, bool], constants: list[tuple[str | float, int]]) -> Index:
    operator: Operator = key[0]  # type: ignore[assignment]
    return make_index(operator, key[1], constants)


def passes(label: Label, name: str) -> bool:
    """Whether an element's name passes a label test."""
    if isinstance(label, Unlike):
        return not any(passes(unlike, name) for unlike in label.labels)
    return label == "*" or label in name_forms(name)
