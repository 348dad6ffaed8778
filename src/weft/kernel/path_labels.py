"""Paths of names in, the label paths of an automaton out: each is worked out once, then read off a column."""

import cython
import numpy as np

from weft.kernel.arrays import held, wider, zeros

if not cython.compiled:  # compiled, the types are those of the .pxd
    from weft.kernel.name_paths import NamePaths
    from weft.kernel.paths import PathTable


@cython.cclass
class PathLabels:
    """For every path of names its label path; `path_labels.pxd` tells the columns."""

    def __init__(self, table: PathTable):
        self.table, self.size = table, 1
        self.label, self.code, self.codes = zeros(1024, np.int32), zeros(1024, np.int32), 0
        self.label[0] = 1

    def name(self, code: int, known: int) -> None:
        """A name with a code among paths of names has another one among label paths."""
        if code >= len(self.code):
            self.code = wider(self.code, code)
        self.code[code], self.codes = known, max(self.codes, code + 1)

    def cut(self, mark: int) -> None:
        """The label paths from one on are forgotten."""
        label = np.asarray(self.label)[: self.size]  # there is room for far more
        label[label > mark] = 0

    def memory(self) -> int:
        """How many bytes it takes."""
        return 4 * (self.size + self.codes)

    def of(self, paths: NamePaths, found, labels, at: cython.Py_ssize_t) -> int:
        """Fill in label paths from a place on, up to the first whose name is new to them; parents come before.

        It is always given the same paths of names, and does not keep them. Comes back with that place, or the end.
        """
        path: cython.int[::1] = held(found)
        label: cython.int[::1] = held(labels)
        self.size = paths.size
        if self.size > self.label.shape[0]:
            self.label = wider(self.label, self.size)
        with cython.nogil:
            while at < path.shape[0]:
                if self.label[path[at]] == 0 and self.find(paths, path[at]) < 0:
                    break
                label[at] = self.label[path[at]] - 1
                at += 1
        return at

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-2, check=True)
    def find(self, paths: NamePaths, path: cython.int) -> cython.int:
        """The label path of one that was not asked for; -1 if its name is new."""
        above: cython.longlong = self.label[paths.parent[path]] - 1
        code: cython.int = paths.code[path]
        found: cython.int
        if code >= self.code.shape[0] or self.code[code] == 0:
            return -1
        found = self.table.children.find((above << 32) | self.code[code])
        if found < 0:
            found = self.table.add(above, self.code[code])
        self.label[path] = found + 1
        return found
