"""A shared plan in, the same as arrays out: valid until the plan changes."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator

import numpy as np

from weft.columns.integers import Flags, Ints, Longs
from weft.columns.kept import kept_property
from weft.columns.ragged import Ragged
from weft.columns.steps import finished
from weft.engine.access import Access, can_be_in, fixed_access
from weft.engine.formulas.batch_formulas import Works
from weft.engine.formulas.derived_index import DerivedIndex, derived_indexes
from weft.engine.paths.step_codes import symbols_of_codes
from weft.engine.shared.closure import closure, spread
from weft.engine.shared.comparisons import NO_COMPARISONS, Comparisons, TestColumns
from weft.engine.shared.constants import TEXT_INDEXES, TextIndex
from weft.engine.shared.edges import FrozenEdges
from weft.engine.shared.nodes import COMPARISONS, NOTHING, OPERATORS, NodeKind
from weft.engine.shared.parts import driver_pairs, part_pairs
from weft.engine.shared.plan import SharedPlan
from weft.engine.shared.results import Results
from weft.engine.shared.tables import Small, make_tables, part_columns
from weft.engine.shared.text_parts import NO_PARTS, find_parts
from weft.kernel.plan_tables import PlanTables
from weft.kernel.tables import put_in_runs, starts_of_runs

#: Machines of Python's that look at values, each with the state at whose rows it does.
Machines = list[tuple[int, TextIndex | DerivedIndex]]
_STRETCH = 1 << 16  # pairs that are put in order in a step: a millisecond

_MOST_BEGINNING = 64  # nested paths that come up where they begin: beyond that only where they end, which few reach


class Frozen:
    """The shared plan as arrays; with `is_thorough` such that every node comes up, not only what drives a result."""

    def __init__(
        self, shared: SharedPlan, results: Results, is_thorough: bool = False, access: Access | None = None
    ) -> None:
        self.shared = shared
        finished(self._make(results, is_thorough, access))

    @classmethod
    def in_steps(
        cls, shared: SharedPlan, results: Results, access: Access | None = None
    ) -> Generator[None, None, Frozen]:
        """The same in steps, between which the plan must not change; with an access that was chosen for it."""
        frozen = cls.__new__(cls)
        frozen.shared = shared
        yield from frozen._make(results, False, access)
        if frozen.tallest >= 0:
            frozen.tables = yield from frozen._make_tables()
        return frozen

    # Long: one line for each thing that is made.
    def _make(self, results: Results, is_thorough: bool, access: Access | None) -> Generator[None, None, None]:
        shared = self.shared
        self.is_thorough = is_thorough
        nodes, states = len(shared), len(shared.states)
        self.result_of_state = results.by_state(states)
        self.result_of_node, self.results = results.by_node(nodes), len(results.node)
        yield
        self.kind = np.array(shared.nodes.kind, np.int8)
        height = np.array(shared.nodes.height, np.int32)
        self.edge = np.array(shared.nodes.edge, np.int32)
        self.tallest = int(height.max(initial=-1))
        if is_thorough:
            self.height = height
        yield
        self.edges = yield from FrozenEdges.in_steps(shared.edges, shared.states)
        self.access = fixed_access(shared) if access is None else access.of(shared)
        if access is not None:
            self.access.is_in[~can_be_in(shared, self.result_of_node >= 0)] = False
        yield
        self.columns = yield from part_columns(shared, self.access)
        yield
        node, driver = driver_pairs(shared, self.access.driver)
        yield
        self.is_needed = np.ones(nodes, bool)
        if not is_thorough:
            self.is_needed = yield from spread((self.result_of_node >= 0) | self.access.is_in, node, driver)
        is_needed = self.is_needed[node]
        node, driver = node[is_needed], driver[is_needed]
        yield
        self.dependents = yield from _runs(driver, node, nodes)
        yield
        yield from self._bring_up(np.array(shared.nodes.state, np.int32), states)
        self.parts = NO_PARTS if is_thorough else find_parts(shared)
        yield
        yield from self._index_tests()
        yield
        self.is_context = np.zeros(states, bool)
        climbed = None if is_thorough else (yield from self._climbed())
        yield
        self.is_context[self.edges.contexts(climbed)] = True
        yield
        self.is_busy = self._is_busy()
        yield

    def _climbed(self) -> Generator[None, None, Ints]:
        """The edges that are gone up: of what is lifted, of patterns that tests drive, and of those above these."""
        parent, is_down = self.columns.parent, self.kind == NodeKind.DOWN
        is_asked = is_down & (self.columns.by_test != 0)
        some = np.flatnonzero(is_asked)
        while some.size:
            yield
            is_new = np.zeros(is_asked.size, bool)
            is_new[parent[some]] = True
            is_new &= is_down & ~is_asked
            is_asked |= is_new
            some = np.flatnonzero(is_new)
        yield
        is_asked |= self.is_lifted | (self.kind == NodeKind.LIFT) | (self.kind == NodeKind.FIRST)
        is_climbed = np.zeros(self.edges.up.size, bool)
        is_climbed[self.edge[is_asked]] = True
        return _places(is_climbed)

    def _bring_up(self, state: Ints, states: int) -> Iterator[None]:
        """What label paths bring up, by state: what nothing drives, name tests, and paths that drive.

        These come up where they begin; where many begin, or all come up at once, they are lifted from where they end.
        """
        self.is_lifted = np.zeros(state.size, bool)
        if not state.size:
            self.up = self.named = Ragged(state, state, states)
            return
        is_alone = np.isin(self.kind, (NodeKind.AND, NodeKind.MEASURE)) & (self.columns.child == NOTHING)
        every = _places(self.is_needed & is_alone)
        yield
        named = _places(self.is_needed & (self.kind == NodeKind.NAMED))
        self.named = Ragged(state[named], named, states)
        yield
        drives = self.dependents.starts[1:] > self.dependents.starts[:-1]
        eager = _places((self.kind == NodeKind.EXISTS) & (drives | (self.result_of_node >= 0) | self.access.is_in))
        begin, end = state[eager], self.edges.below[self.edge[eager]]
        yield
        is_lifted = (np.bincount(begin, minlength=1)[begin] > _MOST_BEGINNING) | self.is_thorough
        is_lifted |= self.access.is_in[eager]
        self.is_lifted[eager[is_lifted]] = True
        at = np.where(is_lifted, end, begin)
        yield
        self.up = yield from _runs(np.concatenate([state[every], at]), np.concatenate([every, eager]), states)

    @kept_property
    def tables(self) -> PlanTables:
        """The same for the compiled evaluation."""
        return finished(self._make_tables())

    def _make_tables(self) -> Generator[None, None, PlanTables]:
        symbol = symbols_of_codes(np.array(self.shared.states.step, np.int32))
        yield
        driven = self.dependents.starts, self.dependents.entries, self.is_lifted
        results, is_in = (self.result_of_node, self.results), self.access.is_in
        made = yield from make_tables(
            self.shared,
            self.columns,
            self.edges,
            symbol,
            self.comparisons,
            self.parts,
            results,
            driven,
            is_in,
        )
        return made

    def __getstate__(self) -> dict[str, object]:
        return {name: value for name, value in self.__dict__.items() if name not in ("tables", "_users", "works")}

    @kept_property
    def works(self) -> Works:
        """How formulas are worked out."""
        return Works(self.shared.derivations)

    def _is_busy(self) -> Flags:
        """The states that there is something to do at."""
        if not self.kind.size:
            return self.is_context
        busy = self.is_context.copy()
        for states in (self.part_of_state[0], *(each[0] for each in self.comparisons.families.values())):
            busy[states] = True
        for starts in (self.up.starts, self.named.starts, self.machine_start):
            busy |= starts[1:] > starts[:-1]
        return busy

    def _index_tests(self) -> Iterator[None]:
        """Comparisons, and the tests that machines of Python's probe, whether anything is driven by them or not.

        These are regular expressions and, where this is thorough, all tests on parts of texts.
        """
        tests, texts, states = self.shared.tests, list(self.shared.tests.texts), len(self.shared.states)
        self.machines: list[TextIndex | DerivedIndex] = []
        self.machine_start: Longs = np.zeros(states + 1, np.int64)
        self.is_probed = np.zeros(len(self.shared), bool)
        self.part_of_state = self._part_of_state()
        derived: Machines = [*derived_indexes(self.shared, self._comes_up())]
        if not len(tests.node):
            self.comparisons = NO_COMPARISONS
            self._put_machines(derived)
            return
        node, operator = np.array(tests.node, np.int32), np.array(tests.operator, np.int8)
        state, constant = np.array(self.shared.nodes.state, np.int32)[node], np.array(tests.constant, np.int32)
        here = np.flatnonzero(operator < len(COMPARISONS))
        columns = node[here], state[here], operator[here], np.array(tests.reading, np.int8)[here], constant[here]
        numbers = np.array(list(tests.numbers), np.float64)
        compared = TestColumns(*columns, self.is_needed[node[here]], texts, numbers, list(tests.instants))
        yield
        self.comparisons = Comparisons(compared)
        yield
        if here.size:
            yield from self.comparisons.sort(compared)
        self.is_probed[node[operator >= len(COMPARISONS)]] = True
        self.is_probed[self.parts.tests] = False
        texts_machines = yield from self._text_machines(np.flatnonzero(self.is_probed[node]), state, operator, constant)
        self._put_machines([*texts_machines, *derived])

    def _comes_up(self) -> Flags:
        """The nodes that must come up by themselves, as they drive others or are results."""
        drives = self.dependents.starts[1:] > self.dependents.starts[:-1]
        return np.asarray(drives | (self.result_of_node >= 0))

    def _put_machines(self, machines: Machines) -> None:
        """Keep machines in the order of their states."""
        machines = sorted(machines, key=lambda each: each[0])
        self.machines = [machine for _, machine in machines]
        states = np.array([state for state, _ in machines], np.int64)
        self.machine_start = np.searchsorted(states, np.arange(len(self.shared.states) + 1))

    def _text_machines(
        self, probed: Longs, state: Ints, operator: Small, constant: Ints
    ) -> Generator[None, None, Machines]:
        """A machine for each state and operator of the tests that are probed."""
        made: Machines = []
        if not probed.size:
            return made
        texts, node = list(self.shared.tests.texts), np.array(self.shared.tests.node, np.int32)
        probed = probed[np.lexsort((operator[probed], state[probed]))]
        key = state[probed].astype(np.int64) * len(OPERATORS) + operator[probed]
        begins = np.flatnonzero(np.append(True, np.diff(key) != 0))
        for group in np.split(probed, begins[1:]):
            tests_of = zip(constant[group].tolist(), node[group].tolist(), strict=True)
            words = [(texts[at], test) for at, test in tests_of]
            made.append((int(state[group[0]]), TEXT_INDEXES[OPERATORS[operator[group[0]]]](words)))
            yield
        return made

    def _part_of_state(self) -> tuple[Ints, Ints, Ints]:
        """(state, code, test) of the tests on parts of texts that drive something."""
        needed = self.is_needed[self.parts.tests]
        tests = self.parts.tests[needed]
        return np.array(self.shared.nodes.state, np.int32)[tests], self.parts.codes[needed], tests

    @kept_property
    def _users(self) -> Ragged:
        """For every node those that are made of it."""
        node, part = part_pairs(self.shared)
        return Ragged(part, node, len(self.shared))

    def depending_on(self, nodes: Iterable[int]) -> Flags:
        """Marks on some nodes and on all that are made of them, of these, and so on."""
        marks = closure(self._users, np.fromiter(nodes, np.int32), self._users.starts.size - 1)
        return marks[: self.kind.size]  # the plan may have grown since


def _runs(keys: Ints, entries: Ints, size: int) -> Generator[None, None, Ragged]:
    """Runs of integers by key, in steps."""
    starts = starts_of_runs(keys, size)
    yield
    places, runs = starts[:-1].copy(), np.zeros(entries.size, np.int32)
    for begin in range(0, keys.size, _STRETCH):
        put_in_runs(keys, entries, places, runs, begin, min(begin + _STRETCH, keys.size))
        yield
    return Ragged.of_runs(starts, runs)


def _places(marks: Flags) -> Ints:
    return np.flatnonzero(marks).astype(np.int32)
