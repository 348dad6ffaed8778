"""Values in, the tests that constants lead to out: a value is a constant, or has it at its start, end or inside."""

import cython
import numpy as np

from weft.kernel.arrays import wider, zeros
from weft.kernel.row_heap import TooMuchError

if not cython.compiled:  # compiled, these are those of the .pxd
    from weft.kernel.codes import BY_END, BY_EQUAL, BY_INSIDE, BY_START, CONTAINS, ENDS, STARTS, TEXT
    from weft.kernel.measuring import Measuring
    from weft.kernel.plan_lists import PlanLists
    from weft.kernel.plan_tables import PlanTables

FEW_PLACES = cython.declare(cython.Py_ssize_t, 1 << 16)
FEW_PLACES = 1 << 16  # of constants in a text, whatever it is


@cython.cclass
class TextProbing(Measuring):
    """What comes up in a batch by its texts; `text_probing.pxd` tells the columns."""

    def __init__(self, plan: PlanTables, lists: PlanLists):
        Measuring.__init__(self, plan, lists)
        self.risen, self.risen_size = zeros(1 << 10, np.int32), 0
        self.part_stamp, self.stamp_of_part = zeros(self.parts.size, np.int64), 0
        self.place_begin, self.place_end = zeros(1 << 6, np.int64), zeros(1 << 6, np.int64)
        self.place_code, self.places = zeros(1 << 6, np.int32), 0
        self.searched_begin = self.searched_end = 0

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
        if means & BY_EQUAL:
            if not self.known[row] & 1:
                self.read(row, TEXT)
            if self.low[row] < self.high[row]:
                self.pass_constant(label, row, self.low[row])
        if means & ~BY_EQUAL:
            if self.find_value(row):
                self.probe_parts(label, row, means, self.characters, self.begin_at, self.end_at)
            else:
                self.probe_parts(label, row, means, self.attribute_characters, self.begin_at, self.end_at)
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
    def probe_parts(
        self,
        label: cython.int,
        row: cython.int,
        means: cython.int,
        text: cython.const[cython.uchar][::1],
        begin: cython.Py_ssize_t,
        end: cython.Py_ssize_t,
    ) -> cython.int:
        """Constants at the start, at the end and inside a value."""
        if means & BY_START:
            self.probe_affixes(label, row, STARTS, text, begin, end - begin)
        if means & BY_END:
            self.probe_affixes(label, row, ENDS, text, end - 1, end - begin)
        if means & BY_INSIDE:
            self.probe_inside(label, row, text, begin, end)
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=True)
    def probe_affixes(
        self,
        label: cython.int,
        row: cython.int,
        operator: cython.int,
        text: cython.const[cython.uchar][::1],
        start: cython.Py_ssize_t,
        size: cython.Py_ssize_t,
    ) -> cython.int:
        """Starts or ends of a value, from the shortest on."""
        tree: cython.int = operator - CONTAINS
        way: cython.int = -1 if operator == ENDS else 1
        first: cython.Py_ssize_t = self.places
        at: cython.Py_ssize_t
        leaf: cython.int
        if self.parts.always[tree] >= 0:
            self.pass_constant(label, row, self.tests.texts + self.parts.always[tree])
        if size == 0:
            return 0
        leaf = self.parts.short_leaves[tree << 8 | text[start]]
        if leaf:
            self.pass_constant(label, row, self.tests.texts + leaf - 1)
        if size == 1 or not self.leads_on(tree, text[start] << 8 | text[start + way]):
            return 0
        self.most_places = first + FEW_PLACES + size
        self.follow(tree, text, start, size)
        for at in range(first, self.places):
            self.pass_constant(label, row, self.tests.texts + self.place_code[at])
        self.places = first
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.inline
    @cython.exceptval(check=False)
    def leads_on(self, tree: cython.int, pair: cython.int) -> cython.bint:
        """Whether some constant of a tree begins with two bytes."""
        return (self.parts.pairs[tree << 10 | pair >> 6] >> (pair & 63)) & 1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=True)
    def follow(
        self,
        tree: cython.int,
        text: cython.const[cython.uchar][::1],
        start: cython.Py_ssize_t,
        room: cython.Py_ssize_t,
    ) -> cython.int:
        """Note the constants of two bytes and more that stand at a place of a text, or that end there."""
        way: cython.int = -1 if tree == ENDS - CONTAINS else 1
        branch: cython.int = self.parts.further(tree, text[start] << 8 | text[start + way])
        size: cython.Py_ssize_t = 2
        length: cython.Py_ssize_t
        code: cython.int
        while branch >= 0:
            code = self.parts.lone[branch] - 1
            if code >= 0:
                length = self.parts.character_start[code + 1] - self.parts.character_start[code]
                if length <= room and self.parts.is_at(code, text, start if way > 0 else start - length + 1):
                    self.put_place(start, start + length, code)
                break
            if self.parts.leaves[branch]:
                self.put_place(start, start + size, self.parts.leaves[branch] - 1)
            if size == room:
                break
            branch = self.parts.further(branch, text[start + way * size])
            size += 1
        return self.step(size >> 3)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=True)
    def probe_inside(
        self,
        label: cython.int,
        row: cython.int,
        text: cython.const[cython.uchar][::1],
        begin: cython.Py_ssize_t,
        end: cython.Py_ssize_t,
    ) -> cython.int:
        """Constants inside a value, each once. What was gone over for an element serves those inside of it too."""
        at: cython.Py_ssize_t = 0
        high: cython.Py_ssize_t
        middle: cython.Py_ssize_t
        is_attribute: cython.bint = self.elements <= row < self.first_text
        if self.parts.always[0] >= 0:
            self.pass_constant(label, row, self.tests.texts + self.parts.always[0])
        if is_attribute or not (self.searched_begin <= begin and end <= self.searched_end):
            self.places, self.searched_begin, self.searched_end = 0, begin, 0 if is_attribute else end
            self.search(text, begin, end)
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
        """Find all places of all constants in a stretch of a text."""
        start: cython.Py_ssize_t
        byte: cython.int
        pairs: cython.ulonglong[::1] = self.parts.pairs
        pair: cython.int = 0
        has_short: cython.bint = self.parts.has_short[0]
        self.step((end - begin) >> 3)
        self.most_places = FEW_PLACES + ((end - begin) >> 2)
        for start in range(begin, end):
            byte = text[start]
            pair = (pair & 255) << 8 | byte
            if (pairs[pair >> 6] >> (pair & 63)) & 1 and start > begin:
                self.follow(0, text, start - 1, end - start + 1)
            if has_short and self.parts.short_leaves[byte]:
                self.put_place(start, start + 1, self.parts.short_leaves[byte] - 1)
        return 0

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
