# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False, nonecheck=False
"""Results in classes: those that end at the same label paths are one, so a document's results are read off few of them.

They are kept by partition refinement as label paths come.
"""

import cython
import numpy as np

from weft.kernel.arrays import held, wider, zeros

if not cython.compiled:  # compiled, the types are those of the .pxd
    from weft.kernel.tables import IntLists

NOTHING = cython.declare(cython.int[::1])
NOTHING = zeros(1, np.int32)


@cython.cclass
class ResultClasses:
    """For every result its class, and for every class its members; `classes.pxd` tells the columns.

    A class that is split keeps its list, in which those that left are passed over, and dropped when it is next read.
    Class 0 has all results that no label path has reached.
    """

    def __init__(self, result_of_state, results: int):
        self.reached = IntLists()
        self.result_of_state = held(result_of_state)
        self.reached.reserve(0, 0)
        self.class_of = zeros(results, np.int32)
        self.class_size, self.class_met = zeros(1024, np.int32), zeros(1024, np.int32)
        self.class_new, self.class_stamp = zeros(1024, np.int32), zeros(1024, np.int32)
        self.class_size[0], self.classes = results, 1
        self.members = IntLists()
        self.members.reserve(0, 0)
        self.classes_of_path, self.paths_of_class, self.touched = IntLists(), IntLists(), IntLists()
        self.classes_of_path.reserve(0, 0)
        self.touched.reserve(0, 0)
        self.stamp, self.path_stamp = 0, zeros(1024, np.int32)
        self.hits, self.hit = zeros(1024, np.int32), 0
        self.output, self.put = zeros(1 << 12, np.int32), 0

    @cython.cfunc
    @cython.exceptval(-1)
    def refine(self, path: cython.int) -> cython.int:
        """Split every class of which some results end at this label path and others do not."""
        i: cython.Py_ssize_t
        result: cython.int
        k: cython.int
        self.touched.size[0] = 0
        for i in range(self.hit):
            result = self.result_of_state[self.hits[i]]
            if result >= 0:
                k = self.class_of[result]
                if self.class_met[k] == 0:
                    self.touched.add(0, k)
                self.class_met[k] += 1
        is_split: cython.bint = False
        for i in range(self.touched.size[0]):
            is_split |= self.split(path, self.touched.pool[self.touched.start[0] + i])
        if is_split:
            self.move()
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def split(self, path: cython.int, k: cython.int) -> cython.int:
        """The class of those of a class that were met: itself if all were; returns whether it is a new one."""
        met: cython.int = self.class_met[k]
        new: cython.int = k
        i: cython.Py_ssize_t
        other: cython.int
        self.class_met[k] = 0
        if met < self.class_size[k] or k == 0:  # those that nothing had reached have no list
            new = self.classes
            self.classes += 1
            if new >= self.class_size.shape[0]:
                self.class_size, self.class_met = wider(self.class_size, new), wider(self.class_met, new)
                self.class_new, self.class_stamp = wider(self.class_new, new), wider(self.class_stamp, new)
            self.class_size[new] = met
            self.class_size[k] -= met
            self.class_new[new] = new
            self.members.reserve(new, met)
            self.members.size[new] = 0
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
    @cython.exceptval(-1)
    def move(self) -> cython.int:
        """Put the results of the states just taken into the classes that theirs were split into."""
        i: cython.Py_ssize_t
        result: cython.int
        new: cython.int
        m: IntLists = self.members
        for i in range(self.hit):
            result = self.result_of_state[self.hits[i]]
            if result >= 0:
                new = self.class_new[self.class_of[result]]
                if new != self.class_of[result]:
                    self.class_of[result] = new
                    m.pool[m.start[new] + m.size[new]] = result
                    m.size[new] += 1
        if m.used > 4 * self.class_of.shape[0] + 4096:
            self.collect()
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def collect(self) -> cython.int:
        """Lay the lists of members anew: what was left behind by splits is free again."""
        k: cython.int
        i: cython.Py_ssize_t
        old: IntLists = self.members
        new: IntLists = IntLists()
        for k in range(self.classes):
            new.reserve(k, 0)
            new.size[k] = 0
            if k:
                new.reserve(k, self.class_size[k])
                for i in range(old.start[k], old.start[k] + old.size[k]):
                    if self.class_of[old.pool[i]] == k:
                        new.pool[new.start[k] + new.size[k]] = old.pool[i]
                        new.size[k] += 1
        self.members = new
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def tidy(self, k: cython.int) -> cython.void:
        """Drop from a class's list those that have left it."""
        i: cython.Py_ssize_t
        kept: cython.Py_ssize_t = self.members.start[k]
        for i in range(self.members.start[k], self.members.start[k] + self.members.size[k]):
            if self.class_of[self.members.pool[i]] == k:
                self.members.pool[kept] = self.members.pool[i]
                kept += 1
        self.members.size[k] = kept - self.members.start[k]

    def results(self, labels, ranges, documents, found, wanted) -> tuple:
        """The results of each document: (all of them, where each document's begin).

        `ranges` are rows of columns, one for each kind of nodes: where each document's nodes begin, and the end; by
        their label paths they have results, and those in `found` beside, in the order of `documents`. With `wanted`, by
        result the number that stands for it, there are these numbers instead, without those below zero.
        """
        self.label, self.ranges = held(labels), held(ranges)
        self.documents_found, self.results_found = held(documents), held(found)
        self.wanted, self.is_translated = held(np.zeros(1, np.int32) if wanted is None else wanted), wanted is not None
        number: cython.Py_ssize_t = self.ranges.shape[1] - 1
        starts_array = np.zeros(number + 1, np.int64)
        starts: cython.longlong[::1] = held(starts_array)
        document: cython.int
        kind: cython.int
        more: cython.Py_ssize_t = 0
        self.put = 0
        with cython.nogil:
            for document in range(number):
                starts[document] = self.put
                self.stamp += 1
                for kind in range(self.ranges.shape[0]):
                    self.collect_rows(self.ranges[kind, document], self.ranges[kind, document + 1])
                while more < self.documents_found.shape[0] and self.documents_found[more] == document:
                    self.reserve_output(1)
                    self.put_result(self.results_found[more])
                    more += 1
            starts[number] = self.put
        self.label, self.documents_found, self.results_found = NOTHING, NOTHING, NOTHING  # the batch may go
        return np.array(np.asarray(self.output)[: self.put]), starts_array

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=True)
    def collect_rows(self, first: cython.int, end: cython.int) -> cython.int:
        """The results of the classes of rows' label paths, each class once a document."""
        row: cython.int
        path: cython.int
        k: cython.int
        i: cython.Py_ssize_t
        j: cython.Py_ssize_t
        first_class: cython.Py_ssize_t
        member: cython.Py_ssize_t
        for row in range(first, end):
            path = self.label[row]
            if path < 0 or self.path_stamp[path] == self.stamp:
                continue
            self.path_stamp[path] = self.stamp
            first_class = self.classes_of_path.start[path]
            for i in range(first_class, first_class + self.classes_of_path.size[path]):
                k = self.classes_of_path.pool[i]
                if self.class_stamp[k] == self.stamp:
                    continue
                self.class_stamp[k] = self.stamp
                if self.members.size[k] != self.class_size[k]:
                    self.tidy(k)
                self.reserve_output(self.class_size[k])
                member = self.members.start[k]
                for j in range(member, member + self.class_size[k]):
                    self.put_result(self.members.pool[j])
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=True)
    def reserve_output(self, number: cython.Py_ssize_t) -> cython.int:
        if self.put + number > self.output.shape[0]:
            with cython.gil:
                self.output = wider(self.output, self.put + number)
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.inline
    @cython.exceptval(check=False)
    def put_result(self, result: cython.int) -> cython.void:
        """Put down a result, or what stands for it; there is room."""
        if self.is_translated:
            result = self.wanted[result]
        self.output[self.put] = result
        self.put += result >= 0

    def results_at(self, path: int) -> object:
        """The results that end at a label path."""
        found = [np.zeros(0, np.int32)]
        for k in self.classes_of_path.of(path).tolist():
            self.tidy(k)
            found.append(self.members.of(k))
        return np.concatenate(found)
