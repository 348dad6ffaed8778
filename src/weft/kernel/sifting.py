"""What comes up in a document in, the candidates of which something may come out; and facts, with what they drive.

Candidates are sifted one after the other, so that the record of the next is on its way from memory while one is looked
at.
"""

import cython
import numpy as np

from weft.kernel.arrays import wider, zeros

if not cython.compiled:  # compiled, these are those of the .pxd
    from weft.kernel.codes import AIM, AND, DOWN, DRIVEN, FIRST, FORM, IS_NOTED, IS_RESULT, LIFT, RISE, RISEN, TRUE
    from weft.kernel.codes import WHOLE
    from weft.kernel.plan_lists import PlanLists
    from weft.kernel.plan_tables import PlanTables
    from weft.kernel.prefetching import prefetch
    from weft.kernel.probing import Probing

AHEAD = cython.declare(cython.Py_ssize_t, 24)
AHEAD = 24  # places between a candidate and the one whose record is fetched: twelve pairs


@cython.cclass
class Sifting(Probing):
    """Facts to come, and results found; `sifting.pxd` tells the columns."""

    def __init__(self, plan: PlanTables, lists: PlanLists):
        Probing.__init__(self, plan, lists)
        self.stack, self.stacked = zeros(1 << 10, np.int32), 0
        self.driven, self.drive_size = zeros(1 << 10, np.int32), 0
        self.waiting, self.waiting_size = zeros(1 << 10, np.int32), 0
        self.found, self.found_size, self.found_before = zeros(1 << 10, np.int32), 0, 0
        self.is_found, self.whether = zeros(plan.results // 64 + 1, np.uint64), False

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def open_document(self, document: cython.int) -> cython.void:
        """Forget the one before, and know the names of this one, of which there are none if it has no nodes."""
        root: cython.int = self.ranges[0, document]
        self.forget()
        self.clear_found(self.found_before)
        self.found_before = self.found_size
        self.document = document
        self.whole_low = self.whole_high = 0
        if root == self.ranges[0, document + 1]:
            return
        self.whole_low = self.below_names[root, 0] | self.name_masks[self.names[root], 0]
        self.whole_high = self.below_names[root, 1] | self.name_masks[self.names[root], 1]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def clear_found(self, first: cython.Py_ssize_t) -> cython.void:
        """Take back the marks on the results that were found from a place on."""
        at: cython.Py_ssize_t
        for at in range(first, self.found_size, 2):
            self.is_found[self.found[at] >> 6] = 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def is_known(self, node: cython.int) -> cython.bint:
        """Whether all that may come of a node is one result, which the document is known to have."""
        aim: cython.int = self.plan.drives[node, AIM] - 1
        return self.whether and aim >= 0 and (self.is_found[aim >> 6] >> (aim & 63)) & 1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=True)
    def sift(self, pairs: cython.int[::1], first: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.int:
        """Let those candidates wait of which something may come; what lifts waits at the row that it lifts to."""
        at: cython.Py_ssize_t
        node: cython.int
        row: cython.int
        kind: cython.int
        ups: cython.int
        lacking: cython.ulonglong
        if self.waiting_size + end - first > self.waiting.shape[0]:
            with cython.gil:
                self.waiting = wider(self.waiting, self.waiting_size + end - first)
        self.step((end - first) >> 1)
        for at in range(first, end, 2):
            if cython.compiled and at + AHEAD < end:
                prefetch(cython.address(self.plan.drives[pairs[at + AHEAD], 0]))
            node = pairs[at]
            lacking = self.plan.drive_masks[node, WHOLE] & ~self.whole_low
            lacking |= self.plan.drive_masks[node, WHOLE + 1] & ~self.whole_high
            if lacking or self.is_known(node):  # names without which nothing comes of it are not in the document
                continue
            row = pairs[at + 1]
            kind = self.plan.forms[node, FORM]
            if kind == LIFT or kind == FIRST:
                ups = self.plan.forms[node, RISE]
                if ups:
                    while ups:
                        row = self.parents[row]
                        ups -= 1
                    if self.leads_nowhere(node, row):
                        continue
            elif self.leads_nowhere(node, row):
                continue
            if cython.compiled and (kind == DOWN or kind == AND):
                prefetch(cython.address(self.plan.nodes[node, 0]))
            self.waiting[self.waiting_size] = node
            self.waiting[self.waiting_size + 1] = row
            self.waiting_size += 2
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def part_risen(self, first: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Put what is to be noted before all else that comes up; where that begins is returned."""
        at: cython.Py_ssize_t
        node: cython.int
        row: cython.int
        if not self.plan.has_in:
            return first
        for at in range(first, end, 2):
            node = self.risen[at]
            if self.plan.forms[node, FORM] == LIFT and self.plan.forms[node, IS_NOTED]:
                row = self.risen[at + 1]
                self.risen[at], self.risen[at + 1] = self.risen[first], self.risen[first + 1]
                self.risen[first], self.risen[first + 1] = node, row
                first += 2
        return first

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=True)
    def note(
        self, nodes: cython.int[::1], rows: cython.int[::1], first: cython.longlong, end: cython.longlong
    ) -> cython.int:
        at: cython.longlong
        for at in range(first, end):
            slot: cython.Py_ssize_t = self.slot(nodes[at], rows[at])
            self.cells[slot] |= TRUE
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=True)
    def fact(self, node: cython.int, row: cython.int) -> cython.int:
        """A pair holds: it waits for its turn, once."""
        slot: cython.Py_ssize_t = self.slot(node, row)
        if self.cells[slot] & RISEN:
            return 0
        self.cells[slot] |= TRUE | RISEN
        if self.plan.forms[node, IS_RESULT]:
            self.find_result(self.plan.result[node], row)
        if self.plan.drives[node, DRIVEN]:
            if cython.compiled:
                prefetch(cython.address(self.plan.dependents[self.plan.drives[node, DRIVEN] - 1]))
            if self.stacked + 2 > self.stack.shape[0]:
                with cython.gil:
                    self.stack = wider(self.stack)
            self.stack[self.stacked] = node
            self.stack[self.stacked + 1] = row
            self.stacked += 2
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=True)
    def find_result(self, result: cython.int, row: cython.int) -> cython.int:
        one: cython.ulonglong = 1
        if self.whether:
            if (self.is_found[result >> 6] >> (result & 63)) & 1:
                return 0
            self.is_found[result >> 6] |= one << (result & 63)
            row = self.document
        if self.found_size + 2 > self.found.shape[0]:
            with cython.gil:
                self.found = wider(self.found)
        self.found[self.found_size] = result
        self.found[self.found_size + 1] = row
        self.found_size += 2
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=True)
    def spread(self) -> cython.int:
        """The facts of a round bring up what they drive."""
        place: cython.Py_ssize_t
        at: cython.int
        node: cython.int
        self.drive_size = 0
        for place in range(0, self.stacked, 2):
            at = self.plan.drives[self.stack[place], DRIVEN] - 1
            node = 0
            while node >= 0:
                if self.drive_size + 2 > self.driven.shape[0]:
                    with cython.gil:
                        self.driven = wider(self.driven)
                node = self.plan.dependents[at]
                if cython.compiled:
                    prefetch(cython.address(self.plan.drives[node if node >= 0 else ~node, 0]))
                self.driven[self.drive_size] = node if node >= 0 else ~node
                self.driven[self.drive_size + 1] = self.stack[place + 1]
                self.drive_size += 2
                at += 1
        self.stacked = 0
        return 0
