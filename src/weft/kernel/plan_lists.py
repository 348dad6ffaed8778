"""A label path in, all that the shared plan has to do at its nodes out, as lists that are made when asked for."""

import cython
import numpy as np

from weft.kernel.arrays import copied, wider, zeros

if not cython.compiled:  # compiled, the types are those of the .pxd
    from weft.kernel.codes import RUN_END, RUN_START
    from weft.kernel.paths import PathTable
    from weft.kernel.probe_tables import ProbeTables
    from weft.kernel.tables import IntLists, Numbers

PLAN_BYTES = cython.declare(cython.int, 96)
PLAN_BYTES = 96  # what a label plan takes in columns of its own, and at the heads of its lists
CONTEXTS_SORTED = cython.declare(cython.int, 1)
CONTEXTS_SORTED = 1
CONSTANTS_SORTED = cython.declare(cython.int, 2)
CONSTANTS_SORTED = 2


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def place_of(
    pool: cython.int[::1],
    start: cython.Py_ssize_t,
    size: cython.Py_ssize_t,
    width: cython.Py_ssize_t,
    wanted: cython.int,
) -> cython.Py_ssize_t:
    """The first of the records from a place on, in the order of their first numbers, that is not below a number."""
    low: cython.Py_ssize_t = 0
    high: cython.Py_ssize_t = size // width
    middle: cython.Py_ssize_t
    while low < high:
        middle = (low + high) >> 1
        if pool[start + middle * width] < wanted:
            low = middle + 1
        else:
            high = middle
    return start + low * width


