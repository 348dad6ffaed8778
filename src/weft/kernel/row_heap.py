"""Rows on a heap, and steps that are counted: what going from node to node of a batch takes."""

import cython
import numpy as np

from weft.kernel.arrays import wider, zeros

if not cython.compiled:  # compiled, these are those of the .pxd
    from weft.kernel.batch_columns import BatchColumns
    from weft.kernel.plan_lists import PlanLists
    from weft.kernel.plan_tables import PlanTables

MANY = cython.declare(cython.Py_ssize_t, 64)
MANY = 64  # rows that are not sorted one by one


class TooMuchError(Exception):
    """A batch would take more steps than it was given; who asked does it in another way."""


@cython.cclass
class RowHeap(BatchColumns):
    """Rows that lie behind each other; who puts some there takes them away."""

    def __init__(self, plan: PlanTables, lists: PlanLists):
        BatchColumns.__init__(self, plan, lists)
        self.heap, self.heap_size, self.left = zeros(1 << 10, np.int32), 0, 0

    @cython.cfunc
    @cython.nogil
    @cython.inline
    @cython.exceptval(-1, check=True)
    def step(self, number: cython.longlong) -> cython.int:
        self.left -= number
        if self.left < 0:
            with cython.gil:
                raise TooMuchError
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=True)
    def push(self, row: cython.int) -> cython.int:
        if self.heap_size == self.heap.shape[0]:
            self.step(self.heap_size >> 4)
            with cython.gil:
                self.heap = wider(self.heap)
        self.heap[self.heap_size] = row
        self.heap_size += 1
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=True)
    def sort(self, base: cython.Py_ssize_t) -> cython.int:
        """What lies on the heap from a place on, sorted, each once."""
        size: cython.Py_ssize_t = self.heap_size - base
        at: cython.Py_ssize_t
        kept: cython.Py_ssize_t
        is_sorted: cython.bint = True
        self.step(size)
        for at in range(base + 1, self.heap_size):
            if self.heap[at] <= self.heap[at - 1]:
                is_sorted = False
                break
        if is_sorted:
            return 0
        if size > MANY:
            with cython.gil:
                np.asarray(self.heap)[base : self.heap_size].sort()
        else:
            self.sort_few(base)
        kept = base + 1
        for at in range(base + 1, self.heap_size):
            if self.heap[at] != self.heap[at - 1]:
                self.heap[kept] = self.heap[at]
                kept += 1
        self.heap_size = kept
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def sort_few(self, base: cython.Py_ssize_t) -> cython.void:
        at: cython.Py_ssize_t
        place: cython.Py_ssize_t
        row: cython.int
        for at in range(base + 1, self.heap_size):
            row = self.heap[at]
            place = at
            while place > base and self.heap[place - 1] > row:
                self.heap[place] = self.heap[place - 1]
                place -= 1
            self.heap[place] = row
