"""Tables of integers that grow: pairs of numbers to numbers, and lists of numbers in one array."""

import secrets

import cython
import numpy as np

from weft.kernel.arrays import copied, held, wider, zeros

EMPTY = cython.declare(cython.longlong)
EMPTY = -1

MASK64 = cython.declare(cython.ulonglong)  # numbers beyond 31 bits must be C variables, or they are Python's
MASK64 = 0xFFFFFFFFFFFFFFFF


def random_factor() -> int:
    """What a table multiplies keys by to find their slots: odd, and nobody can choose keys that come to the same."""
    return secrets.randbits(64) | 1


if not cython.compiled:  # compiled, it is that of the .pxd

    def slot_of(key: int, factor: int, shift: int) -> int:
        """Where a key is looked for first, in a table of 2 ** (64 - shift) slots: the highest bits of a product."""
        return ((int(key) * factor) & MASK64) >> shift


def starts_of_runs(keys, size: cython.Py_ssize_t):
    """Where the runs of keys below `size` begin, and where the last one ends."""
    key: cython.int[::1] = held(keys)
    made = np.zeros(size + 1, np.int64)
    start: cython.longlong[::1] = held(made)
    at: cython.Py_ssize_t
    for at in range(key.shape[0]):
        start[key[at] + 1] += 1
    for at in range(size):
        start[at + 1] += start[at]
    return made


def put_in_runs(keys, entries, places, runs, begin: cython.Py_ssize_t, end: cython.Py_ssize_t) -> None:
    """Put a stretch of entries into the runs of their keys; `places` has for each key where its next entry goes."""
    key: cython.int[::1] = held(keys)
    entry: cython.int[::1] = held(entries)
    place: cython.longlong[::1] = held(places)
    run: cython.int[::1] = held(runs)
    at: cython.Py_ssize_t
    for at in range(begin, end):
        run[place[key[at]]] = entry[at]
        place[key[at]] += 1


@cython.cclass
class Numbers:
    """Pairs of numbers of 32 bits to a number: open addressing, by a factor that no document can know."""

    def __init__(self, room: cython.Py_ssize_t = 1024):
        size: cython.Py_ssize_t = 1024
        while size < 2 * room:
            size *= 2
        self.factor = random_factor()
        self.clear(size)

    @cython.cfunc
    @cython.exceptval(-1)
    def clear(self, size: cython.Py_ssize_t) -> cython.int:
        """Nothing is in it, and so many slots, a power of two."""
        self.keys, self.values = held(np.full(size, -1, np.int64)), zeros(size, np.int32)
        self.mask, self.shift, self.used = size - 1, 65 - int(size).bit_length(), 0
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def find(self, key: cython.longlong) -> cython.int:
        """The number of a pair, -1 if it is not there."""
        at: cython.ulonglong = slot_of(key, self.factor, self.shift)
        while self.keys[at] != EMPTY:
            if self.keys[at] == key:
                return self.values[at]
            at = (at + 1) & self.mask
        return -1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=True)
    def put(self, key: cython.longlong, value: cython.int) -> cython.int:
        """Add a pair that is not there."""
        if 2 * (self.used + 1) > self.keys.shape[0]:
            with cython.gil:
                self.rebuild(2 * self.keys.shape[0], -1)
        at: cython.ulonglong = slot_of(key, self.factor, self.shift)
        while self.keys[at] != EMPTY:
            at = (at + 1) & self.mask
        self.keys[at] = key
        self.values[at] = value
        self.used += 1
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def rebuild(self, size: cython.Py_ssize_t, below: cython.int) -> cython.int:
        """Anew with another size; if `below` is given, without values from there on."""
        keys: cython.longlong[::1] = self.keys
        values: cython.int[::1] = self.values
        self.clear(size)
        at: cython.Py_ssize_t
        for at in range(keys.shape[0]):
            if keys[at] != EMPTY and (below < 0 or values[at] < below):
                self.put(keys[at], values[at])
        return 0

    @cython.cfunc
    def copied(self):
        """The same pairs once more."""
        made: Numbers = Numbers()
        made.keys, made.values = copied(self.keys, len(self.keys)), copied(self.values, len(self.values))
        made.mask, made.shift, made.used, made.factor = self.mask, self.shift, self.used, self.factor
        return made

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def memory(self) -> cython.longlong:
        """The memory that the table takes."""
        return 12 * self.keys.shape[0]


