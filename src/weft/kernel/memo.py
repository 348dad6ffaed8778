"""What is known of pairs (node of the shared plan, node of the document), by open addressing.

It is forgotten after every document, so that it stays small and near: what has another stamp is not there.
"""

import cython
import numpy as np

from weft.kernel.arrays import zeros

if not cython.compiled:  # compiled, it is that of the .pxd
    from weft.kernel.tables import mixed

ROOM = cython.declare(cython.Py_ssize_t, 1 << 12)
ROOM = 1 << 12  # pairs to begin with
MOST_KEPT = cython.declare(cython.Py_ssize_t, 1 << 16)
MOST_KEPT = 1 << 16  # pairs that there is still room for in the next batch


@cython.cclass
class Memo:
    """The table of a document; `memo.pxd` tells its columns."""

    def __init__(self):
        self.cells = zeros(2 * ROOM, np.int64)
        self.mask, self.used, self.stamp = ROOM - 1, 0, 1

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def shrink(self) -> cython.int:
        """Before a batch: what a large document needed is not kept."""
        if self.mask >= MOST_KEPT:
            self.cells, self.mask = zeros(2 * ROOM, np.int64), ROOM - 1
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
        """Where the cell of a pair is that says what is known of it: `cells[slot]`, as bits."""
        key: cython.longlong = node
        key = (key << 32) | row
        at: cython.ulonglong = mixed(key) & self.mask
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
            self.cells = zeros(2 * old.shape[0], np.int64)
        self.mask = 2 * self.mask + 1
        i: cython.Py_ssize_t
        at: cython.ulonglong
        for i in range(0, old.shape[0], 2):
            if old[i + 1] >> 3 == self.stamp:
                at = mixed(old[i]) & self.mask
                while self.cells[2 * at + 1]:
                    at = (at + 1) & self.mask
                self.cells[2 * at] = old[i]
                self.cells[2 * at + 1] = old[i + 1]
        return 0
