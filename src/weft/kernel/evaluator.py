# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False, nonecheck=False
"""The shared plan's nodes over a batch's nodes, as integers: what drivers bring up in, the results that hold out.

A *fact* is a pair (node of the shared plan, node of the document). Facts rise from the drivers: each brings up the
nodes that it drives, and these become facts if their other parts hold. Parts that drive nothing are looked at only
then, from the candidate, and once for each pair (`holding`). So a document costs what its values touch.

Plain Python with Cython's annotations: it runs as it stands, slowly, and compiled it is C.
"""

import cython
import numpy as np

from weft.kernel.arrays import held, wider, zeros

if not cython.compiled:  # compiled, the types are those of the .pxd
    from weft.kernel.plan_lists import PlanLists
    from weft.kernel.plan_tables import PlanTables
    from weft.kernel.probing import Probing

NEVER = cython.declare(cython.int, 0)
TEST = cython.declare(cython.int, 1)
NAMED = cython.declare(cython.int, 2)
EXISTS = cython.declare(cython.int, 3)
LIFT = cython.declare(cython.int, 4)
FIRST = cython.declare(cython.int, 5)
LINKED = cython.declare(cython.int, 6)
AND = cython.declare(cython.int, 7)
OR = cython.declare(cython.int, 8)
RANK = cython.declare(cython.int, 9)
DOWN = cython.declare(cython.int, 10)
NEVER, TEST, NAMED, EXISTS, LIFT, FIRST, LINKED, AND, OR, RANK, DOWN = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10
FALSE = cython.declare(cython.int, 1)
TRUE = cython.declare(cython.int, 2)
RISEN = cython.declare(cython.int, 4)
FALSE, TRUE, RISEN = 1, 2, 4


@cython.cclass
class Evaluator(Probing):
    """One batch against one shared plan; `evaluator.pxd` tells what it keeps: facts to come, and results found."""

    def __init__(self, plan: PlanTables, lists: PlanLists, source, columns: dict, steps: int):
        Probing.__init__(self, plan, lists, source, columns, steps)
        self.stack, self.stacked = zeros(1 << 10, np.int32), 0
        self.found, self.found_size = zeros(1 << 10, np.int32), 0

    def remember(self, nodes, rows) -> None:
        """These pairs are facts, found elsewhere; what is not among them, of probed tests, is none."""
        nodes_view: cython.int[::1] = held(nodes)
        rows_view: cython.int[::1] = held(rows)
        at: cython.Py_ssize_t
        for at in range(nodes_view.shape[0]):
            slot: cython.Py_ssize_t = self.slot(nodes_view[at], rows_view[at], 0)
            self.marks[slot] = self.marks[slot] | TRUE

    def rise(self, nodes, rows) -> tuple:
        """What candidates lead to: (result, row), each once."""
        nodes_view: cython.int[::1] = held(nodes)
        rows_view: cython.int[::1] = held(rows)
        at: cython.Py_ssize_t
        for at in range(nodes_view.shape[0]):
            self.consider(nodes_view[at], rows_view[at])
            while self.stacked:
                self.stacked -= 2
                self.spread(self.stack[self.stacked], self.stack[self.stacked + 1])
        pairs = np.array(np.asarray(self.found)[: self.found_size])
        return pairs[::2], pairs[1::2]

    def hold(self, nodes, rows) -> object:
        """Which of these pairs hold."""
        nodes_view: cython.int[::1] = held(nodes)
        rows_view: cython.int[::1] = held(rows)
        answer = np.zeros(len(nodes), np.int8)
        into: cython.schar[::1] = held(answer)
        at: cython.Py_ssize_t
        for at in range(nodes_view.shape[0]):
            into[at] = self.holds(nodes_view[at], rows_view[at])
        return answer.astype(bool)

    @cython.cfunc
    @cython.exceptval(-1)
    def fact(self, node: cython.int, row: cython.int) -> cython.int:
        """A pair holds: it waits for its turn, once."""
        slot: cython.Py_ssize_t = self.slot(node, row, 0)
        if self.marks[slot] & RISEN:
            return 0
        self.marks[slot] = TRUE | RISEN
        if self.plan.result[node] >= 0:
            if self.found_size + 2 > self.found.shape[0]:
                self.found = wider(self.found)
            self.found[self.found_size] = self.plan.result[node]
            self.found[self.found_size + 1] = row
            self.found_size += 2
        if self.plan.dependent_start[node] < self.plan.dependent_start[node + 1]:
            if self.stacked + 2 > self.stack.shape[0]:
                self.stack = wider(self.stack)
            self.stack[self.stacked] = node
            self.stack[self.stacked + 1] = row
            self.stacked += 2
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def spread(self, node: cython.int, row: cython.int) -> cython.int:
        """A fact brings up what it drives."""
        at: cython.longlong
        for at in range(self.plan.dependent_start[node], self.plan.dependent_start[node + 1]):
            self.consider(self.plan.dependents[at], row)
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def consider(self, node: cython.int, row: cython.int) -> cython.int:
        """A candidate: the row is where the node's driver holds."""
        plan: PlanTables = self.plan
        kind: cython.int = plan.kind[node]
        self.step(1)
        if kind == EXISTS or kind == LIFT or kind == FIRST:
            return self.lift(node, row, kind == FIRST)
        if kind == DOWN:
            if plan.by_test[node] == 0:
                return self.descend(node, row)
            if self.is_below(node, row):
                self.fact(node, row)
            return 0
        if kind == AND and plan.child[node] >= 0:
            slot: cython.Py_ssize_t = self.slot(node, row, 0)
            if self.marks[slot] == 0 and not self.are_met(node, row):
                slot = self.slot(node, row, 0)
                self.marks[slot] = FALSE
            elif self.marks[self.slot(node, row, 0)] != FALSE:
                self.fact(node, row)
            return 0
        if kind == TEST or kind == NAMED or kind == OR or self.holds(node, row):
            self.fact(node, row)
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def lift(self, node: cython.int, row: cython.int, is_first: cython.bint) -> cython.int:
        """Facts where the edge can begin that ends at the row."""
        base: cython.Py_ssize_t = self.heap_size
        self.above(self.plan.edge[node], row)
        at: cython.Py_ssize_t
        end: cython.Py_ssize_t = self.heap_size
        for at in range(base, end):
            if not is_first or self.holds(node, self.heap[at]):
                self.fact(node, self.heap[at])
        self.heap_size = base
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def descend(self, node: cython.int, row: cython.int) -> cython.int:
        """Facts where the edge ends that begins at the row, if they pass the test."""
        base: cython.Py_ssize_t = self.heap_size
        self.below(self.plan.edge[node], row)
        at: cython.Py_ssize_t
        end: cython.Py_ssize_t = self.heap_size
        test: cython.int = self.plan.test[node]
        for at in range(base, end):
            if test < 0 or self.holds(test, self.heap[at]):
                self.fact(node, self.heap[at])
        self.heap_size = base
        return 0
