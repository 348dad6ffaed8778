"""The label paths of documents in, the results of their classes out, or who wants them: put down once a class."""

import cython
import numpy as np

from weft.kernel.arrays import copied, held, wider, zeros

if cython.compiled:
    from cython.cimports.libc.string import memcpy
else:  # compiled, the types are those of the .pxd
    from weft.kernel.classes import RECORD, SIZE, STAMP, START, TOLD, TOLD_ROOM, TOLD_SIZE, UNTOLD, VERSION
    from weft.kernel.classes import ResultClasses
    from weft.kernel.prefetching import prefetch
    from weft.kernel.subscribers import Subscribers

SOME = cython.declare(cython.int, 8)
SOME = 8  # entries that are copied at once: a size that the compiler knows makes two moves of it
MOST_USUAL = cython.declare(cython.Py_ssize_t, 1 << 20)
MOST_USUAL = 1 << 20  # entries that a batch has room for from the beginning
NOTHING = cython.declare(cython.int[::1])
NOTHING = zeros(1, np.int32)


@cython.cclass
class ToldClasses(ResultClasses):
    """Classes of results, and for each the subscriptions that want them; `told_classes.pxd` tells the columns."""

    def __init__(self, result_at, results: int):
        ResultClasses.__init__(self, result_at, results)
        self.path_stamp, self.stamp = zeros(1024, np.int32), 0
        self.begin_telling()

    @cython.cfunc
    @cython.exceptval(-1)
    def begin_telling(self) -> cython.int:
        """Nobody was told yet, and there is room for a little."""
        self.told, self.told_used, self.told_live = zeros(1024, np.int32), 0, 0
        self.subscribers = None
        self.noted, self.number_noted = zeros(1 << 10, np.int32), 0
        self.output, self.put, self.usual = zeros(1 << 12, np.int32), 0, 1 << 12
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def take_told(self, known: "ToldClasses") -> cython.int:
        """The same classes as others, of which nobody was told yet."""
        self.take_classes(known)
        self.path_stamp, self.stamp = copied(known.path_stamp, 0), known.stamp  # which classes are stamped with, too
        self.begin_telling()
        self.untell()
        return 0

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
        self.begin_output()
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
        return self.end_output(), starts_array

    @cython.cfunc
    @cython.exceptval(-1)
    def begin_output(self) -> cython.int:
        """Room for as many as there were in the batch before."""
        self.output, self.put = held(np.empty(self.usual, np.int32)), 0
        return 0

    @cython.cfunc
    def end_output(self):
        """What was put down: where it fills its room that is given away, else a copy."""
        output = np.asarray(self.output)
        is_full: cython.bint = output.size == self.usual and 2 * self.put > self.usual
        self.usual = min(max(self.put + (self.put >> 3), 1 << 12), MOST_USUAL) + SOME
        self.output = NOTHING
        return output[: self.put] if is_full else np.array(output[: self.put])

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
        for row in range(first, end):
            path = self.label[row]
            if path < 0 or self.path_stamp[path] == self.stamp:
                continue
            self.path_stamp[path] = self.stamp
            self.find_classes(path)
            if is_told:
                self.put_told()
            else:
                self.put_members()
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=True)
    def find_classes(self, path: cython.int) -> cython.int:
        """Note the classes of a label path that the document had not: a branch would be guessed wrongly."""
        i: cython.Py_ssize_t
        at: cython.Py_ssize_t
        number: cython.Py_ssize_t = 0
        first: cython.Py_ssize_t = self.classes_of_path.start[path]
        if self.classes_of_path.size[path] >= self.noted.shape[0]:
            with cython.gil:
                self.noted = wider(self.noted, self.classes_of_path.size[path])
        for i in range(first, first + self.classes_of_path.size[path]):
            at = self.classes_of_path.pool[i]
            self.noted[number] = at
            at *= RECORD
            number += self.record[at + STAMP] != self.stamp
            self.record[at + STAMP] = self.stamp
        self.number_noted = number
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=True)
    def put_told(self) -> cython.int:
        """Put down who wants the results of noted classes, some entries at a time: most lists are short."""
        i: cython.Py_ssize_t
        at: cython.Py_ssize_t
        end: cython.Py_ssize_t
        put: cython.Py_ssize_t
        number: cython.Py_ssize_t = 0
        for i in range(self.number_noted):
            at = self.noted[i] * RECORD
            if self.record[at + VERSION] != self.subscribers.version:
                self.tell(self.noted[i])
            number += self.record[at + TOLD_SIZE]
            if cython.compiled:
                prefetch(cython.address(self.told[self.record[at + TOLD]]))
        self.reserve_output(number)
        for i in range(self.number_noted):
            at = self.noted[i] * RECORD
            put = self.put
            self.put = end = put + self.record[at + TOLD_SIZE]
            at = self.record[at + TOLD]
            while put < end:
                if cython.compiled:
                    memcpy(cython.address(self.output[put]), cython.address(self.told[at]), 32)  # of SOME
                else:
                    self.output[put : put + SOME] = self.told[at : at + SOME]
                put += SOME
                at += SOME
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=True)
    def put_members(self) -> cython.int:
        """Put down the results of the classes that were noted."""
        i: cython.Py_ssize_t
        at: cython.Py_ssize_t
        for i in range(self.number_noted):
            self.tidy(self.noted[i])
            at = self.noted[i] * RECORD
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
            if self.told_used + number + SOME > self.told.shape[0]:
                with cython.gil:
                    self.told = wider(self.told, self.told_used + number + SOME)
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
        """Room for so many, and for some that are put down behind them and do not count."""
        if self.put + number + SOME > self.output.shape[0]:
            with cython.gil:
                self.output = wider(self.output, self.put + number + SOME)
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
