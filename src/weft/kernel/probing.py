"""A batch's rows in, the nodes of the shared plan that their label paths and values bring up out."""

import cython
import numpy as np

from weft.kernel.arrays import wider, zeros

if not cython.compiled:  # compiled, these are those of the .pxd
    from weft.kernel.codes import DATE, EQ, GT, LE, LT, NE, ORDERED_END, RUN_END, RUN_FORM, RUN_START, TEXT
    from weft.kernel.values import compared
    from weft.kernel.plan_lists import PlanLists
    from weft.kernel.plan_tables import PlanTables
    from weft.kernel.text_probing import TextProbing

FEW = cython.declare(cython.int, 8)
FEW = 8  # tests that are gone over one by one in the time of a search among them


@cython.cclass
class Probing(TextProbing):
    """What comes up in a batch; `probing.pxd` tells the columns."""

    def __init__(self, plan: PlanTables, lists: PlanLists):
        TextProbing.__init__(self, plan, lists)
        self.risen_start = zeros(1 << 6, np.int64)
        self.left_over, self.left_size = zeros(1 << 6, np.int32), 0

    def begin(self, source, columns: dict, steps: int) -> None:
        """Another batch: the label plans of all its label paths are made."""
        TextProbing.begin(self, source, columns, steps)
        self.risen_size = self.left_size = 0
        self.places = self.searched_begin = self.searched_end = 0
        if self.ranges.shape[1] > self.risen_start.shape[0]:
            self.risen_start = zeros(2 * self.ranges.shape[1], np.int64)
        row: cython.int
        label: cython.int
        for row in range(self.nodes):
            label = self.labels[row]
            if label >= 0 and (label >= self.lists.is_made.shape[0] or not self.lists.is_made[label]):
                self.lists.make(label)

    def probe(self) -> tuple:
        """(machines that are to look at values, the rows of these): all else that comes up is kept for `rise`."""
        document: cython.int
        kind: cython.int
        with cython.nogil:
            for document in range(self.ranges.shape[1] - 1):
                self.risen_start[document] = self.risen_size
                for kind in range(self.ranges.shape[0]):
                    self.probe_rows(self.ranges[kind, document], self.ranges[kind, document + 1])
            self.risen_start[self.ranges.shape[1] - 1] = self.risen_size
        left = np.array(np.asarray(self.left_over)[: self.left_size]).reshape(-1, 2)
        return left[:, 0], left[:, 1]

    def brought_up(self) -> tuple:
        """(nodes of the shared plan, their rows) that `probe` found."""
        pairs = np.array(np.asarray(self.risen)[: self.risen_size]).reshape(-1, 2)
        return pairs[:, 0], pairs[:, 1]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=True)
    def probe_rows(self, first: cython.int, end: cython.int) -> cython.int:
        row: cython.int
        label: cython.int
        at: cython.Py_ssize_t
        start: cython.Py_ssize_t
        for row in range(first, end):
            label = self.labels[row]
            if label < 0:
                continue
            start = self.lists.nodes.start[label]
            self.reserve_risen(self.lists.nodes.size[label])
            for at in range(start, start + self.lists.nodes.size[label]):  # very many: not by calls
                self.risen[self.risen_size] = self.lists.nodes.pool[at]
                self.risen[self.risen_size + 1] = row
                self.risen_size += 2
            if not self.lists.has_tests[label]:
                continue
            if self.lists.means[label]:
                self.probe_texts(label, row, self.lists.means[label])
            start = self.lists.runs.start[label]
            for at in range(start, start + self.lists.runs.size[label]):
                self.probe_run(self.lists.runs.pool[at], row)
            start = self.lists.machines.start[label]
            for at in range(start, start + self.lists.machines.size[label]):
                self.leave(self.lists.machines.pool[at], row)
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=True)
    def leave(self, machine: cython.int, row: cython.int) -> cython.int:
        """A machine of Python's looks at a row's value later."""
        if self.left_size + 2 > self.left_over.shape[0]:
            with cython.gil:
                self.left_over = wider(self.left_over)
        self.left_over[self.left_size] = machine
        self.left_over[self.left_size + 1] = row
        self.left_size += 2
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=True)
    def probe_run(self, run: cython.int, row: cython.int) -> cython.int:
        """Bring up what the tests of a run drive that the row's value passes: at most two ranges of it."""
        form: cython.int = self.tests.runs[run, RUN_FORM]
        reading: cython.int = form >> 8
        operator: cython.int = form & 255
        first: cython.int = self.tests.runs[run, RUN_START]
        end: cython.int = self.tests.runs[run, RUN_END]
        number: cython.double
        if not (self.known[row] >> reading) & 1:
            self.read(row, reading)
        if reading == TEXT:
            return self.pass_ranges(
                run, operator, self.place(run, self.low[row], False), self.place(run, self.high[row], False), row
            )
        number = self.value(row, reading)
        if number != number:  # what is no number is unequal to all numbers, and to no instant
            return self.bring_up_all(first, end if operator == NE and reading < DATE else first, row)
        return self.pass_number(run, number, row)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=True)
    def pass_number(self, run: cython.int, number: cython.double, row: cython.int) -> cython.int:
        """The same for a number."""
        operator: cython.int = self.tests.runs[run, RUN_FORM] & 255
        first: cython.int = self.tests.runs[run, RUN_START]
        end: cython.int = self.tests.runs[run, RUN_END]
        at: cython.int
        if end - first <= FEW:
            self.reserve_risen(FEW)
            for at in range(first, end):
                if compared(operator, number, self.tests.keys[at]):
                    self.put_risen(self.tests.run_nodes[at], row)
            return 0
        return self.pass_ranges(run, operator, self.place(run, number, False), self.place(run, number, True), row)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=True)
    def pass_ranges(
        self, run: cython.int, operator: cython.int, low: cython.longlong, high: cython.longlong, row: cython.int
    ) -> cython.int:
        """The same for a value that is equal to the constants from `low` to before `high`."""
        first: cython.int = self.tests.runs[run, RUN_START]
        end: cython.int = self.tests.runs[run, RUN_END]
        if operator == EQ:
            return self.bring_up_all(low, high, row)
        if operator == NE:
            self.bring_up_all(first, low, row)
            return self.bring_up_all(high, end, row)
        if operator == LT:
            return self.bring_up_all(high, self.tests.runs[run, ORDERED_END], row)
        if operator == LE:
            return self.bring_up_all(low, self.tests.runs[run, ORDERED_END], row)
        return self.bring_up_all(first, low if operator == GT else high, row)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def place(self, run: cython.int, key: cython.double, is_behind: cython.bint) -> cython.longlong:
        """The first test of a run whose constant is not below a key, or that is above it."""
        low: cython.longlong = self.tests.runs[run, RUN_START]
        high: cython.longlong = self.tests.runs[run, ORDERED_END]
        middle: cython.longlong
        while low < high:
            middle = (low + high) >> 1
            if self.tests.keys[middle] < key or (is_behind and self.tests.keys[middle] == key):
                low = middle + 1
            else:
                high = middle
        return low

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=True)
    def bring_up_all(self, begin: cython.longlong, end: cython.longlong, row: cython.int) -> cython.int:
        at: cython.longlong
        if begin < end:
            self.reserve_risen(end - begin)
        for at in range(begin, end):
            self.put_risen(self.tests.run_nodes[at], row)
        return 0
