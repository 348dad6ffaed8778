"""The label paths of documents in, the results of their classes out, or who wants them: put down once a class."""

import cython
import numpy as np

from weft.kernel.arrays import held, wider, zeros

if not cython.compiled:  # compiled, the types are those of the .pxd
    from weft.kernel.classes import RECORD, SIZE, STAMP, START, TOLD, TOLD_ROOM, TOLD_SIZE, UNTOLD, VERSION
    from weft.kernel.classes import ResultClasses
    from weft.kernel.subscribers import Subscribers

NOTHING = cython.declare(cython.int[::1])
NOTHING = zeros(1, np.int32)


@cython.cclass
class ToldClasses(ResultClasses):
    """Classes of results, and for each the subscriptions that want them; `told_classes.pxd` tells the columns."""

    def __init__(self, result_at, results: int):
        ResultClasses.__init__(self, result_at, results)
        self.told, self.told_used, self.told_live = zeros(1024, np.int32), 0, 0
        self.subscribers = None
        self.stamp, self.path_stamp = 0, zeros(1024, np.int32)
        self.output, self.put = zeros(1 << 12, np.int32), 0

    def results(self, labels, ranges, documents, found, subscribers) -> tuple:
        """The results of each document: (all of them, where each document's begin).

        `ranges` are rows of columns, one for each kind of nodes: where each document's nodes begin, and the end; by
        their label paths they have results, and those in `found` beside, in the order of `documents`. With
        `subscribers` there are these instead.
        """
        self.label, self.ranges = held(labels), held(ranges)
        self.documents_found, self.results_found = held(documents), held(found)
        is_told: cython.bint = subscribers is not None
        if is_told:
            self.follow(subscribers)
        number: cython.Py_ssize_t = self.ranges.shape[1] - 1
        starts_array = np.zeros(number + 1, np.int64)
        starts: cython.longlong[::1] = held(starts_array)
        document: cython.int
        kind: cython.int
        first: cython.Py_ssize_t
        more: cython.Py_ssize_t = 0
        self.put = 0
        with cython.nogil:
            for document in range(number):
                starts[document] = self.put
                self.stamp += 1
                for kind in range(self.ranges.shape[0]):
                    self.collect_rows(self.ranges[kind, document], self.ranges[kind, document + 1], is_told)
                first = more
                while more < self.documents_found.shape[0] and self.documents_found[more] == document:
                    more += 1
                self.add_found(first, more, is_told)
            starts[number] = self.put
        self.label, self.documents_found, self.results_found = NOTHING, NOTHING, NOTHING  # the batch may go
        return np.array(np.asarray(self.output)[: self.put]), starts_array

    @cython.cfunc
    @cython.exceptval(-1)
    def follow(self, subscribers: Subscribers) -> cython.int:
        """Tell these from now on; lists that others left behind, and too much that is unused, go."""
        if self.subscribers is not subscribers or self.told_used > 4 * self.told_live + 65536:
            self.subscribers = subscribers
            self.untell()
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def untell(self) -> cython.int:
        """Forget who wants the results of classes: it is put down again where it is asked for."""
        k: cython.int
        self.told, self.told_used, self.told_live = zeros(1024, np.int32), 0, 0
        for k in range(self.classes):
            self.record[k * RECORD + VERSION], self.record[k * RECORD + TOLD_ROOM] = UNTOLD, 0
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=True)
    def collect_rows(self, first: cython.int, end: cython.int, is_told: cython.bint) -> cython.int:
        """The results of the classes of rows' label paths, or who wants them, each class once a document."""
        row: cython.int
        path: cython.int
        k: cython.int
        at: cython.Py_ssize_t
        i: cython.Py_ssize_t
        first_class: cython.Py_ssize_t
        for row in range(first, end):
            path = self.label[row]
            if path < 0 or self.path_stamp[path] == self.stamp:
                continue
            self.path_stamp[path] = self.stamp
            first_class = self.classes_of_path.start[path]
            for i in range(first_class, first_class + self.classes_of_path.size[path]):
                k = self.classes_of_path.pool[i]
                at = k * RECORD
                if self.record[at + STAMP] == self.stamp:
                    continue
                self.record[at + STAMP] = self.stamp
                if is_told:
                    if self.record[at + VERSION] != self.subscribers.version:
                        self.tell(k)
                    self.reserve_output(self.record[at + TOLD_SIZE])
                    self.copy(self.told, self.record[at + TOLD], self.record[at + TOLD_SIZE])
                else:
                    self.tidy(k)
                    self.reserve_output(self.record[at + SIZE])
                    self.copy(self.members, self.record[at + START], self.record[at + SIZE])
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=True)
    def tell(self, k: cython.int) -> cython.int:
        """Put down who wants the results of a class."""
        at: cython.Py_ssize_t = k * RECORD
        i: cython.Py_ssize_t
        number: cython.Py_ssize_t = 0
        self.tidy(k)
        first: cython.Py_ssize_t = self.record[at + START]
        end: cython.Py_ssize_t = first + self.record[at + SIZE]
        for i in range(first, end):
            number += self.subscribers.number_of(self.members[i])
        if number > self.record[at + TOLD_ROOM]:
            if self.told_used + number > self.told.shape[0]:
                with cython.gil:
                    self.told = wider(self.told, self.told_used + number)
            self.told_live += number - self.record[at + TOLD_ROOM]
            self.record[at + TOLD], self.record[at + TOLD_ROOM] = self.told_used, number
            self.told_used += number
        self.record[at + TOLD_SIZE], self.record[at + VERSION] = number, self.subscribers.version
        number = self.record[at + TOLD]
        for i in range(first, end):
            number = self.subscribers.put(self.members[i], self.told, number)
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=True)
    def add_found(self, first: cython.Py_ssize_t, end: cython.Py_ssize_t, is_told: cython.bint) -> cython.int:
        """Put down results that were found in other ways, or who wants them."""
        at: cython.Py_ssize_t
        number: cython.Py_ssize_t = end - first
        if is_told:
            number = 0
            for at in range(first, end):
                number += self.subscribers.number_of(self.results_found[at])
        self.reserve_output(number)
        if not is_told:
            self.copy(self.results_found, first, number)
            return 0
        for at in range(first, end):
            self.put = self.subscribers.put(self.results_found[at], self.output, self.put)
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
    @cython.exceptval(check=False)
    def copy(self, column: cython.int[::1], first: cython.Py_ssize_t, number: cython.Py_ssize_t) -> cython.void:
        """Put down a stretch of a column, for which there is room."""
        i: cython.Py_ssize_t
        put: cython.Py_ssize_t = self.put
        for i in range(number):
            self.output[put + i] = column[first + i]
        self.put = put + number
