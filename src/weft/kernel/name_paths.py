"""Names from the root down in, one number for each path of them out: all that is kept where nobody asks for nodes.

The numbers stand as long as the names that they are made of; what automata make of them is worked out once a number.
"""

import cython
import numpy as np

from weft.kernel.arrays import wider, zeros

if not cython.compiled:  # compiled, the types are those of the .pxd
    from weft.kernel.tables import Numbers

    TEXT_CODE = 0  # that of a name is 2 * its number + 1 for elements, + 2 for attributes


@cython.cclass
class NamePaths:
    """The paths of names seen so far; `name_paths.pxd` tells the columns. Path 0 is above all roots."""

    def __init__(self):
        self.parent, self.code = zeros(1024, np.int32), zeros(1024, np.int32)
        self.stamp, self.stamped = zeros(1024, np.int64), 1
        self.children, self.size = Numbers(1024), 1
        self.found, self.found_size, self.first_found = zeros(1024, np.int32), 0, 0
        self.ends, self.documents = zeros(64, np.int64), 0

    def __len__(self) -> int:
        return self.size

    def above(self, path: int) -> int:
        """The path that one is right below."""
        return self.parent[path]

    def last_name(self, path: int) -> tuple:
        """The code of a path's last name, the number of that name, and whether it is one of attributes (1) or not (0).

        Texts have the code 0 and no name.
        """
        code = self.code[path]
        return code, (code - 1) // 2, int(code != TEXT_CODE and code % 2 == 0)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def has_room(self, number: cython.Py_ssize_t) -> cython.bint:
        """Whether so many more may be found, all of them new."""
        return (
            self.size + number <= self.parent.shape[0]
            and 2 * (self.children.used + number) <= self.children.keys.shape[0]
            and self.found_size + number <= self.found.shape[0]
        )

    @cython.ccall
    @cython.exceptval(-1)
    def widen(self, number: cython.Py_ssize_t) -> cython.int:
        """Room for so many more."""
        if self.size + number > self.parent.shape[0]:
            self.parent = wider(self.parent, self.size + number)
            self.code, self.stamp = wider(self.code, self.size + number), wider(self.stamp, self.size + number)
        while 2 * (self.children.used + number) > self.children.keys.shape[0]:
            self.children.rebuild(2 * self.children.keys.shape[0], -1)
        if self.found_size + number > self.found.shape[0]:
            self.found = wider(self.found, self.found_size + number)
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def note(self, above: cython.int, code: cython.int) -> cython.int:
        """The path below another by a name, which the document has from now on; there is room for it."""
        key: cython.longlong = above
        key = (key << 32) | code
        path: cython.int = self.children.find(key)
        if path < 0:
            path = self.size
            self.size = path + 1
            self.parent[path], self.code[path] = above, code
            self.children.put(key, path)
        if self.stamp[path] != self.stamped:
            self.stamp[path] = self.stamped
            self.found[self.found_size] = path
            self.found_size += 1
        return path

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def end_document(self) -> cython.void:
        """What comes next is found in another document; there is room for it."""
        self.ends[self.documents] = self.first_found = self.found_size
        self.documents += 1
        self.stamped += 1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def cut_document(self) -> cython.void:
        """Nothing was found in the document."""
        self.found_size = self.first_found
        self.stamped += 1

    def begin_batch(self, documents: cython.Py_ssize_t) -> None:
        """So many documents come, at most."""
        if documents > self.ends.shape[0]:
            self.ends = zeros(2 * documents, np.int64)
        self.found_size = self.first_found = self.documents = 0
        self.stamped += 1

    def take(self) -> tuple:
        """All that was found, document after document, and where that of each begins, and the end."""
        found = np.array(np.asarray(self.found)[: self.found_size])
        begins = np.zeros(self.documents + 1, np.int32)
        begins[1:] = np.asarray(self.ends)[: self.documents]
        return found, begins
