"""Recipes, groups and nodes in, messages of constants and copies out, one behind the other."""

import cython
import numpy as np

from weft.kernel.arrays import held

if not cython.compiled:  # compiled, these are those of the .pxd
    from weft.kernel.byte_words import copy_stretch
    from weft.kernel.stretches import Stretches

    BEFORE, EACH, AFTER, RUNS = 0, 1, 2, 3


@cython.cclass
class PieceWriter:
    """Writes the messages of one batch; `piece_writer.pxd` tells the columns."""

    def __init__(self, pieces, constants, lists, nodes, stretches: Stretches):
        """`pieces`: starts and entries by recipe and run; `lists`: the first of each group, their starts and ends."""
        self.piece_starts, self.pieces = (held(column) for column in pieces)
        self.constants, self.stretches = constants, stretches
        self.first, self.starts, self.ends = (held(column) for column in lists)
        self.nodes = held(nodes)

    def sizes(self, recipes, begins, groups):
        """The bytes of messages: each has a recipe, and the groups from where it begins."""
        recipe: cython.int[::1] = held(np.asarray(recipes, np.int32))
        begin: cython.longlong[::1] = held(np.asarray(begins, np.int64))
        group: cython.longlong[::1] = held(np.asarray(groups, np.int64))
        made: cython.longlong[::1] = held(np.empty(len(recipe), np.int64))
        at: cython.Py_ssize_t
        i: cython.Py_ssize_t
        for at in range(recipe.shape[0]):
            run: cython.Py_ssize_t = recipe[at] * RUNS
            size: cython.Py_ssize_t = self.size(run + BEFORE, 0) + self.size(run + AFTER, 0)
            for i in range(begin[at], begin[at + 1]):
                size += self.size(run + EACH, group[i])
            made[at] = size
        return np.asarray(made)

    def joined(self, recipes, begins, groups, size: cython.Py_ssize_t) -> bytearray:
        """The messages themselves one behind the other, which have so many bytes in all."""
        recipe: cython.int[::1] = held(np.asarray(recipes, np.int32))
        begin: cython.longlong[::1] = held(np.asarray(begins, np.int64))
        group: cython.longlong[::1] = held(np.asarray(groups, np.int64))
        data = bytearray(size)
        into: cython.uchar[::1] = memoryview(data)
        at: cython.Py_ssize_t
        used: cython.Py_ssize_t = 0
        for at in range(recipe.shape[0]):
            used = self.write(recipe[at], group, begin[at], begin[at + 1], into, used)
        return data

    def strings(self, recipes, begins, groups, most: cython.Py_ssize_t) -> list:
        """The same as strings, of which none has more than so many bytes: each is written where the last one was."""
        recipe: cython.int[::1] = held(np.asarray(recipes, np.int32))
        begin: cython.longlong[::1] = held(np.asarray(begins, np.int64))
        group: cython.longlong[::1] = held(np.asarray(groups, np.int64))
        data = bytearray(most)
        into: cython.uchar[::1] = memoryview(data)
        s: cython.p_char = data
        at: cython.Py_ssize_t
        size: cython.Py_ssize_t
        made = []
        for at in range(recipe.shape[0]):
            size = self.write(recipe[at], group, begin[at], begin[at + 1], into, 0)
            made.append(s[0:size].decode("utf-8", "surrogatepass"))
        return made

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def write(
        self,
        recipe: cython.Py_ssize_t,
        group: cython.longlong[::1],
        first: cython.Py_ssize_t,
        last: cython.Py_ssize_t,
        into: cython.uchar[::1],
        used: cython.Py_ssize_t,
    ) -> cython.Py_ssize_t:
        """Write a message of some groups, where there is room; where it ends."""
        i: cython.Py_ssize_t
        used = self.put(recipe * RUNS + BEFORE, 0, into, used)
        for i in range(first, last):
            used = self.put(recipe * RUNS + EACH, group[i], into, used)
        return self.put(recipe * RUNS + AFTER, 0, into, used)

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def size(self, run: cython.Py_ssize_t, group: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """The bytes of a run of pieces; those that are below zero are lists of a group."""
        at: cython.Py_ssize_t
        i: cython.Py_ssize_t
        size: cython.Py_ssize_t = 0
        for at in range(self.piece_starts[run], self.piece_starts[run + 1]):
            piece: cython.int = self.pieces[at]
            if piece >= 0:
                constant: bytes = self.constants[piece]
                size += len(constant)
                continue
            one: cython.Py_ssize_t = self.first[group] - piece - 1
            for i in range(self.starts[one], self.ends[one]):
                size += self.stretches.size(self.nodes[i])
        return size

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def put(
        self, run: cython.Py_ssize_t, group: cython.Py_ssize_t, into: cython.uchar[::1], used: cython.Py_ssize_t
    ) -> cython.Py_ssize_t:
        """Write it, where there is room; where it ends."""
        at: cython.Py_ssize_t
        i: cython.Py_ssize_t
        for at in range(self.piece_starts[run], self.piece_starts[run + 1]):
            piece: cython.int = self.pieces[at]
            if piece >= 0:
                constant: bytes = self.constants[piece]
                s: cython.p_uchar = constant
                used = copy_stretch(into, used, s, 0, len(constant))
                continue
            one: cython.Py_ssize_t = self.first[group] - piece - 1
            for i in range(self.starts[one], self.ends[one]):
                used = self.stretches.put(self.nodes[i], into, used)
        return used
