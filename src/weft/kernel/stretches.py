"""Stretches of bytes in, the same as strings or one behind the other out: nodes as they stand in their sources."""

import cython
import numpy as np

from weft.kernel.arrays import held

if not cython.compiled:  # compiled, these are those of the .pxd
    from weft.kernel.byte_words import copy_stretch

    GREATER, SLASH = 62, 47


def element_ends(sources, document, end, is_childless):
    """Where elements end: behind the end tag that begins at `end`, or there, if they end with `/>` and have none."""
    documents: cython.int[::1] = held(np.asarray(document, np.int32))
    ends: cython.longlong[::1] = held(np.asarray(end, np.int64))
    childless: cython.uchar[::1] = held(np.asarray(is_childless, np.uint8))
    found: cython.longlong[::1] = held(np.empty(len(ends), np.int64))
    at: cython.Py_ssize_t
    for at in range(documents.shape[0]):
        source: bytes = sources[documents[at]]
        s: cython.p_uchar = source
        p: cython.Py_ssize_t = ends[at]
        if not (childless[at] and s[p - 1] == GREATER and s[p - 2] == SLASH):
            while s[p] != GREATER:
                p += 1
            p += 1
        found[at] = p
    return np.asarray(found)


@cython.cclass
class Stretches:
    """Stretches of buffers by number, each with what is put into it at a place; `stretches.pxd` tells the columns."""

    def __init__(self, buffers, columns, inserted, insertions):
        """`columns`: buffer, start and end of each; `inserted`: what is put in, 0 for nothing, and where."""
        self.buffers, self.insertions = buffers, insertions
        self.buffer, self.start, self.end = (held(column) for column in columns)
        self.inserted, self.place = (held(column) for column in inserted)

    def sizes(self, numbers):
        """The bytes of some."""
        number: cython.int[::1] = held(np.asarray(numbers, np.int32))
        made: cython.longlong[::1] = held(np.empty(len(number), np.int64))
        at: cython.Py_ssize_t
        for at in range(number.shape[0]):
            made[at] = self.size(number[at])
        return np.asarray(made)

    def joined(self, numbers) -> tuple:
        """Some of them one behind the other, and where each ends."""
        number: cython.int[::1] = held(np.asarray(numbers, np.int32))
        ends: cython.longlong[::1] = held(np.empty(len(number), np.int64))
        at: cython.Py_ssize_t
        used: cython.Py_ssize_t = 0
        for at in range(number.shape[0]):
            used += self.size(number[at])
            ends[at] = used
        data = bytearray(used)
        into: cython.uchar[::1] = memoryview(data)
        used = 0
        for at in range(number.shape[0]):
            used = self.put(number[at], into, used)
        return data, np.asarray(ends)

    def strings(self, numbers) -> list:
        """Some of them, in UTF-8, as strings."""
        number: cython.int[::1] = held(np.asarray(numbers, np.int32))
        at: cython.Py_ssize_t
        made = []
        for at in range(number.shape[0]):
            source: bytes = self.buffers[self.buffer[number[at]]]
            s: cython.p_char = source
            text = s[self.start[number[at]] : self.end[number[at]]].decode("utf-8", "surrogatepass")
            what: cython.int = self.inserted[number[at]]
            if what:
                head = s[self.start[number[at]] : self.place[number[at]]].decode("utf-8", "surrogatepass")
                text = head + self.insertions[what].decode() + text[len(head) :]
            made.append(text)
        return made

    @cython.cfunc
    @cython.exceptval(check=False)
    def size(self, number: cython.int) -> cython.Py_ssize_t:
        what: cython.int = self.inserted[number]
        more: cython.Py_ssize_t = len(self.insertions[what]) if what else 0
        return self.end[number] - self.start[number] + more

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def put(self, number: cython.int, into: cython.uchar[::1], at: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Write one, for which there is room; where it ends."""
        source: bytes = self.buffers[self.buffer[number]]
        s: cython.p_uchar = source
        first: cython.Py_ssize_t = self.start[number]
        what: cython.int = self.inserted[number]
        if what:
            at = copy_stretch(into, at, s, first, self.place[number])
            first = self.place[number]
            more: bytes = self.insertions[what]
            t: cython.p_uchar = more
            at = copy_stretch(into, at, t, 0, len(more))
        return copy_stretch(into, at, s, first, self.end[number])
