"""A label path in, all that the shared plan has to do at its nodes out; made when the label path is first seen."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from dataclasses import dataclass, field
from typing import cast

import numpy as np

from weft.columns.integers import Ints
from weft.documents.table import NodeTable
from weft.engine.paths.labels import Bounds, LabelPaths
from weft.engine.shared.comparisons import ConstantRun, Family
from weft.engine.shared.constants import TextIndex
from weft.engine.shared.edges import decode_step
from weft.engine.shared.frozen import Frozen, Work, family_bit
from weft.engine.shared.plan import NOTHING, SharedPlan
from weft.plans.names import passes
from weft.plans.plan import Label

_NONE = np.zeros(0, np.int32)


@dataclass(slots=True)
class LabelPlan:
    """What there is to do at the nodes of a label path."""

    nodes: Ints = field(default_factory=lambda: _NONE)  # nodes of the shared plan that are brought up here
    comparisons: dict[Family, ConstantRun] = field(default_factory=dict)
    texts: tuple[TextIndex, ...] = ()
    contexts: array[int] = field(default_factory=lambda: array("i"))  # states above deep edges reached here, sorted
    depths: dict[int, Ints] = field(default_factory=dict)  # where deep edges that end here can begin

    @property
    def has_tests(self) -> bool:
        """Whether values matter."""
        return bool(self.comparisons or self.texts)

    def tests(self) -> Ints:
        """The tests on values."""
        runs = [run.tests for run in self.comparisons.values()]
        return np.concatenate([_NONE, *runs, *(np.array(index.tests, np.int32) for index in self.texts)])

    @property
    def size(self) -> int:
        """How many numbers it holds, about."""
        runs = sum(2 * run.codes.size for run in self.comparisons.values())
        return self.nodes.size + len(self.contexts) + runs + 32 * len(self.comparisons)


class LabelPlans:
    """The label paths of a shared plan with their label plans."""

    def __init__(self, shared: SharedPlan, bounds: Bounds | None) -> None:
        self._shared = shared
        self._frozen: Frozen | None = None
        self.paths: LabelPaths[LabelPlan] = LabelPaths(shared.states, self._make, bounds)

    def freeze(self, frozen: Frozen) -> None:
        """Begin anew with a changed plan."""
        self._frozen = frozen
        self.paths.clear(frozen.result_of_state, int(frozen.result_of_state.max(initial=-1)) + 1)

    def labels(self, table: NodeTable) -> Ints:
        """The label path of every node."""
        return self.paths.of(table)

    def _make(self, path: int, reached: Ints) -> tuple[LabelPlan, int]:
        frozen = self._frozen
        if frozen is None or not reached.size:
            return LabelPlan(), 0
        plan = LabelPlan()
        work = frozen.work[reached]
        if (bits := int(np.bitwise_or.reduce(work))) != 0:
            self._fill(plan, reached[work != 0], bits, frozen, self.paths.name_of(path))
        return plan, plan.size

    def _fill(self, plan: LabelPlan, states: Ints, bits: int, frozen: Frozen, name: str) -> None:
        nodes = []
        if bits & Work.NAMED:
            named = frozen.named.of(states)[1]
            labels = [cast(Label, self._shared.detail[node]) for node in named.tolist()]
            nodes.append(named[np.array([passes(label, name) for label in labels], bool)])
        if bits & Work.EVERY:
            nodes.append(frozen.every.of(states)[1])
        if bits & Work.EAGER:
            nodes.append(frozen.eager.of(states)[1])
        if nodes:
            plan.nodes = np.concatenate(nodes)
        families = [family for family in frozen.comparisons.families if bits & family_bit(family)]
        plan.comparisons = frozen.comparisons.runs(states, families)
        if bits & Work.TEXTS:
            plan.texts = tuple(index for state in states.tolist() for index in frozen.texts.get(state, ()))
        if bits & Work.CONTEXT:
            plan.contexts = array("i", np.sort(states[frozen.is_context[states]]).tolist())

    def depths(self, path: int, edge: int) -> Ints:
        """The depths at which a deep edge that ends at a label path can begin."""
        plan = self.paths.plans[path]
        depths = plan.depths.get(edge)
        if depths is None:
            depths = plan.depths[edge] = self._find_depths(path, edge)
            self.paths.grow(path, depths.size + 16)
        return depths

    def can_begin(self, path: int, edge: int) -> bool:
        """Whether a deep edge can begin at the nodes of a label path, whatever is below them."""
        return _has(self.paths.plans[path].contexts, self._shared.edges.above[edge])

    def _find_depths(self, path: int, edge: int) -> Ints:
        """Back over the names, step by step: where can the step before have been?"""
        paths, states = self.paths, self._shared.states
        above = self._shared.edges.above[edge]
        steps = [decode_step(code) for code in self._shared.edges.steps[edge]]
        chain = [0, *paths.chain(path)]
        names = ["" if not at else paths.name_of(at) for at in chain]
        can = np.zeros(len(chain), bool)
        can[-1] = True
        for at in range(len(steps) - 1, -1, -1):
            before = np.zeros_like(can)
            if steps[at][2]:
                before[: int(np.flatnonzero(can)[-1]) if can.any() else 0] = True
            else:
                before[:-1] = can[1:]
            if at and (symbol := steps[at - 1][0]) != NOTHING:
                before &= [name != "" and symbol in states.symbols_of(name) for name in names]
            can = before
        candidates = np.flatnonzero(can).tolist()
        return np.array([at for at in candidates if _has(paths.plans[chain[at]].contexts, above)], np.int32)


def _has(entries: array[int], entry: int) -> bool:
    at = bisect_left(entries, entry)
    return at < len(entries) and entries[at] == entry
