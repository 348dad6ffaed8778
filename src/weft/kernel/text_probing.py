# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False, nonecheck=False
"""Values in, the tests that constants lead to out: a value is a constant, or has it at its start, end or inside."""

import cython
import numpy as np

from weft.kernel.arrays import wider, zeros
from weft.kernel.row_heap import TooMuchError

if not cython.compiled:  # compiled, these are those of the .pxd
    from weft.kernel.codes import BY_END, BY_EQUAL, BY_INSIDE, BY_START, ENDS, STARTS, TEXT
    from weft.kernel.holding import Holding
    from weft.kernel.plan_lists import PlanLists
    from weft.kernel.plan_tables import PlanTables

LONG = cython.declare(cython.int, 63)
LONG = 63  # constants of so many bytes and more share a bit of the lengths
FEW_PLACES = cython.declare(cython.Py_ssize_t, 1 << 16)
FEW_PLACES = 1 << 16  # of constants in a text, whatever it is


@cython.cclass
class TextProbing(Holding):
    """What comes up in a batch by its texts; `text_probing.pxd` tells the columns."""

    def __init__(self, plan: PlanTables, lists: PlanLists):
        Holding.__init__(self, plan, lists)
        self.risen, self.risen_size = zeros(1 << 10, np.int32), 0
        self.part_stamp, self.stamp_of_part = zeros(self.parts.size, np.int64), 0
        self.place_begin, self.place_end = zeros(1 << 6, np.int64), zeros(1 << 6, np.int64)
        self.place_code, self.places, self.is_searched, self.root = zeros(1 << 6, np.int32), 0, False, 0

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
        if not self.lists.may_pass(label, code):
            return 0
        which: cython.int = self.lists.passing(label, code)
        at: cython.Py_ssize_t
        start: cython.Py_ssize_t = self.lists.passed.start[which]
        for at in range(start, start + self.lists.passed.size[which]):
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
