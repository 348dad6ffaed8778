# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False, nonecheck=False
"""Constants that values have at their start, at their end or inside in, trees to find those of a value out.

There are three: constants at the start, those at the end from their last byte on, and those inside, where the first two
steps are one look-up. Few bytes lead on from most branches, so a mask of these says no before anything is looked up.
"""

import cython
import numpy as np

from weft.kernel.arrays import held, wider, zeros

if not cython.compiled:  # compiled, these are those of the .pxd
    from weft.kernel.codes import CONTAINS, STARTS
    from weft.kernel.tables import Numbers


@cython.cclass
class PartTables:
    """The constants of tests on parts of texts; never changed. `part_tables.pxd` tells the columns."""

    def __init__(self, operators: list, constants: list):
        """By code the operator and the constant, as UTF-8; both together are distinct."""
        self.size = len(constants)
        self.characters = memoryview(b"".join(constants) + b"\0")
        self.character_start = held(np.cumsum([0, *map(len, constants)], dtype=np.int64))
        self.tree, self.leaves, self.next_bytes = Numbers(), zeros(1 << 10, np.int32), zeros(1 << 10, np.uint64)
        self.start_root, self.end_root, self.branches = 1, 2, 3
        self.first_branches, self.short_leaves = zeros(1, np.int32), zeros(1 << 8, np.int32)
        self.has_short, self.always = False, -1
        code: cython.int
        operator: cython.int
        for code in range(len(constants)):
            operator = operators[code]
            if operator == CONTAINS:
                self.plant_inside(code)
            elif operator == STARTS:
                self.plant(code, self.start_root, self.character_start[code], self.character_start[code + 1], 1)
            else:
                self.plant(code, self.end_root, self.character_start[code + 1] - 1, self.character_start[code] - 1, -1)

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def plant_inside(self, code: cython.int) -> cython.int:
        first: cython.Py_ssize_t = self.character_start[code]
        end: cython.Py_ssize_t = self.character_start[code + 1]
        if first == end:
            self.always = code
            return 0
        if first + 1 == end:
            self.short_leaves[self.characters[first]] = code + 1
            self.has_short = True
            return 0
        if self.first_branches.shape[0] == 1:
            self.first_branches = zeros(1 << 16, np.int32)
        pair: cython.int = self.characters[first] << 8 | self.characters[first + 1]
        if self.first_branches[pair] == 0:
            self.first_branches[pair] = self.new_branch()
        return self.plant(code, self.first_branches[pair], first + 2, end, 1)

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def plant(
        self, code: cython.int, branch: cython.int, at: cython.Py_ssize_t, end: cython.Py_ssize_t, way: cython.int
    ) -> cython.int:
        """Add a constant's bytes from one on to a tree, forwards or backwards."""
        found: cython.int
        key: cython.longlong
        one: cython.ulonglong = 1
        while at != end:
            found = self.follow(branch, self.characters[at])
            if found < 0:
                found = self.new_branch()
                key = branch
                self.tree.put((key << 32) | self.characters[at], found)
                self.next_bytes[branch] |= one << (self.characters[at] & 63)
            branch = found
            at += way
        self.leaves[branch] = code + 1
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def new_branch(self) -> cython.int:
        self.branches += 1
        if self.branches > self.leaves.shape[0]:
            self.leaves, self.next_bytes = wider(self.leaves), wider(self.next_bytes)
        return self.branches - 1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def follow(self, branch: cython.int, byte: cython.uchar) -> cython.int:
        """The branch that a byte leads to, -1 if none does."""
        if not (self.next_bytes[branch] >> (byte & 63)) & 1:
            return -1
        key: cython.longlong = branch
        return self.tree.find((key << 32) | byte)

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
