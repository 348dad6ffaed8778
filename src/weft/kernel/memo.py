"""What is known of pairs (node of the shared plan, node of the document), by open addressing.

It is forgotten after every document, so that it stays small and near: what has another stamp is not there.
"""

import cython
import numpy as np

from weft.kernel.arrays import zeros
from weft.kernel.tables import random_factor

if not cython.compiled:  # compiled, it is that of the .pxd
    from weft.kernel.tables import slot_of

BITS = cython.declare(cython.int, 12)
BITS = 12  # of the number of a pair's slot to begin with
MOST_KEPT = cython.declare(cython.Py_ssize_t, 1 << 16)
MOST_KEPT = 1 << 16  # pairs that there is still room for in the next batch


@cython.cclass
class Memo:
    """The table of a document; `memo.pxd` tells its columns."""

    def __init__(self):
        self.factor = random_factor()
        self.used, self.stamp = 0, 1
        self.begin_small()

    @cython.cfunc
    @cython.exceptval(-1)
    def begin_small(self) -> cython.int:
        """Room for a little."""
        self.cells, self.numbers = zeros(2 << BITS, np.int64), zeros(1 << BITS, np.int32)
        self.mask, self.shift = (1 << BITS) - 1, 64 - BITS
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def shrink(self) -> cython.int:
        """Before a batch: what a large document needed is not kept."""
        if self.mask >= MOST_KEPT:
            self.begin_small()
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def forget(self) -> cython.void:
        """Nothing is known from now on."""
        self.stamp += 1
        self.used = 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=True)
    def slot(self, node: cython.int, row: cython.int) -> cython.Py_ssize_t:
        """Where the cell of a pair is that says what is known of it: `cells[slot]`, as bits; `numbers[slot >> 1]`."""
        key: cython.longlong = node
        key = (key << 32) | row
        at: cython.ulonglong = slot_of(key, self.factor, self.shift)
        stamp: cython.longlong = self.stamp
        while self.cells[2 * at + 1] >> 3 == stamp:
            if self.cells[2 * at] == key:
                return 2 * at + 1
            at = (at + 1) & self.mask
        if 2 * (self.used + 1) > self.mask:
            self.grow()
            return self.slot(node, row)
        self.used += 1
        self.cells[2 * at] = key
        self.cells[2 * at + 1] = stamp << 3
        return 2 * at + 1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=True)
    def grow(self) -> cython.int:
        with cython.gil:
            old: cython.longlong[::1] = self.cells
            numbers: cython.int[::1] = self.numbers
            self.cells, self.numbers = zeros(2 * old.shape[0], np.int64), zeros(old.shape[0], np.int32)
        self.mask = 2 * self.mask + 1
        self.shift -= 1
        i: cython.Py_ssize_t
        at: cython.ulonglong
        for i in range(0, old.shape[0], 2):
            if old[i + 1] >> 3 == self.stamp:
                at = slot_of(old[i], self.factor, self.shift)
                while self.cells[2 * at + 1]:
                    at = (at + 1) & self.mask
                self.cells[2 * at] = old[i]
                self.cells[2 * at + 1] = old[i + 1]
                self.numbers[at] = numbers[i >> 1]
        return 0