@cython.cclass
class PlanLists:
    """The label plans of a table of label paths; `plan_lists.pxd` tells the lists."""

    def __init__(self, paths: PathTable, tables: ProbeTables, most: int):
        """Of where deep edges were found to begin so many bytes are remembered."""
        self.paths, self.tables, self.most = paths, tables, most
        self.is_made, self.has_tests = zeros(1024, np.int8), zeros(1024, np.int8)
        self.is_sorted, self.means = zeros(1024, np.int8), zeros(1024, np.int8)
        self.filters = zeros(4096, np.uint64)
        self.nodes, self.contexts, self.constants = IntLists(), IntLists(), IntLists()
        self.runs, self.machines = IntLists(), IntLists()
        self.forget()

    def copied(self, paths: PathTable):
        """The same label plans, of a copy of the label paths."""
        made: PlanLists = PlanLists(paths, self.tables, self.most)
        made.is_made, made.has_tests = copied(self.is_made, len(paths)), copied(self.has_tests, len(paths))
        made.is_sorted, made.means = copied(self.is_sorted, len(paths)), copied(self.means, len(paths))
        made.filters = copied(self.filters, 4 * len(paths))
        made.nodes, made.contexts = self.nodes.copied(), self.contexts.copied()
        made.constants, made.runs, made.machines = self.constants.copied(), self.runs.copied(), self.machines.copied()
        return made

    def forget(self) -> None:
        """Forget where deep edges were found to begin."""
        self.begins, self.begin_bits, self.begun = Numbers(), zeros(1024, np.uint64), 0

    @cython.cfunc
    @cython.exceptval(-1)
    def make(self, path: cython.int) -> cython.int:
        """Put together what there is to do at the states that a label path reaches."""
        t: ProbeTables = self.tables
        reached: IntLists = self.paths.reached
        i: cython.Py_ssize_t
        j: cython.longlong
        state: cython.int
        self.open(path)
        for i in range(reached.start[path], reached.start[path] + reached.size[path]):
            state = reached.pool[i]
            if t.means[state]:
                self.add_constants(path, state)
            for j in range(t.up_start[state], t.up_start[state + 1]):
                self.nodes.add(path, t.up_nodes[j])
            for j in range(t.named_start[state], t.named_start[state + 1]):
                if self.paths.is_passed(t.named_symbols[j], self.paths.name[path]):
                    self.nodes.add(path, t.named_nodes[j])
            if t.is_context[state]:
                self.contexts.add(path, state)
            for j in range(t.run_start[state], t.run_start[state + 1]):
                self.runs.add(path, j)
            for j in range(t.machine_start[state], t.machine_start[state + 1]):
                self.machines.add(path, j)
        for each in (self.nodes, self.contexts, self.constants, self.runs, self.machines):
            lists: IntLists = each
            lists.give_back(path, lists.start[path] + lists.size[path])
        self.has_tests[path] = (self.constants.size[path] + self.runs.size[path] + self.machines.size[path]) > 0
        self.is_made[path] = 1
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def open(self, path: cython.int) -> cython.int:
        """Empty lists for a label path."""
        word: cython.int
        if path >= self.is_made.shape[0]:
            self.is_made, self.has_tests = wider(self.is_made, path), wider(self.has_tests, path)
            self.is_sorted, self.means = wider(self.is_sorted, path), wider(self.means, path)
        if 4 * path + 3 >= self.filters.shape[0]:
            self.filters = wider(self.filters, 4 * path + 3)
        self.means[path] = self.is_sorted[path] = 0
        for word in range(4):
            self.filters[4 * path + word] = 0
        for each in (self.nodes, self.contexts, self.constants, self.runs, self.machines):
            lists: IntLists = each
            lists.reserve(path, 0)
            lists.size[path] = 0
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def add_constants(self, path: cython.int, state: cython.int) -> cython.int:
        """A label path reaches a state with tests that constants lead to."""
        t: ProbeTables = self.tables
        code: cython.int
        one: cython.ulonglong = 1
        at: cython.longlong
        size: cython.Py_ssize_t = self.constants.size[path]
        more: cython.Py_ssize_t = 2 * (t.constant_start[state + 1] - t.constant_start[state])
        place: cython.Py_ssize_t
        self.means[path] = self.means[path] | t.means[state]
        if size + more > self.constants.room[path]:
            self.constants.reserve(path, 2 * size + more)
        place = self.constants.start[path] + size
        for at in range(t.constant_start[state], t.constant_start[state + 1]):
            code = t.constants[at, 0]
            self.filters[4 * path + ((code >> 6) & 3)] |= one << (code & 63)
            self.constants.pool[place] = code
            self.constants.pool[place + 1] = t.constants[at, 1]
            place += 2
        self.constants.size[path] = size + more
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def may_pass(self, path: cython.int, code: cython.int) -> cython.bint:
        """Whether a label path may have tests with a constant; most have not, and need not be looked up."""
        return (self.filters[4 * path + ((code >> 6) & 3)] >> (code & 63)) & 1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def find_constant(self, path: cython.int, code: cython.int) -> cython.Py_ssize_t:
        """Where the pairs of a constant begin among those of a label path, which are sorted when first asked for."""
        if not self.is_sorted[path] & CONSTANTS_SORTED:
            self.constants.sort(path, 2)
            self.is_sorted[path] = self.is_sorted[path] | CONSTANTS_SORTED
        return place_of(self.constants.pool, self.constants.start[path], self.constants.size[path], 2, code)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def is_above(self, path: cython.int, state: cython.int) -> cython.bint:
        """Whether a state is above deep edges and is reached at a label path."""
        if not self.is_sorted[path] & CONTEXTS_SORTED:
            self.contexts.sort(path, 1)
            self.is_sorted[path] = self.is_sorted[path] | CONTEXTS_SORTED
        end: cython.Py_ssize_t = self.contexts.start[path] + self.contexts.size[path]
        at: cython.Py_ssize_t = place_of(
            self.contexts.pool, self.contexts.start[path], self.contexts.size[path], 1, state
        )
        return at < end and self.contexts.pool[at] == state

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=True)
    def remember_begins(self, key: cython.longlong, depths: cython.ulonglong) -> cython.int:
        """At which depths, as bits, a deep edge that ends at a label path can begin."""
        if self.remembered() > self.most:
            with cython.gil:
                self.forget()
        if self.begun == self.begin_bits.shape[0]:
            with cython.gil:
                self.begin_bits = wider(self.begin_bits)
        self.begin_bits[self.begun] = depths
        self.begins.put(key, self.begun)
        self.begun += 1
        return 0

    def cut(self, mark: int) -> None:
        """Forget the label plans from a label path on."""
        for each in (self.nodes, self.contexts, self.constants, self.runs, self.machines):
            lists: IntLists = each
            lists.cut(mark)
        made = np.asarray(self.is_made)
        made[mark : len(self.paths)] = 0  # there is room for far more
        self.forget()

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def remembered(self) -> cython.longlong:
        """How many bytes it takes to remember where deep edges begin."""
        return self.begins.memory() + 8 * self.begun

    def remembered_memory(self) -> int:
        """The same."""
        return self.remembered()

    def memory(self) -> int:
        """How many bytes the label plans take, but for what is only remembered."""
        kept: cython.longlong = 4 * (self.nodes.used + self.contexts.used + self.constants.used)
        kept += 4 * (self.runs.used + self.machines.used)
        return kept + PLAN_BYTES * self.nodes.lists

    def is_context(self, path: int, state: int) -> bool:
        """Whether a state above deep edges is reached at a label path."""
        if path >= len(self.is_made) or not self.is_made[path]:
            self.make(path)
        return bool(self.is_above(path, state))

    def comparisons_at(self, path: int) -> object:
        """The comparisons of numbers and instants at a label path."""
        records, tests = np.asarray(self.tables.runs)[self.runs.of(path)], np.asarray(self.tables.run_nodes)
        spans = records[:, [RUN_START, RUN_END]].tolist()
        return np.concatenate([np.zeros(0, np.int32), *(tests[start:end] for start, end in spans)])
