# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False, nonecheck=False
"""A batch's rows in, the nodes of the shared plan that their label paths and values bring up out."""

import cython
import numpy as np

from weft.kernel.arrays import wider, zeros
from weft.kernel.ways import TooMuchError

if not cython.compiled:  # compiled, these are those of the .pxd
    from weft.kernel.codes import BY_END, BY_EQUAL, BY_INSIDE, BY_START, DATE, ENDS, EQ, GT, LE, LT, NE, STARTS, TEXT
    from weft.kernel.holding import Holding
    from weft.kernel.plan_lists import PlanLists
    from weft.kernel.plan_tables import PlanTables

LONG = cython.declare(cython.int, 63)
LONG = 63  # constants of so many bytes and more share a bit of the lengths
FEW_PLACES = cython.declare(cython.Py_ssize_t, 1 << 16)
FEW_PLACES = 1 << 16  # of constants in a text, whatever it is


@cython.cclass
class Probing(Holding):
    """What comes up in a batch; `probing.pxd` tells the columns."""

    def __init__(self, plan: PlanTables, lists: PlanLists):
        Holding.__init__(self, plan, lists)
        self.risen, self.risen_size, self.risen_start = zeros(1 << 10, np.int32), 0, zeros(1 << 6, np.int64)
        self.left_over, self.left_size = zeros(1 << 6, np.int32), 0
        self.part_stamp, self.stamp_of_part = zeros(self.parts.size, np.int64), 0
        self.place_begin, self.place_end = zeros(1 << 6, np.int64), zeros(1 << 6, np.int64)
        self.place_code, self.places, self.is_searched, self.root = zeros(1 << 6, np.int32), 0, False, 0

    def begin(self, source, columns: dict, steps: int) -> None:
        """Another batch: the label plans of all its label paths are made."""
        Holding.begin(self, source, columns, steps)
        self.risen_size = self.left_size = 0
        if self.documents.shape[0] > self.risen_start.shape[0]:
            self.risen_start = zeros(2 * self.documents.shape[0], np.int64)
        row: cython.int
        label: cython.int
        for row in range(self.nodes):
            label = self.labels[row]
            if label >= 0 and (label >= self.lists.is_made.shape[0] or not self.lists.is_made[label]):
                self.lists.make(label)

    def probe(self) -> tuple:
        """(machines that are to look at values, the rows of these): all else that comes up is kept for `rise`."""
        document: cython.int
        root: cython.int
        end: cython.int
        with cython.nogil:
            for document in range(self.documents.shape[0] - 1):
                self.risen_start[document] = self.risen_size
                root = self.documents[document]
                end = self.documents[document + 1]
                if root == end:
                    continue
                self.root, self.is_searched = root, False
                self.probe_rows(root, end)
                self.probe_rows(self.attribute_start[root], self.attribute_start[end])
                self.probe_rows(self.first_text + self.text_first[root], self.first_text + self.text_last[root])
            self.risen_start[self.documents.shape[0] - 1] = self.risen_size
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
        for row in range(first, end):
            label = self.labels[row]
            if label < 0:
                continue
            at = self.lists.nodes.start[label]
            for at in range(at, at + self.lists.nodes.size[label]):
                self.bring_up(self.lists.nodes.pool[at], row)
            if not self.lists.has_tests[label]:
                continue
            if self.lists.means[label]:
                self.probe_texts(label, row, self.lists.means[label])
            at = self.lists.runs.start[label]
            for at in range(at, at + self.lists.runs.size[label]):
                self.probe_run(self.lists.runs.pool[at], row)
            at = self.lists.machines.start[label]
            for at in range(at, at + self.lists.machines.size[label]):
                self.leave(self.lists.machines.pool[at], row)
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=True)
    def bring_up(self, node: cython.int, row: cython.int) -> cython.int:
        if self.risen_size + 2 > self.risen.shape[0]:
            with cython.gil:
                self.risen = wider(self.risen)
        self.risen[self.risen_size] = node
        self.risen[self.risen_size + 1] = row
        self.risen_size += 2
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

    # -- tests that are found by their constants

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=True)
    def probe_texts(self, label: cython.int, row: cython.int, means: cython.int) -> cython.int:
        """Bring up the tests whose constant is the row's value, or a part of it."""
        is_text: cython.bint
        if means & BY_EQUAL:
            if not self.known[row] & 1:
                self.read(row, TEXT)
            if self.low[row] < self.high[row]:
                self.pass_constant(label, row, self.low[row])
        if means & ~BY_EQUAL:
            is_text = self.find_value(row)
            if means & BY_START:
                self.probe_affixes(label, row, STARTS, is_text)
            if means & BY_END:
                self.probe_affixes(label, row, ENDS, is_text)
            if means & BY_INSIDE:
                self.probe_inside(label, row, is_text)
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=True)
    def pass_constant(self, label: cython.int, row: cython.int, code: cython.int) -> cython.int:
        """Bring up the tests of a constant that the label path reaches."""
        which: cython.int = self.lists.passing(label, code)
        at: cython.Py_ssize_t = self.lists.passed.start[which]
        for at in range(at, at + self.lists.passed.size[which]):
            self.bring_up(self.lists.passed.pool[at], row)
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=True)
    def probe_affixes(
        self, label: cython.int, row: cython.int, operator: cython.int, is_text: cython.bint
    ) -> cython.int:
        """Starts or ends of a value, from the shortest on, for all lengths that constants have."""
        is_start: cython.bint = operator == STARTS
        lengths: cython.ulonglong = self.parts.start_lengths if is_start else self.parts.end_lengths
        most: cython.Py_ssize_t = self.parts.longest_start if is_start else self.parts.longest_end
        hashed: cython.ulonglong = self.parts.begin(operator)
        size: cython.Py_ssize_t
        at: cython.Py_ssize_t
        code: cython.int
        most = min(most, self.end_at - self.begin_at)
        self.step(most >> 4)
        for size in range(most + 1):
            if (lengths >> min(size, LONG)) & 1:
                at = self.begin_at if is_start else self.end_at - size
                if is_text:
                    code = self.parts.find(operator, hashed, self.characters, at, size)
                else:
                    code = self.parts.find(operator, hashed, self.attribute_characters, at, size)
                if code >= 0:
                    self.pass_constant(label, row, self.tests.texts + code)
            if size < most:
                at = self.begin_at + size if is_start else self.end_at - size - 1
                hashed = self.parts.further(hashed, self.byte_at(at, is_text))
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=True)
    def probe_inside(self, label: cython.int, row: cython.int, is_text: cython.bint) -> cython.int:
        """Constants inside a value, each once. Those in the texts of a document are all found at once."""
        begin: cython.Py_ssize_t = self.begin_at
        end: cython.Py_ssize_t = self.end_at
        at: cython.Py_ssize_t = 0
        high: cython.Py_ssize_t
        middle: cython.Py_ssize_t
        if self.parts.always >= 0:
            self.pass_constant(label, row, self.tests.texts + self.parts.always)
        if not is_text:
            self.is_searched, self.places = False, 0
            self.search(begin, end, False)
        elif not self.is_searched:
            self.places = 0
            self.search(self.text_begin[self.text_first[self.root]], self.text_begin[self.text_last[self.root]], True)
            self.is_searched = True
        high = self.places
        while at < high:
            middle = (at + high) >> 1
            if self.place_begin[middle] < begin:
                at = middle + 1
            else:
                high = middle
        self.stamp_of_part += 1
        self.step((self.places - at) >> 3)
        while at < self.places and self.place_begin[at] < end:
            if self.place_end[at] <= end and self.part_stamp[self.place_code[at]] != self.stamp_of_part:
                self.part_stamp[self.place_code[at]] = self.stamp_of_part
                self.pass_constant(label, row, self.tests.texts + self.place_code[at])
            at += 1
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=True)
    def search(self, begin: cython.Py_ssize_t, end: cython.Py_ssize_t, is_text: cython.bint) -> cython.int:
        """Find all places of all constants in a stretch of the texts, or of the attributes."""
        start: cython.Py_ssize_t
        at: cython.Py_ssize_t
        branch: cython.int
        key: cython.longlong
        byte: cython.int
        has_long: cython.bint = self.parts.first_branches.shape[0] > 1
        self.step((end - begin) >> 3)
        self.most_places = FEW_PLACES + ((end - begin) >> 2)
        for start in range(begin, end):
            byte = self.byte_at(start, is_text)
            if self.parts.has_short and self.parts.short_leaves[byte]:
                self.put_place(start, start + 1, self.parts.short_leaves[byte] - 1)
            if not has_long or start + 1 == end:
                continue
            branch = self.parts.first_branches[byte << 8 | self.byte_at(start + 1, is_text)]
            at = start + 2
            while branch > 0:
                if self.parts.leaves[branch]:
                    self.put_place(start, at, self.parts.leaves[branch] - 1)
                if at == end:
                    break
                key = branch
                branch = self.parts.tree.find((key << 32) | self.byte_at(at, is_text))
                at += 1
            self.left -= (at - start) >> 3
        return self.step(0)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=True)
    def put_place(self, begin: cython.Py_ssize_t, end: cython.Py_ssize_t, code: cython.int) -> cython.int:
        if self.places == self.place_code.shape[0]:
            with cython.gil:
                if self.places > self.most_places:  # words within words: who does it otherwise does not tell all places
                    raise TooMuchError
                self.place_begin, self.place_end = wider(self.place_begin), wider(self.place_end)
                self.place_code = wider(self.place_code)
        self.place_begin[self.places], self.place_end[self.places] = begin, end
        self.place_code[self.places] = code
        self.places += 1
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.inline
    @cython.exceptval(check=False)
    def byte_at(self, at: cython.Py_ssize_t, is_text: cython.bint) -> cython.uchar:
        return self.characters[at] if is_text else self.attribute_characters[at]

    # -- tests in the order of their constants

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=True)
    def probe_run(self, run: cython.int, row: cython.int) -> cython.int:
        """Bring up the tests of a run that the row's value passes: at most two ranges of it."""
        reading: cython.int = self.tests.run_reading[run]
        operator: cython.int = self.tests.run_operator[run]
        first: cython.longlong = self.tests.test_start[run]
        end: cython.longlong = self.tests.test_start[run + 1]
        ordered: cython.longlong = self.tests.ordered_end[run]
        low: cython.longlong
        high: cython.longlong
        number: cython.double
        if not (self.known[row] >> reading) & 1:
            self.read(row, reading)
        if reading == TEXT:
            low = self.place(run, self.low[row], False)
            high = self.place(run, self.high[row], False)
        else:
            number = self.value(row, reading)
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
            return self.bring_up_tests(high, ordered, row)
        if operator == LE:
            return self.bring_up_tests(low, ordered, row)
        return self.bring_up_tests(first, low if operator == GT else high, row)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def place(self, run: cython.int, key: cython.double, is_behind: cython.bint) -> cython.longlong:
        """The first test of a run whose constant is not below a key, or that is above it."""
        low: cython.longlong = self.tests.test_start[run]
        high: cython.longlong = self.tests.ordered_end[run]
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
    def bring_up_tests(self, begin: cython.longlong, end: cython.longlong, row: cython.int) -> cython.int:
        at: cython.longlong
        for at in range(begin, end):
            self.bring_up(self.tests.tests[at], row)
        return 0
