"""Constants that values have inside, at their start or at their end in, trees to find those of a value out.

Ends are read backwards. The first step of a tree takes two bytes, and bits tell whether there is such a step at all; a
branch that only one constant goes on from has no branches of its own.
"""

import cython
import numpy as np

from weft.kernel.arrays import held, wider, zeros

if not cython.compiled:  # compiled, these are those of the .pxd
    from weft.kernel.codes import CONTAINS, ENDS
    from weft.kernel.tables import Numbers

TREES = cython.declare(cython.int, 3)
TREES = 3  # one for each operator; their roots are the first branches


@cython.cclass
class PartTables:
    """The constants of tests on parts of texts; never changed. `part_tables.pxd` tells the columns."""

    def __init__(self, operators: list, constants: list):
        """By code the operator and the constant, as UTF-8; both together are distinct."""
        self.size = len(constants)
        self.characters = memoryview(b"".join(constants) + b"\0")
        self.character_start = held(np.cumsum([0, *map(len, constants)], dtype=np.int64))
        self.operator = held(np.array(operators, np.int8))
        self.branches, self.branch_count = Numbers(), TREES
        self.lone, self.leaves = zeros(1 << 10, np.int32), zeros(1 << 10, np.int32)
        self.pairs = zeros(TREES << 10, np.uint64)
        self.short_leaves, self.has_short = zeros(TREES << 8, np.int32), zeros(TREES, np.int8)
        self.always = held(np.full(TREES, -1, np.int32))
        code: cython.int
        for code in range(len(constants)):
            self.plant(code)

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def plant(self, code: cython.int) -> cython.int:
        """Add a constant to the tree of its operator."""
        tree: cython.int = self.operator[code] - CONTAINS
        size: cython.Py_ssize_t = self.character_start[code + 1] - self.character_start[code]
        one: cython.ulonglong = 1
        pair: cython.int
        branch: cython.int
        if size == 0:
            self.always[tree] = code
        elif size == 1:
            self.short_leaves[tree << 8 | self.byte_of(code, 0)] = code + 1
            self.has_short[tree] = 1
        else:
            pair = self.byte_of(code, 0) << 8 | self.byte_of(code, 1)
            self.pairs[tree << 10 | pair >> 6] |= one << (pair & 63)
            branch = self.further(tree, pair)
            if branch < 0:
                return self.sprout(tree, pair, code)
            return self.grow(branch, code)
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def grow(self, branch: cython.int, code: cython.int) -> cython.int:
        """A constant goes along a branch that others have, as far as they go together."""
        size: cython.Py_ssize_t = 2
        end: cython.Py_ssize_t = self.character_start[code + 1] - self.character_start[code]
        other: cython.int
        found: cython.int
        while True:
            other = self.lone[branch] - 1
            if other >= 0:
                self.lone[branch] = 0
                if self.character_start[other + 1] - self.character_start[other] == size:
                    self.leaves[branch] = other + 1
                else:
                    self.sprout(branch, self.byte_of(other, size), other)
            if size == end:
                self.leaves[branch] = code + 1
                return 0
            found = self.further(branch, self.byte_of(code, size))
            if found < 0:
                return self.sprout(branch, self.byte_of(code, size), code)
            branch = found
            size += 1

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def sprout(self, branch: cython.int, step: cython.int, code: cython.int) -> cython.int:
        """A new branch, for one constant."""
        new: cython.int = self.branch_count
        key: cython.longlong = branch
        self.branch_count += 1
        if new == self.leaves.shape[0]:
            self.leaves, self.lone = wider(self.leaves), wider(self.lone)
        self.lone[new] = code + 1
        self.branches.put((key << 32) | step, new)
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.inline
    @cython.exceptval(check=False)
    def byte_of(self, code: cython.int, at: cython.Py_ssize_t) -> cython.int:
        """A byte of a constant in the order of its tree."""
        if self.operator[code] == ENDS:
            return self.characters[self.character_start[code + 1] - 1 - at]
        return self.characters[self.character_start[code] + at]

    @cython.cfunc
    @cython.nogil
    @cython.inline
    @cython.exceptval(check=False)
    def further(self, branch: cython.int, step: cython.int) -> cython.int:
        """The branch that a step leads to, -1 if there is none."""
        key: cython.longlong = branch
        return self.branches.find((key << 32) | step)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def is_at(self, code: cython.int, text: cython.const[cython.uchar][::1], at: cython.Py_ssize_t) -> cython.bint:
        """Whether a constant stands at a place of a text that has room for it."""
        first: cython.Py_ssize_t = self.character_start[code]
        i: cython.Py_ssize_t
        for i in range(self.character_start[code + 1] - first):
            if self.characters[first + i] != text[at + i]:
                return False
        return True
