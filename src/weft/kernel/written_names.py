"""Names as they are written in, their numbers out: open addressing by their bytes and by where they stand.

A *scope* is a number that says which namespaces are declared, and whether a name is that of an element, that of an
attribute, or a declaration. Hashes are seeded, so that no document can be made whose names collide.
"""

import secrets
import sys

import cython
import numpy as np

from weft.kernel.arrays import held, wider, zeros

if cython.compiled:
    from cython.cimports.libc.string import memcmp
else:  # compiled, it is that of the .pxd
    from weft.kernel.byte_kinds import word

MASK64 = cython.declare(cython.ulonglong)  # numbers beyond 31 bits must be C variables, or they are Python's
MASK64 = 0xFFFFFFFFFFFFFFFF
_ORDER = sys.byteorder if cython.compiled else "little"
_MASKS = [int.from_bytes(b"\xff" * size + bytes(8 - size), _ORDER) for size in range(9)]


@cython.final
@cython.cclass
class WrittenNames:
    """The names that are known; `written_names.pxd` tells the columns."""

    def __init__(self):
        self.seed, self.factor = secrets.randbits(64), secrets.randbits(64) | 1
        self.masks = held(np.array(_MASKS, np.uint64))
        self.slots = held(np.full(1024, -1, np.int32))
        self.head, self.tail = zeros(256, np.uint64), zeros(256, np.uint64)
        self.size, self.scope, self.at = zeros(256, np.int32), zeros(256, np.int64), zeros(256, np.int64)
        self.first, self.second = zeros(256, np.int32), zeros(256, np.int32)
        self.written = zeros(4096, np.uint8)
        self.used, self.written_used, self.limit = 0, 0, 0

    @cython.cfunc
    @cython.nogil
    @cython.inline
    @cython.exceptval(check=False)
    def last_word(self, s: cython.p_uchar, p: cython.Py_ssize_t, size: cython.Py_ssize_t) -> cython.ulonglong:
        """So many bytes as one number, at most eight; only what is before `limit` may be looked at."""
        return word(s, p, 8) & self.masks[size] if p + 8 <= self.limit else word(s, p, size)

    @cython.cfunc
    @cython.nogil
    @cython.inline
    @cython.exceptval(check=False)
    def mixed(self, hashed: cython.ulonglong, eight: cython.ulonglong) -> cython.ulonglong:
        """A hash with eight bytes more: times a random factor, masked so that it is the same compiled or not."""
        hashed = ((hashed ^ eight) * self.factor) & MASK64
        return hashed ^ (hashed >> 32)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def mixed_tail(
        self, hashed: cython.ulonglong, s: cython.p_uchar, p: cython.Py_ssize_t, size: cython.Py_ssize_t
    ) -> cython.ulonglong:
        """A hash with what comes behind the first eight bytes of a name."""
        at: cython.Py_ssize_t
        for at in range(8, size, 8):
            hashed = self.mixed(hashed, self.last_word(s, p + at, size - at if size - at < 8 else 8))
        return hashed

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def find(
        self, s: cython.p_uchar, p: cython.Py_ssize_t, size: cython.Py_ssize_t, scope: cython.longlong
    ) -> cython.Py_ssize_t:
        """Where a name is in the columns; if it is not known -1, and `free` is the slot where it would be."""
        mask: cython.ulonglong = self.slots.shape[0] - 1
        head: cython.ulonglong = self.last_word(s, p, size if size < 8 else 8)
        slot: cython.ulonglong = self.mixed(self.seed ^ ((scope << 16) + size), head)
        entry: cython.Py_ssize_t
        if size > 8:
            slot = self.mixed_tail(slot, s, p, size)
        slot = self.mixed(slot, 0) & mask
        while self.slots[slot] >= 0:
            entry = self.slots[slot]
            if self.head[entry] == head and self.size[entry] == size and self.scope[entry] == scope:
                if size <= 8 or self.is_written(entry, s, p, size):
                    return entry
            slot = (slot + 1) & mask
        self.free = slot
        return -1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def is_written(
        self, entry: cython.Py_ssize_t, s: cython.p_uchar, p: cython.Py_ssize_t, size: cython.Py_ssize_t
    ) -> cython.bint:
        """Whether these are the bytes of a name of the same size."""
        at: cython.Py_ssize_t = self.at[entry]
        if cython.compiled:
            return memcmp(cython.address(self.written[at]), s + p, size) == 0
        else:
            return bytes(self.written[at : at + size]) == s[p : p + size]

    def add(self, name: bytes, scope: int, first: int, second: int) -> None:
        """A name that is not known, with its two numbers."""
        s: cython.p_uchar = name
        size: cython.Py_ssize_t = len(name)
        entry: cython.Py_ssize_t = self.used
        at: cython.Py_ssize_t = self.written_used
        i: cython.Py_ssize_t
        if entry == self.head.shape[0]:
            self.head, self.size, self.scope = wider(self.head), wider(self.size), wider(self.scope)
            self.at, self.first, self.second = wider(self.at), wider(self.first), wider(self.second)
            self.tail = wider(self.tail)
        if at + size > self.written.shape[0]:
            self.written = wider(self.written, at + size)
        for i in range(size):
            self.written[at + i] = s[i]
        self.limit = size
        self.head[entry] = self.last_word(s, 0, size if size < 8 else 8)
        self.tail[entry] = self.last_word(s, 8, size - 8 if size < 16 else 8) if size > 8 else 0
        self.size[entry], self.scope[entry], self.at[entry] = size, scope, at
        self.first[entry], self.second[entry] = first, second
        self.used, self.written_used = entry + 1, at + size
        if 2 * self.used > self.slots.shape[0]:
            self.rebuild()
        else:
            self.find(s, 0, size, scope)
            self.slots[self.free] = entry

    @cython.cfunc
    @cython.exceptval(-1)
    def rebuild(self) -> cython.int:
        """Twice the slots."""
        all_names: bytes = bytes(self.written[: self.written_used])  # there is room for far more
        s: cython.p_uchar = all_names
        entry: cython.Py_ssize_t
        self.slots = held(np.full(2 * self.slots.shape[0], -1, np.int32))
        self.limit = len(all_names)
        for entry in range(self.used):
            self.find(s, self.at[entry], self.size[entry], self.scope[entry])
            self.slots[self.free] = entry
        return 0

    def __len__(self) -> int:
        return self.used

    def memory(self) -> int:
        """The bytes of all names."""
        return self.written_used
