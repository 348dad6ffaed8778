# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False, nonecheck=False
"""Results in classes: those that end at the same label paths are one, so a document's results are read off few of them.

ResultClasses are kept by partition refinement as label paths come.
"""

import cython
import numpy as np

from weft.kernel.arrays import held, wider, zeros

if not cython.compiled:  # compiled, the types are those of the .pxd
    from weft.kernel.tables import IntLists


@cython.cclass
class ResultClasses:
    """Results as a permutation in which each class is a run; `classes.pxd` tells the columns."""

    def __init__(self, result_of_state, results: int):
        self.reached = IntLists()
        self.result_of_state = held(result_of_state)
        self.reached.reserve(0, 0)
        self.members = held(np.arange(max(results, 1), dtype=np.int32))
        self.position = held(np.arange(max(results, 1), dtype=np.int32))
        self.class_of = zeros(results, np.int32)
        self.class_start, self.class_size = zeros(1024, np.int32), zeros(1024, np.int32)
        self.class_met, self.class_stamp = zeros(1024, np.int32), zeros(1024, np.int32)
        self.class_size[0], self.classes = results, 1
        self.classes_of_path, self.paths_of_class, self.touched = IntLists(), IntLists(), IntLists()
        self.classes_of_path.reserve(0, 0)
        self.touched.reserve(0, 0)
        self.stamp, self.path_stamp = 0, zeros(1024, np.int32)

    @cython.cfunc
    @cython.exceptval(-1)
    def refine(self, path: cython.int) -> cython.int:
        """Split every class of which some results end at this label path and others do not."""
        i: cython.Py_ssize_t
        result: cython.int
        other: cython.int
        k: cython.int
        a: cython.int
        b: cython.int
        self.touched.size[0] = 0
        for i in range(self.reached.start[path], self.reached.start[path] + self.reached.size[path]):
            result = self.result_of_state[self.reached.pool[i]]
            if result < 0:
                continue
            k = self.class_of[result]
            a = self.position[result]
            b = self.class_start[k] + self.class_met[k]
            if a < b:  # it was met before
                continue
            if self.class_met[k] == 0:
                self.touched.add(0, k)
            self.class_met[k] += 1
            other = self.members[b]
            self.members[b], self.members[a] = result, other
            self.position[result], self.position[other] = b, a
        for i in range(self.touched.size[0]):
            self.split(path, self.touched.pool[self.touched.start[0] + i])
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def split(self, path: cython.int, k: cython.int) -> cython.int:
        met: cython.int = self.class_met[k]
        new: cython.int = k
        i: cython.Py_ssize_t
        other: cython.int
        self.class_met[k] = 0
        if met < self.class_size[k]:
            new = self.classes
            self.classes += 1
            if new >= self.class_start.shape[0]:
                self.class_start, self.class_size = wider(self.class_start, new), wider(self.class_size, new)
                self.class_met, self.class_stamp = wider(self.class_met, new), wider(self.class_stamp, new)
            self.class_start[new], self.class_size[new] = self.class_start[k], met
            self.class_start[k] += met
            self.class_size[k] -= met
            for i in range(met):
                self.class_of[self.members[self.class_start[new] + i]] = new
            self.paths_of_class.reserve(k, 0)
            for i in range(self.paths_of_class.size[k]):
                other = self.paths_of_class.pool[self.paths_of_class.start[k] + i]
                self.paths_of_class.add(new, other)
                self.classes_of_path.add(other, new)
        self.classes_of_path.add(path, new)
        self.paths_of_class.add(new, path)
        return 0

    def results(self, documents, labels, number: int) -> tuple:
        """Of rows with their documents, in order, and their label paths: (results, where each document's begin)."""
        of_row: cython.int[::1] = held(documents)
        label: cython.int[::1] = held(labels)
        starts_array = np.zeros(number + 1, np.int64)
        starts: cython.longlong[::1] = held(starts_array)
        out_array = np.empty(1 << 12, np.int32)
        out: cython.int[::1] = held(out_array)
        used: cython.Py_ssize_t = 0
        row: cython.Py_ssize_t
        i: cython.Py_ssize_t
        j: cython.Py_ssize_t
        k: cython.int
        first: cython.Py_ssize_t
        path: cython.int
        document: cython.int = -1
        for row in range(label.shape[0]):
            while document < of_row[row]:
                document += 1
                starts[document] = used
                self.stamp += 1
            path = label[row]
            if path < 0 or self.path_stamp[path] == self.stamp:
                continue
            self.path_stamp[path] = self.stamp
            first = self.classes_of_path.start[path]
            for i in range(first, first + self.classes_of_path.size[path]):
                k = self.classes_of_path.pool[i]
                if self.class_stamp[k] == self.stamp:
                    continue
                self.class_stamp[k] = self.stamp
                if used + self.class_size[k] > out.shape[0]:
                    out = wider(out, used + self.class_size[k])
                for j in range(self.class_start[k], self.class_start[k] + self.class_size[k]):
                    out[used] = self.members[j]
                    used += 1
        while document < number:
            document += 1
            starts[document] = used
        return np.array(np.asarray(out)[:used]), starts_array

    def results_at(self, path: int) -> object:
        """The results that end at a label path."""
        found = np.asarray(self.result_of_state)[self.reached.of(path)]
        return found[found >= 0]
