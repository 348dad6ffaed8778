# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False, nonecheck=False
"""A batch's rows in, the nodes of the shared plan that their label paths and values bring up out."""

import cython
import numpy as np

from weft.kernel.arrays import wider, zeros

if not cython.compiled:  # compiled, the types are those of the .pxd
    from weft.kernel.holding import Holding
    from weft.kernel.plan_lists import PlanLists
    from weft.kernel.plan_tables import PlanTables
    from weft.kernel.probe_tables import ProbeTables

# Operators, as weft.engine.shared.tables.OPERATORS has them.
EQ = cython.declare(cython.int, 0)
NE = cython.declare(cython.int, 1)
LT = cython.declare(cython.int, 2)
LE = cython.declare(cython.int, 3)
GT = cython.declare(cython.int, 4)
EQ, NE, LT, LE, GT = 0, 1, 2, 3, 4
TEXT = cython.declare(cython.int, 0)  # readings, as weft.engine.shared.comparisons.Reading has them
DATE = cython.declare(cython.int, 3)
TEXT, DATE = 0, 3


@cython.cclass
class Probing(Holding):
    """What comes up in a batch; `probing.pxd` tells the columns."""

    def __init__(self, plan: PlanTables, lists: PlanLists, source, columns: dict, steps: int):
        Holding.__init__(self, plan, lists, source, columns, steps)
        self.risen, self.risen_size = zeros(1 << 10, np.int32), 0
        self.left_over, self.left_size = zeros(1 << 6, np.int32), 0
        self.prepare()

    @cython.cfunc
    @cython.exceptval(-1)
    def prepare(self) -> cython.int:
        """Make the label plans of all label paths that there are."""
        row: cython.int
        label: cython.int
        for row in range(self.nodes):
            label = self.labels[row]
            if label >= 0 and (label >= self.lists.is_made.shape[0] or not self.lists.is_made[label]):
                self.lists.make(label)
        return 0

    def probe(self) -> tuple:
        """(nodes of the shared plan, their rows, machines that are to look at values, the rows of these)."""
        lists: PlanLists = self.lists
        row: cython.int
        label: cython.int
        at: cython.Py_ssize_t
        for row in range(self.nodes):
            label = self.labels[row]
            if label < 0:
                continue
            for at in range(lists.nodes.start[label], lists.nodes.start[label] + lists.nodes.size[label]):
                self.bring_up(lists.nodes.pool[at], row)
            if not lists.has_tests[label]:
                continue
            if lists.equals.size[label]:
                self.probe_equals(label, row)
            for at in range(lists.runs.start[label], lists.runs.start[label] + lists.runs.size[label]):
                self.probe_run(lists.runs.pool[at], row)
            for at in range(lists.machines.start[label], lists.machines.start[label] + lists.machines.size[label]):
                if self.left_size + 2 > self.left_over.shape[0]:
                    self.left_over = wider(self.left_over)
                self.left_over[self.left_size] = lists.machines.pool[at]
                self.left_over[self.left_size + 1] = row
                self.left_size += 2
        pairs = np.array(np.asarray(self.risen)[: self.risen_size]).reshape(-1, 2)
        left = np.array(np.asarray(self.left_over)[: self.left_size]).reshape(-1, 2)
        return pairs[:, 0], pairs[:, 1], left[:, 0], left[:, 1]

    @cython.cfunc
    @cython.exceptval(-1)
    def bring_up(self, node: cython.int, row: cython.int) -> cython.int:
        if self.risen_size + 2 > self.risen.shape[0]:
            self.risen = wider(self.risen)
        self.risen[self.risen_size] = node
        self.risen[self.risen_size + 1] = row
        self.risen_size += 2
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def probe_equals(self, label: cython.int, row: cython.int) -> cython.int:
        """Bring up the tests whose constant is the row's value."""
        if not self.known[row] & 1:
            self.read(row, TEXT)
        if self.low[row] == self.high[row]:
            return 0
        which: cython.int = self.lists.passing(label, self.low[row])
        at: cython.Py_ssize_t
        first: cython.Py_ssize_t = self.lists.passed.start[which]
        for at in range(first, first + self.lists.passed.size[which]):
            self.bring_up(self.lists.passed.pool[at], row)
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def probe_run(self, run: cython.int, row: cython.int) -> cython.int:
        """Bring up the tests of a run that the row's value passes: at most two ranges of it."""
        t: ProbeTables = self.tests
        reading: cython.int = t.run_reading[run]
        operator: cython.int = t.run_operator[run]
        first: cython.longlong = t.test_start[run]
        end: cython.longlong = t.test_start[run + 1]
        low: cython.longlong
        high: cython.longlong
        if not (self.known[row] >> reading) & 1:
            self.read(row, reading)
        if reading == TEXT:
            low = self.place(run, self.low[row], False)
            high = self.place(run, self.high[row], False)
        else:
            number: cython.double = self.value(row, reading)
            if number != number:  # what is no number is unequal to all numbers, and to no instant
                return self.bring_up_tests(first, end if operator == NE and reading < DATE else first, row)
            low = self.place(run, number, False)
            high = self.place(run, number, True)
        if operator == EQ:
            return self.bring_up_tests(low, high, row)
        if operator == NE:
            self.bring_up_tests(first, low, row)
            return self.bring_up_tests(high, end, row)
        if operator == LT:
            return self.bring_up_tests(high, t.ordered_end[run], row)
        if operator == LE:
            return self.bring_up_tests(low, t.ordered_end[run], row)
        return self.bring_up_tests(first, low if operator == GT else high, row)

    @cython.cfunc
    @cython.exceptval(check=False)
    def place(self, run: cython.int, key: cython.double, is_behind: cython.bint) -> cython.longlong:
        """The first test of a run whose constant is not below a key, or that is above it."""
        t: ProbeTables = self.tests
        low: cython.longlong = t.test_start[run]
        high: cython.longlong = t.ordered_end[run]
        middle: cython.longlong
        while low < high:
            middle = (low + high) >> 1
            if t.keys[middle] < key or (is_behind and t.keys[middle] == key):
                low = middle + 1
            else:
                high = middle
        return low

    @cython.cfunc
    @cython.exceptval(-1)
    def bring_up_tests(self, begin: cython.longlong, end: cython.longlong, row: cython.int) -> cython.int:
        at: cython.longlong
        for at in range(begin, end):
            self.bring_up(self.tests.tests[at], row)
        return 0
