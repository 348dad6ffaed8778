"""Results in classes: those that end at the same label paths are one, so a document's results are read off few of them.

They are kept by partition refinement as label paths come.
"""

import cython
import numpy as np

from weft.kernel.arrays import copied, held, wider, zeros

if not cython.compiled:  # compiled, the types are those of the .pxd
    from weft.kernel.prefetching import prefetch
    from weft.kernel.tables import IntLists

    STAMP, SIZE, START, LISTED, VERSION, TOLD, TOLD_SIZE, TOLD_ROOM = range(8)  # the columns of a class's record
    RECORD, UNTOLD = 8, -1

CLASS_BYTES = cython.declare(cython.int, 40)
CLASS_BYTES = 40  # what a class takes in columns of its own
AHEAD = cython.declare(cython.Py_ssize_t, 8)
AHEAD = 8  # classes between one that is split and one that is fetched


@cython.cclass
class ResultClasses:
    """For every result its class, and for every class its members; `classes.pxd` tells the columns.

    A class that is split keeps its list, in which those that left are passed over, and dropped when it is next read.
    Class 0 has all results that no label path has reached.
    """

    def __init__(self, result_at, results: int):
        """`result_at` has by spot, the number of the edge to its state, the result that there is, else -1."""
        self.result_at = held(result_at)
        spots = np.flatnonzero(np.asarray(result_at) >= 0).astype(np.int32)
        spot_of = np.zeros(max(results, 1), np.int32)
        spot_of[np.asarray(result_at)[spots]] = spots
        self.spot_of, self.class_of = held(spot_of), zeros(len(result_at), np.int32)
        self.record, self.class_met = zeros(1024 * RECORD, np.int32), zeros(1024, np.int32)
        self.class_new = zeros(1024, np.int32)
        self.record[SIZE], self.classes = results, 1
        self.members, self.members_used = zeros(1024, np.int32), 0
        self.classes_of_path, self.paths_of_class = IntLists(), IntLists()
        self.classes_of_path.reserve(0, 0)
        self.spots, self.touched, self.met = zeros(1024, np.int32), zeros(1024, np.int32), 0
        self.most_met = 0

    @cython.cfunc
    @cython.exceptval(-1)
    def take_classes(self, known: "ResultClasses") -> cython.int:
        """The same classes as others; what never changes is shared with them."""
        self.result_at, self.spot_of = known.result_at, known.spot_of
        self.class_of = copied(known.class_of, len(known.class_of))
        self.record = copied(known.record, known.classes * RECORD)
        self.class_met, self.class_new = copied(known.class_met, 0), copied(known.class_new, 0)
        self.members = copied(known.members, known.members_used)
        self.members_used, self.classes, self.most_met = known.members_used, known.classes, known.most_met
        self.classes_of_path, self.paths_of_class = known.classes_of_path.copied(), known.paths_of_class.copied()
        self.spots, self.touched, self.met = zeros(1024, np.int32), zeros(1024, np.int32), 0
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=True)
    def refine(self, path: cython.int) -> cython.int:
        """Split every class of which some results end at this label path and others do not."""
        i: cython.Py_ssize_t
        k: cython.int
        number: cython.Py_ssize_t = 0
        self.most_met = max(self.most_met, self.met)
        if self.met > self.touched.shape[0]:
            with cython.gil:
                self.touched = wider(self.touched, self.met)
        spots: cython.int[::1] = self.spots
        class_of: cython.int[::1] = self.class_of
        class_met: cython.int[::1] = self.class_met
        touched: cython.int[::1] = self.touched
        for i in range(self.met):
            k = class_of[spots[i]]
            touched[number] = k
            number += class_met[k] == 0
            class_met[k] += 1
        self.classes_of_path.reserve(path, number)
        is_split: cython.bint = False
        for i in range(number):
            if cython.compiled and i + AHEAD < number:
                self.fetch(touched[i + AHEAD], touched[i + AHEAD // 2])
            is_split |= self.split(path, touched[i])
        if is_split:
            self.move()
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def fetch(self, far: cython.int, near: cython.int) -> cython.void:
        """Fetch what splitting two classes will look at: they are scattered, and most of the time goes by waiting."""
        prefetch(cython.address(self.record[far * RECORD]))
        if far < self.paths_of_class.lists:
            prefetch(cython.address(self.paths_of_class.size[far]))
            prefetch(cython.address(self.paths_of_class.room[far]))
            prefetch(cython.address(self.paths_of_class.start[far]))
        if near < self.paths_of_class.lists:
            end: cython.Py_ssize_t = self.paths_of_class.start[near] + self.paths_of_class.size[near]
            prefetch(cython.address(self.paths_of_class.pool[end]))

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=True)
    def split(self, path: cython.int, k: cython.int) -> cython.int:
        """The class of those of a class that were met: itself if all were; returns whether it is a new one."""
        met: cython.int = self.class_met[k]
        new: cython.int = k
        i: cython.Py_ssize_t
        other: cython.int
        self.class_met[k] = 0
        if met < self.record[k * RECORD + SIZE] or k == 0:  # those that nothing had reached have no list
            new = self.classes
            self.classes += 1
            if new >= self.class_met.shape[0]:
                with cython.gil:
                    self.class_met, self.class_new = wider(self.class_met, new), wider(self.class_new, new)
            if (new + 1) * RECORD > self.record.shape[0]:
                with cython.gil:
                    self.record = wider(self.record, (new + 1) * RECORD)
            if self.members_used + met > self.members.shape[0]:
                with cython.gil:
                    self.members = wider(self.members, self.members_used + met)
            self.record[new * RECORD + SIZE], self.record[new * RECORD + START] = met, self.members_used
            self.record[new * RECORD + LISTED], self.record[new * RECORD + TOLD_ROOM] = 0, 0
            self.record[new * RECORD + VERSION] = self.record[k * RECORD + VERSION] = UNTOLD
            self.members_used += met
            self.record[k * RECORD + SIZE] -= met
            self.class_new[new] = new
            self.paths_of_class.reserve(k, 0)
            for i in range(self.paths_of_class.size[k]):
                other = self.paths_of_class.pool[self.paths_of_class.start[k] + i]
                self.paths_of_class.add(new, other)
                self.classes_of_path.add(other, new)
        self.class_new[k] = new
        self.classes_of_path.add(path, new)
        self.paths_of_class.add(new, path)
        return new != k

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=True)
    def move(self) -> cython.int:
        """Put the results just met into the classes that theirs were split into."""
        i: cython.Py_ssize_t
        k: cython.int
        new: cython.Py_ssize_t
        spot: cython.int
        record: cython.int[::1] = self.record
        for i in range(self.met):
            spot = self.spots[i]
            k = self.class_of[spot]
            new = self.class_new[k]
            if new != k:
                self.class_of[spot] = new
                new *= RECORD
                self.members[record[new + START] + record[new + LISTED]] = self.result_at[spot]
                record[new + LISTED] += 1
        if self.members_used > 4 * self.spot_of.shape[0] + 4096:
            with cython.gil:
                self.collect()
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def collect(self) -> cython.int:
        """Lay the lists of members anew: what was left behind by splits is free again."""
        k: cython.int
        i: cython.Py_ssize_t
        at: cython.Py_ssize_t
        used: cython.Py_ssize_t = 0
        old: cython.int[::1] = self.members
        new: cython.int[::1] = zeros(2 * self.spot_of.shape[0] + 1024, np.int32)
        for k in range(1, self.classes):
            self.tidy(k)
            at = self.record[k * RECORD + START]
            self.record[k * RECORD + START] = used
            for i in range(self.record[k * RECORD + LISTED]):
                new[used + i] = old[at + i]
            used += self.record[k * RECORD + SIZE]
        self.members, self.members_used = new, used
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def tidy(self, k: cython.int) -> cython.void:
        """Drop from a class's list those that have left it."""
        i: cython.Py_ssize_t
        first: cython.Py_ssize_t = self.record[k * RECORD + START]
        kept: cython.Py_ssize_t = first
        if self.record[k * RECORD + LISTED] == self.record[k * RECORD + SIZE]:
            return
        for i in range(first, first + self.record[k * RECORD + LISTED]):
            self.members[kept] = self.members[i]
            kept += self.class_of[self.spot_of[self.members[i]]] == k
        self.record[k * RECORD + LISTED] = kept - first

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def class_memory(self) -> cython.longlong:
        """How many bytes the classes take: what was written to, not all that there is room for."""
        kept: cython.longlong = self.class_of.shape[0] + self.members_used + 2 * self.most_met
        return 4 * kept + CLASS_BYTES * self.classes + self.classes_of_path.memory() + self.paths_of_class.memory()

    def results_at(self, path: int) -> object:
        """The results that end at a label path."""
        return self.results_of(np.array([path], np.int32))[0]

    def results_of(self, paths) -> tuple:
        """The results that end at label paths, one path's behind the other's, and how many each has."""
        path: cython.int[::1] = held(paths)
        numbers = np.zeros(len(path), np.int64)
        number: cython.longlong[::1] = held(numbers)
        at: cython.Py_ssize_t
        put: cython.Py_ssize_t = 0
        with cython.nogil:
            for at in range(path.shape[0]):
                number[at] = self.count_at(path[at])
        made = np.empty(int(numbers.sum()), np.int32)
        results: cython.int[::1] = held(made)
        with cython.nogil:
            for at in range(path.shape[0]):
                put = self.put_at(path[at], results, put)
        return made, numbers

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def count_at(self, path: cython.int) -> cython.Py_ssize_t:
        """How many results end at a label path."""
        found: cython.Py_ssize_t = 0
        i: cython.Py_ssize_t
        first: cython.Py_ssize_t = self.classes_of_path.start[path]
        for i in range(first, first + self.classes_of_path.size[path]):
            found += self.record[self.classes_of_path.pool[i] * RECORD + SIZE]
        return found

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def put_at(self, path: cython.int, results: cython.int[::1], put: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Put them down where there is room for them; where they end."""
        i: cython.Py_ssize_t
        j: cython.Py_ssize_t
        k: cython.int
        first: cython.Py_ssize_t = self.classes_of_path.start[path]
        for i in range(first, first + self.classes_of_path.size[path]):
            k = self.classes_of_path.pool[i]
            self.tidy(k)
            for j in range(self.record[k * RECORD + SIZE]):
                results[put + j] = self.members[self.record[k * RECORD + START] + j]
            put += self.record[k * RECORD + SIZE]
        return put
