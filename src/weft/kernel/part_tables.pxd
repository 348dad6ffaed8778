from weft.kernel.codes cimport CONTAINS, STARTS
from weft.kernel.tables cimport Numbers


cdef class PartTables:
    cdef int size
    cdef const unsigned char[::1] characters  # of all constants, one behind the other
    cdef long long[::1] character_start
    # the trees: (branch, byte) -> branch, at a branch code + 1 of the constant that ends there
    cdef Numbers tree
    cdef int[::1] leaves
    cdef unsigned long long[::1] next_bytes  # by branch, bits of the bytes that lead on, modulo 64
    cdef int branches
    cdef int start_root
    cdef int end_root
    cdef int[::1] first_branches  # of constants inside, by the first two bytes; one entry where there are none so long
    cdef int[::1] short_leaves  # by byte, code + 1 of the constant that it is
    cdef bint has_short
    cdef int always  # the code of the constant that is empty, which every value has inside

    cdef int plant_inside(self, int code) except? -1
    cdef int plant(self, int code, int branch, Py_ssize_t at, Py_ssize_t end, int way) except? -1
    cdef int new_branch(self) except? -1
    cdef int follow(self, int branch, unsigned char byte) noexcept nogil
    cdef bint is_at(self, int code, const unsigned char[::1] text, Py_ssize_t at) noexcept nogil