@cython.cclass
class IntLists:
    """IntLists of integers in one array: each has a start, a size and a room; one that is full moves to the end."""

    def __init__(self):
        self.pool = zeros(1 << 8, np.int32)
        self.start, self.size, self.room = zeros(1 << 8, np.int32), zeros(1 << 8, np.int32), zeros(1 << 8, np.int32)
        self.used = self.lists = 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=True)
    def reserve(self, which: cython.Py_ssize_t, size: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Room for so many entries in all; returns where the list starts."""
        self.lists = max(self.lists, which + 1)
        if which >= self.start.shape[0]:
            with cython.gil:
                self.start, self.size = wider(self.start, which), wider(self.size, which)
                self.room = wider(self.room, which)
        if size > self.room[which]:
            if self.start[which] + self.room[which] == self.used:  # the last one grows where it is
                self.used = self.start[which]
            if self.used + size > self.pool.shape[0]:
                with cython.gil:
                    self.pool = wider(self.pool, self.used + size)
            old: cython.Py_ssize_t = self.start[which]
            i: cython.Py_ssize_t
            for i in range(self.size[which]):
                self.pool[self.used + i] = self.pool[old + i]
            self.start[which] = self.used
            self.room[which] = size
            self.used += size
        return self.start[which]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=True)
    def add(self, which: cython.Py_ssize_t, entry: cython.int) -> cython.int:
        if which >= self.start.shape[0] or self.size[which] == self.room[which]:
            self.reserve(which, 4 if which >= self.start.shape[0] else 2 * self.room[which] + 4)
        self.pool[self.start[which] + self.size[which]] = entry
        self.size[which] += 1
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def give_back(self, which: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.void:
        """A list that was the last to get room ends here: what is behind its end is free again."""
        if self.start[which] + self.room[which] == self.used:
            self.used = end
            self.room[which] = end - self.start[which]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def sort(self, which: cython.Py_ssize_t, width: cython.Py_ssize_t) -> cython.void:
        """Put a list of records of one or two numbers in the order of the first; by Shell's way, in place."""
        first: cython.Py_ssize_t = self.start[which]
        end: cython.Py_ssize_t = first + self.size[which]
        gap: cython.Py_ssize_t = width
        at: cython.Py_ssize_t
        place: cython.Py_ssize_t
        entry: cython.int
        behind: cython.int
        while 3 * gap < end - first:
            gap = 3 * gap + width
        while gap >= width:
            at = first + gap
            while at < end:
                entry = self.pool[at]
                behind = self.pool[at + width - 1]
                place = at
                while place - gap >= first and self.pool[place - gap] > entry:
                    self.pool[place + width - 1] = self.pool[place - gap + width - 1]
                    self.pool[place] = self.pool[place - gap]
                    place -= gap
                self.pool[place + width - 1] = behind
                self.pool[place] = entry
                at += width
            gap = (gap // width - 1) // 3 * width

    @cython.cfunc
    @cython.exceptval(-1)
    def cut(self, mark: cython.Py_ssize_t) -> cython.int:
        """Forget the lists from one on; their room is free again if no other's is behind it."""
        which: cython.Py_ssize_t
        used: cython.Py_ssize_t = 0
        for which in range(mark, self.lists):
            self.size[which] = self.room[which] = 0
        self.lists = min(self.lists, mark)
        for which in range(self.lists):
            used = max(used, self.start[which] + self.room[which])
        self.used = used
        return 0

    @cython.cfunc
    def copied(self):
        """The same lists once more."""
        made: IntLists = IntLists()
        made.pool, made.start = copied(self.pool, self.used), copied(self.start, self.lists)
        made.size, made.room = copied(self.size, self.lists), copied(self.room, self.lists)
        made.used, made.lists = self.used, self.lists
        return made

    @cython.cfunc
    def compacted(self):
        """The same lists without what lies unused between them."""
        which: cython.Py_ssize_t
        i: cython.Py_ssize_t
        made: IntLists = IntLists()
        for which in range(self.lists):
            made.reserve(which, self.size[which])
            for i in range(self.size[which]):
                made.pool[made.start[which] + i] = self.pool[self.start[which] + i]
            made.size[which] = self.size[which]
        return made

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def memory(self) -> cython.longlong:
        """The memory that the lists take: what was written to, not all that there is room for."""
        return 4 * (self.used + 3 * self.lists)

    def of(self, which: int) -> object:
        """A list, as an array of its own."""
        if which >= len(self.start):
            return np.zeros(0, np.int32)
        start = self.start[which]
        return np.array(np.asarray(self.pool)[start : start + self.size[which]])

    def put(self, which: int, entries) -> None:
        """A list as a whole."""
        array: cython.int[::1] = held(entries)
        start: cython.Py_ssize_t = self.reserve(which, array.shape[0])
        at: cython.Py_ssize_t
        for at in range(array.shape[0]):
            self.pool[start + at] = array[at]
        self.size[which] = array.shape[0]
