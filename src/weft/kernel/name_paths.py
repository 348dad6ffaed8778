"""Names from the root down in, one number for each path of them out: all that is kept where nobody asks for nodes.

The numbers stand as long as the names that they are made of; what automata make of them is worked out once a number.
"""

import cython
import numpy as np

from weft.kernel.arrays import wider, zeros

if not cython.compiled:  # compiled, the types are those of the .pxd
    from weft.kernel.tables import Numbers

    TEXT_CODE = 0  # that of a name is 2 * its number + 1 for elements, + 2 for attributes
    SEVERAL = -2  # instead of an offset: the document has several nodes with this path


@cython.cclass
class NamePaths:
    """The paths of names seen so far; `name_paths.pxd` tells the columns. Path 0 is above all roots."""

    def __init__(self):
        self.parent, self.code = zeros(1024, np.int32), zeros(1024, np.int32)
        self.stamp, self.begun, self.stamped = zeros(1024, np.int64), 1, 1
        self.children, self.size = Numbers(1024), 1
        self.found, self.offset, self.keeps_offsets = zeros(1024, np.int32), zeros(1024, np.int64), False
        self.found_size = self.first_found = self.placed = 0
        self.begins, self.declares, self.documents = zeros(64, np.int32), zeros(64, np.int32), 0
        self.hold_arrays()

    @cython.cfunc
    @cython.exceptval(-1)
    def hold_arrays(self) -> cython.int:
        """The arrays of columns that have changed their places."""
        self.path_arrays = np.asarray(self.parent), np.asarray(self.code)
        self.found_array, self.offset_array = np.asarray(self.found), np.asarray(self.offset)
        self.begin_array = np.asarray(self.begins)
        return 0

    def __len__(self) -> int:
        return self.size

    def columns(self) -> tuple:
        """For every path the one above it and the code of its last name; there may be more entries than paths."""
        return self.path_arrays

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
            self.offset = wider(self.offset, self.found_size + number)
        self.hold_arrays()
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
        if self.stamp[path] < self.stamped:
            self.stamp[path] = self.begun + self.found_size
            self.found[self.found_size] = path
            self.found_size += 1
        return path

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def place(self, path: cython.int, offset: cython.longlong) -> cython.void:
        """The node that the document was just found to have with a path begins at an offset."""
        at: cython.Py_ssize_t = self.stamp[path] - self.begun
        if at == self.placed:
            self.offset[at] = offset
            self.placed = at + 1
        else:
            self.offset[at] = SEVERAL

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def declare(self) -> cython.void:
        """An element of the document that is not its root declares namespaces."""
        self.declares[self.documents] = 1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def end_document(self) -> cython.void:
        """What comes next is found in another document; there is room for it."""
        self.documents += 1
        self.begins[self.documents] = self.first_found = self.found_size
        self.declares[self.documents] = 0
        self.stamped = self.begun + self.found_size

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def cut_document(self) -> cython.void:
        """Nothing was found in the document."""
        self.begun += self.found_size - self.first_found  # what it had is stamped as before the next one
        self.stamped = self.begun + self.first_found
        self.found_size = self.placed = self.first_found
        self.declares[self.documents] = 0

    def begin_batch(self, documents: cython.Py_ssize_t, offsets: bool) -> None:
        """So many documents come, at most; whether offsets are asked for."""
        if documents >= self.begins.shape[0]:
            self.begins, self.declares = zeros(2 * documents, np.int32), zeros(2 * documents, np.int32)
            self.hold_arrays()
        self.begun += self.found_size
        self.stamped, self.keeps_offsets = self.begun, offsets
        self.found_size = self.first_found = self.placed = self.documents = self.declares[0] = 0

    def take(self) -> tuple:
        """All that was found, document after document, and where that of each begins, and the end."""
        return self.found_array[: self.found_size].copy(), self.begin_array[: self.documents + 1].copy()

    def take_offsets(self) -> tuple:
        """The offset of the one node of each path that was found, or SEVERAL; and of each document: what its root is.

        That is the number of its name, its offset, and whether elements below it declare namespaces.
        """
        roots = []
        at: cython.Py_ssize_t
        for at in range(self.documents):
            first: cython.Py_ssize_t = self.begins[at]
            roots.append(((self.code[self.found[first]] - 1) // 2, self.offset[first], self.declares[at] != 0))
        return self.offset_array[: self.found_size].copy(), roots
