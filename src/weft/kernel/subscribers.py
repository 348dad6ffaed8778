"""Results in, the subscriptions that want them out: many may share a result, and most results have one."""

import cython
import numpy as np

from weft.kernel.arrays import held, wider, zeros

if not cython.compiled:  # compiled, the types are those of the .pxd
    from weft.kernel.tables import IntLists

    NOBODY = -1


@cython.cclass
class Subscribers:
    """For every result its subscriptions: the first in a column, the others aside; `subscribers.pxd` tells the rest."""

    def __init__(self):
        self.first, self.others, self.size = zeros(64, np.int32), IntLists(), 0
        self.latest, self.shared, self.version = NOBODY, 0, 0
        self.is_wanted_twice = False

    def __len__(self) -> int:
        return self.size

    def __reduce__(self):
        pairs = [(result, other) for result in range(self.size) for other in self.others.of(result).tolist()]
        first = np.array(np.asarray(self.first)[: self.size])
        return _restored, (first, np.array(pairs, np.int32).reshape(-1, 2), self.latest, self.is_wanted_twice)

    def new(self) -> int:
        """A result that nobody wants yet."""
        if self.size == self.first.shape[0]:
            self.first = wider(self.first)
        self.first[self.size] = NOBODY
        self.size += 1
        return self.size - 1

    def add(self, result: cython.int, subscription: cython.int) -> None:
        """A subscription wants a result; all that it wants are told one after the other."""
        self.is_wanted_twice |= subscription == self.latest
        self.latest = subscription
        self.version += 1
        if self.first[result] == NOBODY:
            self.first[result] = subscription
            return
        self.shared += self.number_of_others(result) == 0
        self.others.add(result, subscription)

    def remove(self, result: cython.int, subscription: cython.int) -> bool:
        """Remove one subscriber; return whether it was the last."""
        number: cython.Py_ssize_t = self.number_of_others(result)
        at: cython.Py_ssize_t
        self.version += 1
        if number == 0:
            self.first[result] = NOBODY
            return True
        start: cython.Py_ssize_t = self.others.start[result]
        last: cython.int = self.others.pool[start + number - 1]
        self.others.size[result] = number - 1
        self.shared -= number == 1
        if self.first[result] == subscription:
            self.first[result] = last
            return False
        for at in range(start, start + number):
            if self.others.pool[at] == subscription:
                self.others.pool[at] = last
        return False

    def sharing(self) -> dict:
        """How many subscriptions the results with more than one have."""
        numbers = np.asarray(self.others.size)[: self.size]  # there is room for far more
        return {result: 1 + int(numbers[result]) for result in np.flatnonzero(numbers).tolist()}

    def pairs(self, results) -> tuple:
        """(position in the input, subscription) for all subscriptions that want one of these results."""
        result: cython.int[::1] = held(np.asarray(results, np.int32))
        at: cython.Py_ssize_t
        after: cython.Py_ssize_t
        used: cython.Py_ssize_t = 0
        with cython.nogil:
            for at in range(result.shape[0]):
                used += self.number_of(result[at])
        positions = np.empty(used, np.int32)
        subscriptions = np.empty(used, np.int32)
        position: cython.int[::1] = held(positions)
        subscription: cython.int[::1] = held(subscriptions)
        used = 0
        with cython.nogil:
            for at in range(result.shape[0]):
                after = self.put(result[at], subscription, used)
                while used < after:
                    position[used] = at
                    used += 1
        return np.asarray(position), np.asarray(subscription)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def number_of_others(self, result: cython.int) -> cython.Py_ssize_t:
        return self.others.size[result] if result < self.others.size.shape[0] else 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def number_of(self, result: cython.int) -> cython.Py_ssize_t:
        """How many subscriptions want a result."""
        if self.first[result] == NOBODY:
            return 0
        return 1 + (self.number_of_others(result) if self.shared else 0)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def put(self, result: cython.int, output: cython.int[::1], at: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Put down the subscriptions that want a result, for which there is room; where they end."""
        i: cython.Py_ssize_t
        if self.first[result] == NOBODY:
            return at
        output[at] = self.first[result]
        at += 1
        if self.shared:
            for i in range(self.number_of_others(result)):
                output[at] = self.others.pool[self.others.start[result] + i]
                at += 1
        return at


def _restored(first, pairs, latest, is_wanted_twice):
    """What was taken apart to be sent elsewhere."""
    made = Subscribers()
    for _ in range(len(first)):
        made.new()
    for result, subscription in enumerate(first.tolist()):
        if subscription >= 0:
            made.add(result, subscription)
    for result, subscription in pairs.tolist():
        made.add(result, subscription)
    made.latest, made.is_wanted_twice = latest, is_wanted_twice
    return made
