# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False, nonecheck=False
"""The shared plan's nodes over a batch's nodes, as integers: what drivers bring up in, the results that hold out.

A *fact* is a pair (node of the shared plan, node of the document). Facts rise from the drivers: each brings up the
nodes that it drives, and these become facts if their other parts hold. Parts that drive nothing are looked at only
then, from the candidate, and once for each pair (`holding`). So a document costs what its values touch. Candidates
whose parts ask for names that are not there are dropped before anything is looked at.

The candidates of a document are sifted one after the other, so that the record of the next is on its way from memory
while one is looked at. Those that are left become facts or not, a few at a time: what the facts drive comes next, in
rounds, and then the next few, of which less is to be looked at where a result is known by then.

Plain Python with Cython's annotations: it runs as it stands, slowly, and compiled it is C.
"""

import cython
import numpy as np

from weft.kernel.arrays import held, wider, zeros

if not cython.compiled:  # compiled, these are those of the .pxd
    from weft.kernel.codes import AIM, AND, BY_TEST, CHILD, DOWN, DRIVEN, FALSE, FIRST, FORM, IS_RESULT, LIFT, NAMED, OR
    from weft.kernel.codes import RISE, RISEN, STEP, TEST, TRUE, WAY, WHOLE
    from weft.kernel.plan_lists import PlanLists
    from weft.kernel.plan_tables import PlanTables
    from weft.kernel.prefetching import prefetch
    from weft.kernel.probing import Probing

AHEAD = cython.declare(cython.Py_ssize_t, 24)
AHEAD = 24  # places between a candidate and the one whose record is fetched: twelve pairs
SOME = cython.declare(cython.Py_ssize_t, 32)
SOME = 32  # places of facts, beyond which what they drive comes first: so many records are fetched beside each other


