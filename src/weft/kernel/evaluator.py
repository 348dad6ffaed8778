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

from weft.kernel.arrays import held

if not cython.compiled:  # compiled, these are those of the .pxd
    from weft.kernel.sifting import Sifting
    from weft.kernel.codes import AND, BY_TEST, CHILD, DOWN, DRIVEN, FALSE, FIRST, FORM, LIFT, MEASURE, NAMED, OR, PLACE
    from weft.kernel.codes import RISE, STEP, TEST, TRUE, WAY

SOME = cython.declare(cython.Py_ssize_t, 32)
SOME = 32  # places of facts, beyond which what they drive comes first: so many records are fetched beside each other


@cython.cclass
class Evaluator(Sifting):
    """Batches against one shared plan."""

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
        first: cython.Py_ssize_t
        self.is_rising = True
        self.clear_found(0)  # if the batch before was given up, it has left some
        self.whether, self.found_size, self.found_before = whether, 0, 0
        with cython.nogil:
            for document in range(self.ranges.shape[1] - 1):
                self.open_document(document)
                self.waiting_size = self.stacked = 0
                if other_start[document] < other_start[document + 1]:
                    self.note(others, other_rows, other_start[document], other_start[document + 1])
                first = self.part_risen(self.risen_start[document], self.risen_start[document + 1])
                if first > self.risen_start[document]:  # what is noted by itself, before anything asks for it
                    self.sift(self.risen, self.risen_start[document], first)
                    for at in range(0, self.waiting_size, 2):
                        self.consider(self.waiting[at], self.waiting[at + 1])
                    self.waiting_size = 0
                for at in range(other_start[document], other_start[document + 1]):
                    self.fact(others[at], other_rows[at])
                self.settle()
                self.sift(self.risen, first, self.risen_start[document + 1])
                for at in range(0, self.waiting_size, 2):
                    self.consider(self.waiting[at], self.waiting[at + 1])
                    if self.stacked > SOME:
                        self.settle()
                self.settle()
        self.forget()
        self.is_rising = False
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
        self.is_rising = False  # where a batch was given up it still is
        with cython.nogil:
            for at in range(nodes_view.shape[0]):
                into[at] = self.holds(nodes_view[at], rows_view[at])
        return answer.astype(bool)

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
    def consider(self, node: cython.int, row: cython.int) -> cython.int:
        """A candidate that nothing is known against: the row is where its driver holds, or where it lifts to."""
        if self.is_known(node):
            return 0
        kind: cython.int = self.plan.forms[node, FORM]
        if self.is_counting:
            self.came[node] += 1
        if kind == LIFT or kind == FIRST:
            if self.plan.forms[node, RISE]:
                return self.lift_to(node, row, kind == FIRST)
            return self.lift(node, row, kind == FIRST)
        if kind == AND:
            return self.join(node, row)
        if kind == MEASURE:
            return self.tell(node, row)
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
    def tell(self, node: cython.int, row: cython.int) -> cython.int:
        """Facts of those tests on a measure which the row's number passes."""
        if not self.holds(node, row):
            return 0
        base: cython.Py_ssize_t = self.risen_size
        at: cython.Py_ssize_t
        run: cython.longlong
        place: cython.int = self.plan.nodes[node, PLACE]
        for run in range(self.tests.measure_start[place], self.tests.measure_start[place + 1]):
            self.pass_number(run, self.number_of(node, row), row)
        self.step((self.risen_size - base) >> 1)
        for at in range(base, self.risen_size, 2):
            self.fact(self.risen[at], row)
        self.risen_size = base
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
