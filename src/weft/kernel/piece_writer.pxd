from weft.kernel.byte_words cimport copy_stretch
from weft.kernel.stretches cimport Stretches

cdef enum:
    BEFORE = 0
    EACH = 1
    AFTER = 2
    RUNS = 3


cdef class PieceWriter:
    cdef long long[::1] piece_starts  # by recipe and run
    cdef int[::1] pieces  # constants, or below zero the lists of a group
    cdef list constants  # of bytes
    cdef long long[::1] first  # by group its first list
    cdef long long[::1] starts  # by list, in nodes
    cdef long long[::1] ends
    cdef int[::1] nodes  # the stretches that they are
    cdef Stretches stretches

    cdef Py_ssize_t size(self, Py_ssize_t run, Py_ssize_t group) except? -1
    cdef Py_ssize_t put(self, Py_ssize_t run, Py_ssize_t group, unsigned char[::1] into, Py_ssize_t used) except? -1
    cdef Py_ssize_t write(
        self, Py_ssize_t recipe, long long[::1] group, Py_ssize_t first, Py_ssize_t last, unsigned char[::1] into,
        Py_ssize_t used,
    ) except? -1