@cython.cclass
class Evaluator(Probing):
    """Batches against one shared plan; `evaluator.pxd` tells what it keeps: facts to come, and results found."""

    def __init__(self, plan: PlanTables, lists: PlanLists):
        Probing.__init__(self, plan, lists)
        self.stack, self.stacked = zeros(1 << 10, np.int32), 0
        self.driven, self.drive_size = zeros(1 << 10, np.int32), 0
        self.waiting, self.waiting_size = zeros(1 << 10, np.int32), 0
        self.found, self.found_size, self.found_before = zeros(1 << 10, np.int32), 0, 0
        self.is_found, self.whether = zeros(plan.results // 64 + 1, np.uint64), False

    def remember(self, nodes, rows) -> None:
        """These pairs are facts, found elsewhere; what is not among them, of probed tests, is none."""
        self.note(held(nodes), held(rows), 0, len(nodes))

    def rise(self, nodes, rows, starts, whether: bool) -> tuple:
        """What comes of what was probed, and of facts found elsewhere, by document: (result, row), each once.

        With `whether`, (result, document) instead: less is looked at then.
        """
        others: cython.int[::1] = held(nodes)
        other_rows: cython.int[::1] = held(rows)
        other_start: cython.longlong[::1] = held(starts)
        document: cython.int
        at: cython.Py_ssize_t
        self.clear_found(0)  # if the batch before was given up, it has left some
        self.whether, self.found_size, self.found_before = whether, 0, 0
        with cython.nogil:
            for document in range(self.ranges.shape[1] - 1):
                self.open_document(document)
                self.waiting_size = self.stacked = 0
                if other_start[document] < other_start[document + 1]:
                    self.note(others, other_rows, other_start[document], other_start[document + 1])
                for at in range(other_start[document], other_start[document + 1]):
                    self.fact(others[at], other_rows[at])
                self.settle()
                self.sift(self.risen, self.risen_start[document], self.risen_start[document + 1])
                for at in range(0, self.waiting_size, 2):
                    self.consider(self.waiting[at], self.waiting[at + 1])
                    if self.stacked > SOME:
                        self.settle()
                self.settle()
        self.forget()
        self.clear_found(self.found_before)
        pairs = np.array(np.asarray(self.found)[: self.found_size])
        return pairs[::2], pairs[1::2]

    def hold(self, nodes, rows) -> object:
        """Which of these pairs hold."""
        nodes_view: cython.int[::1] = held(nodes)
        rows_view: cython.int[::1] = held(rows)
        answer = np.zeros(len(nodes), np.int8)
        into: cython.schar[::1] = held(answer)
        at: cython.Py_ssize_t
        with cython.nogil:
            for at in range(nodes_view.shape[0]):
                into[at] = self.holds(nodes_view[at], rows_view[at])
        return answer.astype(bool)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def open_document(self, document: cython.int) -> cython.void:
        """Forget the one before, and know the names of this one."""
        root: cython.int = self.ranges[0, document]
        self.forget()
        self.clear_found(self.found_before)
        self.found_before = self.found_size
        self.document = document
        self.whole_low = self.below_names[root, 0] | self.name_masks[self.names[root], 0]
        self.whole_high = self.below_names[root, 1] | self.name_masks[self.names[root], 1]

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
    @cython.exceptval(-1, check=True)
    def settle(self) -> cython.int:
        """All that comes of the facts that wait, round by round."""
        base: cython.Py_ssize_t = self.waiting_size
        at: cython.Py_ssize_t
        while self.stacked:
            self.spread()
            self.sift(self.driven, 0, self.drive_size)
            for at in range(base, self.waiting_size, 2):
                self.consider(self.waiting[at], self.waiting[at + 1])
            self.waiting_size = base
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

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=True)
    def consider(self, node: cython.int, row: cython.int) -> cython.int:
        """A candidate that nothing is known against: the row is where its driver holds, or where it lifts to."""
        if self.is_known(node):
            return 0
        kind: cython.int = self.plan.forms[node, FORM]
        if kind == LIFT or kind == FIRST:
            if self.plan.forms[node, RISE]:
                return self.lift_to(node, row, kind == FIRST)
            return self.lift(node, row, kind == FIRST)
        if kind == AND:
            return self.join(node, row)
        if kind == DOWN:
            if not self.plan.forms[node, BY_TEST]:
                return self.descend(node, row)
            if self.is_below(node, row):
                self.fact(node, row)
        elif kind == TEST or kind == NAMED or kind == OR or self.holds(node, row):
            self.fact(node, row)
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=True)
    def join(self, node: cython.int, row: cython.int) -> cython.int:
        """An AND whose driver holds: a fact if its other parts hold too."""
        slot: cython.Py_ssize_t = self.slot(node, row)
        known: cython.longlong = self.cells[slot] & (TRUE | FALSE)
        if known == 0 and not self.are_met(node, row):
            slot = self.slot(node, row)  # the table may have grown
            self.cells[slot] |= FALSE
        elif known != FALSE:
            self.fact(node, row)
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=True)
    def lift(self, node: cython.int, row: cython.int, is_first: cython.bint) -> cython.int:
        """Facts where the edge can begin that ends at the row."""
        base: cython.Py_ssize_t = self.heap_size
        self.above(self.plan.drives[node, WAY], row)
        at: cython.Py_ssize_t
        end: cython.Py_ssize_t = self.heap_size
        for at in range(base, end):
            if not self.leads_nowhere(node, self.heap[at]):
                self.lift_to(node, self.heap[at], is_first)
        self.heap_size = base
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=True)
    def lift_to(self, node: cython.int, row: cython.int, is_first: cython.bint) -> cython.int:
        if not is_first or self.holds(node, row):
            self.fact(node, row)
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=True)
    def descend(self, node: cython.int, row: cython.int) -> cython.int:
        """Facts where the edge ends that begins at the row, if they pass the test."""
        edge: cython.int = self.plan.drives[node, WAY]
        if self.whether and not self.plan.drives[node, DRIVEN]:  # at which of them is not asked
            if self.leads(node, self.plan.edges[edge, STEP], row, 0, False):
                self.find_result(self.plan.result[node], row)
            return 0
        base: cython.Py_ssize_t = self.heap_size
        self.below(edge, row)
        at: cython.Py_ssize_t
        end: cython.Py_ssize_t = self.heap_size
        test: cython.int = self.plan.nodes[node, CHILD]
        for at in range(base, end):
            if test < 0 or self.holds(test, self.heap[at]):
                self.fact(node, self.heap[at])
                if self.is_known(node):
                    break
        self.heap_size = base
        return 0
