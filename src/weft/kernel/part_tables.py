# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False, nonecheck=False
"""Constants that values have at their start, at their end or inside in, ways to find those of a value out.

Starts and ends are found by hash, which goes on from one length to the next; what is inside by a tree of all such
constants, whose first two steps are one look-up.
"""

import cython
import numpy as np

from weft.kernel.arrays import held, wider, zeros

if not cython.compiled:  # compiled, these are those of the .pxd
    from weft.kernel.codes import CONTAINS, STARTS
    from weft.kernel.tables import Numbers

MASK32 = cython.declare(cython.ulonglong)  # numbers beyond 31 bits must be C variables, or they are Python's
PRIME = cython.declare(cython.ulonglong)
MASK32, PRIME = 0xFFFFFFFF, 0x01000193
LONG = cython.declare(cython.int, 63)
LONG = 63  # constants of so many bytes and more share a bit of the lengths


@cython.cclass
class PartTables:
    """The constants of tests on parts of texts; never changed. `part_tables.pxd` tells the columns."""

    def __init__(self, operators: list, constants: list, seed: int):
        """By code the operator and the constant, as UTF-8; both together are distinct."""
        self.size, self.seed = len(constants), seed & MASK32
        self.characters = memoryview(b"".join(constants) + b"\0")
        self.character_start = held(np.cumsum([0, *map(len, constants)], dtype=np.int64))
        room: cython.Py_ssize_t = 64
        while room < 2 * len(constants):
            room *= 2
        self.slots, self.mask = zeros(room, np.int32), room - 1
        self.operator = held(np.array(operators, np.int8))
        self.tree, self.leaves, self.branches = Numbers(), zeros(1 << 10, np.int32), 1
        self.first_branches, self.short_leaves = zeros(1, np.int32), zeros(1 << 8, np.int32)
        self.has_short = False
        self.start_lengths = self.end_lengths = 0
        self.longest_start = self.longest_end = -1
        self.always = -1
        code: cython.int
        for code in range(len(constants)):
            self.add(code)

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def add(self, code: cython.int) -> cython.int:
        one: cython.ulonglong = 1
        size: cython.Py_ssize_t = self.character_start[code + 1] - self.character_start[code]
        if self.operator[code] == CONTAINS:
            return self.plant(code)
        if self.operator[code] == STARTS:
            self.start_lengths |= one << min(size, LONG)
            self.longest_start = max(self.longest_start, size)
        else:
            self.end_lengths |= one << min(size, LONG)
            self.longest_end = max(self.longest_end, size)
        hashed: cython.ulonglong = self.begin(self.operator[code])
        i: cython.Py_ssize_t
        first: cython.Py_ssize_t = self.character_start[code]
        for i in range(size):
            hashed = self.further(
                hashed, self.characters[first + i if self.operator[code] == STARTS else first + size - 1 - i]
            )
        at: cython.ulonglong = self.scattered(hashed) & self.mask
        while self.slots[at]:
            at = (at + 1) & self.mask
        self.slots[at] = code + 1
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def plant(self, code: cython.int) -> cython.int:
        """Add a constant to the tree."""
        at: cython.Py_ssize_t
        first: cython.Py_ssize_t = self.character_start[code]
        end: cython.Py_ssize_t = self.character_start[code + 1]
        branch: cython.int
        found: cython.int
        key: cython.longlong
        if end - first < 2:
            if first == end:
                self.always = code
            else:
                self.short_leaves[self.characters[first]] = code + 1
                self.has_short = True
            return 0
        if self.first_branches.shape[0] == 1:
            self.first_branches = zeros(1 << 16, np.int32)
        pair: cython.int = self.characters[first] << 8 | self.characters[first + 1]
        if self.first_branches[pair] == 0:
            self.first_branches[pair] = self.new_branch()
        branch = self.first_branches[pair]
        for at in range(first + 2, end):
            key = branch
            key = (key << 32) | self.characters[at]
            found = self.tree.find(key)
            if found < 0:
                found = self.new_branch()
                self.tree.put(key, found)
            branch = found
        self.leaves[branch] = code + 1
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def new_branch(self) -> cython.int:
        self.branches += 1
        if self.branches > self.leaves.shape[0]:
            self.leaves = wider(self.leaves)
        return self.branches - 1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def begin(self, operator: cython.int) -> cython.ulonglong:
        """The hash of nothing, for constants at the start or at the end."""
        return (self.seed ^ (operator * PRIME)) & MASK32

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def further(self, hashed: cython.ulonglong, byte: cython.uchar) -> cython.ulonglong:
        """The hash with one byte more."""
        return ((hashed ^ byte) * PRIME) & MASK32

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def scattered(self, hashed: cython.ulonglong) -> cython.ulonglong:
        return hashed ^ (hashed >> 15)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def find(
        self,
        operator: cython.int,
        hashed: cython.ulonglong,
        text: cython.const[cython.uchar][::1],
        start: cython.Py_ssize_t,
        size: cython.Py_ssize_t,
    ) -> cython.int:
        """The code of the constant that stretches over a text's bytes, -1 if there is none."""
        at: cython.ulonglong = self.scattered(hashed) & self.mask
        code: cython.int
        while self.slots[at]:
            code = self.slots[at] - 1
            if (
                self.operator[code] == operator
                and self.character_start[code + 1] - self.character_start[code] == size
                and self.is_at(code, text, start)
            ):
                return code
            at = (at + 1) & self.mask
        return -1

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
