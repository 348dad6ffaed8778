# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False, nonecheck=False
"""Values in, the tests that constants lead to out: a value is a constant, or has it at its start, end or inside."""

import cython
import numpy as np

from weft.kernel.arrays import wider, zeros
from weft.kernel.row_heap import TooMuchError

if not cython.compiled:  # compiled, these are those of the .pxd
    from weft.kernel.codes import BY_END, BY_EQUAL, BY_INSIDE, BY_START, TEXT
    from weft.kernel.holding import Holding
    from weft.kernel.plan_lists import PlanLists
    from weft.kernel.plan_tables import PlanTables

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
    def reserve_risen(self, number: cython.Py_ssize_t) -> cython.int:
        """Room for so many more that come up."""
        if self.risen_size + 2 * number > self.risen.shape[0]:
            with cython.gil:
                self.risen = wider(self.risen, self.risen_size + 2 * number)
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def put_risen(self, node: cython.int, row: cython.int) -> cython.void:
        """A node comes up at a row; there is room."""
        self.risen[self.risen_size] = node
        self.risen[self.risen_size + 1] = row
        self.risen_size += 2

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=True)
    def probe_texts(self, label: cython.int, row: cython.int, means: cython.int) -> cython.int:
        """Bring up what tests drive whose constant is the row's value, or a part of it."""
        is_text: cython.bint
        if means & BY_EQUAL:
            if not self.known[row] & 1:
                self.read(row, TEXT)
            if self.low[row] < self.high[row]:
                self.pass_constant(label, row, self.low[row])
        if means & ~BY_EQUAL:
            is_text = self.find_value(row)
            if means & (BY_START | BY_END):
                if is_text:
                    self.probe_affixes(self.characters, label, row, means)
                else:
                    self.probe_affixes(self.attribute_characters, label, row, means)
            if means & BY_INSIDE:
                self.probe_inside(label, row, is_text)
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=True)
    def pass_constant(self, label: cython.int, row: cython.int, code: cython.int) -> cython.int:
        """Bring up what a constant leads to at the states that a label path reaches."""
        if not self.lists.may_pass(label, code):
            return 0
        at: cython.Py_ssize_t = self.lists.find_constant(label, code)
        end: cython.Py_ssize_t = self.lists.constants.start[label] + self.lists.constants.size[label]
        each: cython.longlong
        node: cython.int
        while at < end and self.lists.constants.pool[at] == code:
            node = self.lists.constants.pool[at + 1]
            if node >= 0:
                self.reserve_risen(1)
                self.put_risen(node, row)
            else:
                self.reserve_risen(self.tests.several_start[~node + 1] - self.tests.several_start[~node])
                for each in range(self.tests.several_start[~node], self.tests.several_start[~node + 1]):
                    self.put_risen(self.tests.several_nodes[each], row)
            at += 2
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=True)
    def probe_affixes(
        self, text: cython.const[cython.uchar][::1], label: cython.int, row: cython.int, means: cython.int
    ) -> cython.int:
        """Constants at the start of a value, from its first byte on, and at its end, from the last one back."""
        branch: cython.int = self.parts.start_root if means & BY_START else -1
        at: cython.Py_ssize_t = self.begin_at
        while branch >= 0:
            if self.parts.leaves[branch]:
                self.pass_constant(label, row, self.tests.texts + self.parts.leaves[branch] - 1)
            if at == self.end_at:
                break
            branch = self.parts.follow(branch, text[at])
            at += 1
        self.step((at - self.begin_at) >> 4)
        branch = self.parts.end_root if means & BY_END else -1
        at = self.end_at
        while branch >= 0:
            if self.parts.leaves[branch]:
                self.pass_constant(label, row, self.tests.texts + self.parts.leaves[branch] - 1)
            if at == self.begin_at:
                break
            at -= 1
            branch = self.parts.follow(branch, text[at])
        return self.step((self.end_at - at) >> 4)

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
            self.search(self.attribute_characters, begin, end)
        elif not self.is_searched:
            self.places = 0
            first: cython.Py_ssize_t = self.text_begin[self.text_first[self.root]]
            self.search(self.characters, first, self.text_begin[self.text_last[self.root]])
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
    def search(
        self, text: cython.const[cython.uchar][::1], begin: cython.Py_ssize_t, end: cython.Py_ssize_t
    ) -> cython.int:
        """Find all places of all constants in a stretch of the texts, or of the attributes."""
        start: cython.Py_ssize_t
        at: cython.Py_ssize_t
        branch: cython.int
        byte: cython.int
        firsts: cython.int[::1] = self.parts.first_branches
        has_long: cython.bint = firsts.shape[0] > 1
        has_short: cython.bint = self.parts.has_short
        self.step((end - begin) >> 3)
        self.most_places = FEW_PLACES + ((end - begin) >> 2)
        for start in range(begin, end):
            byte = text[start]
            if has_short and self.parts.short_leaves[byte]:
                self.put_place(start, start + 1, self.parts.short_leaves[byte] - 1)
            if not has_long or start + 1 == end:
                continue
            branch = firsts[byte << 8 | text[start + 1]]
            if branch == 0:
                continue
            at = start + 2
            while branch > 0:
                if self.parts.leaves[branch]:
                    self.put_place(start, at, self.parts.leaves[branch] - 1)
                if at == end:
                    break
                branch = self.parts.follow(branch, text[at])
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
