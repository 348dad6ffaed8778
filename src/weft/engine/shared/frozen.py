"""A shared plan in, the same as arrays out: valid until the plan changes."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

import numpy as np

from weft.columns.integers import Flags, Ints, Longs
from weft.columns.ragged import Ragged
from weft.engine.paths.step_codes import symbols_of_codes
from weft.engine.shared.closure import closure
from weft.engine.shared.comparisons import FAMILIES, Comparisons, Family, Reading
from weft.engine.shared.constants import TEXT_INDEXES, Constants, TextIndex
from weft.engine.shared.edges import FrozenEdges
from weft.engine.shared.nodes import COMPARISONS, NOTHING, OPERATORS, NodeKind
from weft.engine.shared.parts import driver_pairs, part_pairs
from weft.engine.shared.plan import SharedPlan
from weft.engine.shared.results import Results
from weft.engine.shared.tables import make_tables, part_columns
from weft.engine.shared.text_parts import NO_PARTS, find_parts
from weft.kernel.plan_tables import PlanTables
from weft.plans.plan import Constant


class Frozen:
    """The shared plan as arrays; with `is_thorough` such that every node comes up, not only what drives a result."""

    def __init__(self, shared: SharedPlan, results: Results, is_thorough: bool = False) -> None:
        self.shared = shared
        nodes, states = len(shared), len(shared.states)
        self.result_of_state = results.by_state(states)
        self.result_of_node, self.results = results.by_node(nodes), len(results.node)
        self.kind = np.array(shared.nodes.kind, np.int8)
        self.height = np.array(shared.nodes.height, np.int32)
        self.edge = np.array(shared.nodes.edge, np.int32)
        self.tallest = int(self.height.max(initial=-1))
        self.edges = FrozenEdges(shared.edges, shared.states)
        self.columns = part_columns(shared)
        node, driver = driver_pairs(shared)
        self._needed = np.ones(nodes, bool)
        if not is_thorough:
            self._needed = closure(Ragged(node, driver, nodes), _places(self.result_of_node >= 0), nodes)
        self.dependents = Ragged(driver[self._needed[node]], node[self._needed[node]], nodes)
        self._bring_up(np.array(shared.nodes.state, np.int32), states)
        self.parts = NO_PARTS if is_thorough else find_parts(shared)
        self._index_tests()
        self.is_context = np.zeros(states, bool)
        self.is_context[self.edges.contexts()] = True
        self.is_busy = self._is_busy()

    def _bring_up(self, state: Ints, states: int) -> None:
        """What label paths bring up, by state: what nothing drives, name tests, and paths that drive."""
        is_alone = np.isin(self.kind, (NodeKind.AND, NodeKind.RANK)) & (self.columns.child == NOTHING)
        every = _places(self._needed & (is_alone | (self.kind == NodeKind.LINKED)))
        self.every = Ragged(state[every], every, states)
        named = _places(self._needed & (self.kind == NodeKind.NAMED))
        self.named = Ragged(state[named], named, states)
        drives = np.diff(self.dependents.starts) > 0
        eager = _places((self.kind == NodeKind.EXISTS) & (drives | (self.result_of_node >= 0)))
        self.eager = Ragged(self.edges.below[self.edge[eager]], eager, states)

    @cached_property
    def tables(self) -> PlanTables:
        """The same for the compiled evaluation."""
        symbol = symbols_of_codes(np.array(self.shared.states.step, np.int32))
        dependents = self.dependents.starts, self.dependents.entries
        results = self.result_of_node, self.results
        return make_tables(
            self.shared, self.columns, self.edges, symbol, self.comparisons, self.parts, results, dependents
        )

    def __getstate__(self) -> dict[str, object]:
        return {name: value for name, value in self.__dict__.items() if name not in ("tables", "_users")}

    def _is_busy(self) -> Flags:
        """The states that there is something to do at."""
        starts = [self.every.starts, self.eager.starts, self.named.starts, self.machine_start]
        starts += [each[0] for each in self.comparisons.families.values()]
        busy = self.is_context.copy()
        busy[self.part_of_state[0]] = True
        for each in starts:
            busy |= np.diff(each) > 0
        busy[np.array(self.shared.nodes.state, np.int32)[self.result_of_node >= 0]] = True
        return busy

    def _index_tests(self) -> None:
        """Comparisons, and the tests that machines of Python's probe, whether anything is driven by them or not.

        These are regular expressions and, where this is thorough, all tests on parts of texts.
        """
        tests, shared = self.shared.tests, self.shared
        constants, state = tests.constants(), shared.nodes.state
        comparisons: list[tuple[int, int, Family, Constant]] = []
        probed: dict[tuple[int, int], Constants] = {}
        rows = zip(tests.node, tests.operator, tests.reading, tests.constant, strict=True)
        is_part = np.zeros(len(shared), bool)
        is_part[self.parts.tests] = True
        for node, operator, reading, constant in rows:
            if is_part[node]:
                continue
            if operator >= len(COMPARISONS):
                probed.setdefault((state[node], operator), []).append((str(constants[Reading.TEXT][constant]), node))
            else:
                family = FAMILIES[reading * len(COMPARISONS) + operator]
                comparisons.append((node, state[node], family, constants[family[1]][constant]))
        self.comparisons = Comparisons(comparisons, len(shared.states), self._needed)
        ordered = sorted(probed.items())
        self.machines: list[TextIndex] = [TEXT_INDEXES[OPERATORS[operator]](each) for (_, operator), each in ordered]
        of_state = np.array([at for (at, _), _ in ordered], np.int64)
        self.machine_start: Longs = np.searchsorted(of_state, np.arange(len(shared.states) + 1))
        self.is_probed = np.zeros(len(shared), bool)
        is_probed = np.array(tests.operator, np.int8) >= len(COMPARISONS)
        self.is_probed[np.array(tests.node, np.int32)[is_probed]] = True
        self.is_probed &= ~is_part
        self.part_of_state = self._part_of_state()

    def _part_of_state(self) -> tuple[Ints, Ints, Ints]:
        """(state, code, test) of the tests on parts of texts that drive something."""
        needed = self._needed[self.parts.tests]
        tests = self.parts.tests[needed]
        return np.array(self.shared.nodes.state, np.int32)[tests], self.parts.codes[needed], tests

    @cached_property
    def _users(self) -> Ragged:
        """For every node those that are made of it."""
        node, part = part_pairs(self.shared)
        return Ragged(part, node, len(self.shared))

    def depending_on(self, nodes: Iterable[int]) -> Flags:
        """Marks on some nodes and on all that are made of them, of these, and so on."""
        return closure(self._users, np.fromiter(nodes, np.int32), len(self.shared))


def _places(marks: Flags) -> Ints:
    return np.flatnonzero(marks).astype(np.int32)
