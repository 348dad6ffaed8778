# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False, nonecheck=False
"""A label path in, all that the shared plan has to do at its nodes out, as lists that are made when asked for."""

import cython
import numpy as np

from weft.kernel.arrays import wider, zeros

if not cython.compiled:  # compiled, the types are those of the .pxd
    from weft.kernel.paths import PathTable
    from weft.kernel.probe_tables import ProbeTables
    from weft.kernel.tables import IntLists, Numbers

MOST_PASSED = cython.declare(cython.Py_ssize_t, 4_000_000)
MOST_PASSED = 4_000_000  # tests that are remembered as passed by values, beyond which all are forgotten


MOST_BEGUN = cython.declare(cython.int, 1_000_000)
MOST_BEGUN = 1_000_000  # edges at label paths, likewise


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def has_number(
    pool: cython.int[::1], low: cython.Py_ssize_t, size: cython.Py_ssize_t, wanted: cython.int
) -> cython.bint:
    """Whether a number is in a stretch of a column that is in order."""
    end: cython.Py_ssize_t = low + size
    high: cython.Py_ssize_t = end
    middle: cython.Py_ssize_t
    while low < high:
        middle = (low + high) >> 1
        if pool[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low < end and pool[low] == wanted


@cython.cclass
class PlanLists:
    """The label plans of a table of label paths; `plan_lists.pxd` tells the lists."""

    def __init__(self, paths: PathTable, tables: ProbeTables):
        self.paths, self.tables = paths, tables
        self.is_made, self.has_tests = zeros(1024, np.int8), zeros(1024, np.int8)
        self.means, self.filters = zeros(1024, np.int8), zeros(4096, np.uint64)
        self.nodes, self.contexts, self.equals = IntLists(), IntLists(), IntLists()
        self.runs, self.machines = IntLists(), IntLists()
        self.forget()

    def forget(self) -> None:
        """Forget which tests values were found to pass, and where deep edges were found to begin."""
        self.found, self.passed, self.lists = Numbers(), IntLists(), 0
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
        if path >= self.is_made.shape[0]:
            self.is_made, self.has_tests = wider(self.is_made, path), wider(self.has_tests, path)
            self.means, self.filters = wider(self.means, path), wider(self.filters, 4 * path + 3)
        self.clear_constants(path)
        for each in (self.nodes, self.contexts, self.equals, self.runs, self.machines):
            lists: IntLists = each
            lists.reserve(path, 0)
            lists.size[path] = 0
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
        self.contexts.sort(path)
        self.equals.sort(path)
        self.has_tests[path] = (self.equals.size[path] + self.runs.size[path] + self.machines.size[path]) > 0
        self.is_made[path] = 1
        return 0

    @cython.cfunc
    @cython.exceptval(check=False)
    def clear_constants(self, path: cython.int) -> cython.void:
        word: cython.int
        self.means[path] = 0
        for word in range(4):
            self.filters[4 * path + word] = 0

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def add_constants(self, path: cython.int, state: cython.int) -> cython.int:
        """A label path reaches a state with tests that constants lead to."""
        word: cython.int
        self.equals.add(path, state)
        self.means[path] = self.means[path] | self.tables.means[state]
        for word in range(4):
            self.filters[4 * path + word] |= self.tables.filters[self.tables.filter_at[state], word]
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def may_pass(self, path: cython.int, code: cython.int) -> cython.bint:
        """Whether a label path may have tests with a constant; most have not, and need not be looked up."""
        return (self.filters[4 * path + ((code >> 6) & 3)] >> (code & 63)) & 1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=True)
    def passing(self, path: cython.int, code: cython.int) -> cython.int:
        """The list of the tests at a label path that a value passes by being, or having in it, a constant."""
        key: cython.longlong = path
        key = (key << 32) | code
        known: cython.int = self.found.find(key)
        if known < 0:
            if self.passed.used > MOST_PASSED:
                with cython.gil:
                    self.forget()
            known = self.intersect(path, code)
            self.found.put(key, known)
        return known

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=True)
    def intersect(self, path: cython.int, code: cython.int) -> cython.int:
        """The tests with a constant whose states a label path reaches: the fewer are looked for among the others."""
        new: cython.int = self.lists
        low: cython.longlong = self.tables.equal_start[code]
        end: cython.longlong = self.tables.equal_start[code + 1]
        first: cython.Py_ssize_t = self.equals.start[path]
        last: cython.Py_ssize_t = first + self.equals.size[path]
        i: cython.Py_ssize_t
        high: cython.longlong
        middle: cython.longlong
        state: cython.int
        self.lists += 1
        self.passed.reserve(new, 0)
        self.passed.size[new] = 0
        if end - low <= last - first:
            while low < end:
                if self.is_found(path, self.tables.equal_states[low]):
                    self.passed.add(new, self.tables.equal_nodes[low])
                low += 1
            return new
        for i in range(first, last):
            state = self.equals.pool[i]
            high = end
            while low < high:
                middle = (low + high) >> 1
                if self.tables.equal_states[middle] < state:
                    low = middle + 1
                else:
                    high = middle
            while low < end and self.tables.equal_states[low] == state:
                self.passed.add(new, self.tables.equal_nodes[low])
                low += 1
        return new

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def is_found(self, path: cython.int, state: cython.int) -> cython.bint:
        """Whether a state has tests that constants lead to and is reached at a label path."""
        return has_number(self.equals.pool, self.equals.start[path], self.equals.size[path], state)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def is_above(self, path: cython.int, state: cython.int) -> cython.bint:
        """Whether a state is above deep edges and is reached at a label path."""
        return has_number(self.contexts.pool, self.contexts.start[path], self.contexts.size[path], state)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=True)
    def remember_begins(self, key: cython.longlong, depths: cython.ulonglong) -> cython.int:
        """At which depths, as bits, a deep edge that ends at a label path can begin."""
        if self.begun > MOST_BEGUN:
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
        for each in (self.nodes, self.contexts, self.equals, self.runs, self.machines):
            lists: IntLists = each
            lists.cut(mark)
        made = np.asarray(self.is_made)
        made[mark:] = 0
        self.forget()

    def memory(self) -> int:
        """About how many numbers are kept."""
        kept = (self.nodes, self.contexts, self.equals, self.runs, self.machines, self.passed)
        used = 0
        for each in kept:
            lists: IntLists = each
            used += lists.used
        return int(used) + 2 * self.begun

    def is_context(self, path: int, state: int) -> bool:
        """Whether a state above deep edges is reached at a label path."""
        if path >= len(self.is_made) or not self.is_made[path]:
            self.make(path)
        return bool(self.is_above(path, state))

    def comparisons_at(self, path: int) -> object:
        """The comparisons of numbers and instants at a label path."""
        runs = self.runs.of(path)
        starts, tests = np.asarray(self.tables.test_start), np.asarray(self.tables.run_nodes)
        return np.concatenate([np.zeros(0, np.int32), *(tests[starts[run] : starts[run + 1]] for run in runs.tolist())])
