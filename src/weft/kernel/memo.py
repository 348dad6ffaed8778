# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False, nonecheck=False
"""What is known of pairs (node of the shared plan, node of the document), by open addressing."""

import cython
import numpy as np

from weft.kernel.arrays import held, zeros

MASK32 = cython.declare(cython.ulonglong)  # numbers beyond 31 bits must be C variables, or they are Python's
MIX_LOW = cython.declare(cython.ulonglong)
MIX_HIGH = cython.declare(cython.ulonglong)
MASK32, MIX_LOW, MIX_HIGH = 0xFFFFFFFF, 0x9E3779B1, 0x85EBCA77


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def scattered(key: cython.longlong, place: cython.int) -> cython.ulonglong:
    """A pair's hash; masked so that it is the same compiled or not."""
    low: cython.ulonglong = ((key & MASK32) + (place + 1) * 7919) * MIX_LOW
    high: cython.ulonglong = ((key >> 32) & MASK32) * MIX_HIGH
    mixed: cython.ulonglong = (low ^ (high << 1) ^ (low >> 15) ^ (high >> 13)) & MASK32
    return mixed ^ (mixed >> 11)


@cython.cclass
class Memo:
    """The table of a batch; `memo.pxd` tells its columns."""

    def __init__(self):
        self.keys = held(np.full(1 << 12, -1, np.int64))
        self.places, self.marks = zeros(1 << 12, np.int32), zeros(1 << 12, np.int8)
        self.depths = zeros(1 << 12, np.uint64)
        self.mask, self.used = (1 << 12) - 1, 0

    @cython.cfunc
    @cython.exceptval(-1)
    def slot(self, node: cython.int, row: cython.int, place: cython.int) -> cython.Py_ssize_t:
        """Where it is kept what is known of a pair, at a step of the node's edge if it is not the first."""
        key: cython.longlong = node
        key = (key << 32) | row
        at: cython.ulonglong = scattered(key, place) & self.mask
        while self.keys[at] != -1:
            if self.keys[at] == key and self.places[at] == place:
                return at
            at = (at + 1) & self.mask
        if 2 * (self.used + 1) > self.keys.shape[0]:
            self.grow()
            return self.slot(node, row, place)
        self.used += 1
        self.keys[at] = key
        self.places[at] = place
        return at

    @cython.cfunc
    @cython.exceptval(-1)
    def grow(self) -> cython.int:
        keys: cython.longlong[::1] = self.keys
        places: cython.int[::1] = self.places
        marks: cython.schar[::1] = self.marks
        depths: cython.ulonglong[::1] = self.depths
        size: cython.Py_ssize_t = 2 * keys.shape[0]
        self.keys = held(np.full(size, -1, np.int64))
        self.places, self.marks, self.depths = zeros(size, np.int32), zeros(size, np.int8), zeros(size, np.uint64)
        self.mask = size - 1
        old: cython.Py_ssize_t
        at: cython.ulonglong
        for old in range(keys.shape[0]):
            if keys[old] != -1:
                at = scattered(keys[old], places[old]) & self.mask
                while self.keys[at] != -1:
                    at = (at + 1) & self.mask
                self.keys[at] = keys[old]
                self.places[at] = places[old]
                self.marks[at] = marks[old]
                self.depths[at] = depths[old]
        return 0
