from weft.kernel.codes cimport CONTAINS, ENDS
from weft.kernel.tables cimport Numbers


cdef class PartTables:
    cdef int size
    cdef const unsigned char[::1] characters  # of all constants, one behind the other
    cdef long long[::1] character_start
    cdef signed char[::1] operator
    # the trees, by operator from CONTAINS on: (branch, byte) -> branch, from a root by two bytes
    cdef Numbers branches
    cdef int branch_count
    cdef int[::1] lone  # by branch, code + 1 of the one constant that goes on from there; 0: there are several
    cdef int[::1] leaves  # by branch, code + 1 of the constant that ends there
    cdef unsigned long long[::1] pairs  # by tree, bits of the pairs of bytes that lead from its root
    cdef int[::1] short_leaves  # by tree and byte, code + 1 of the constant that it is
    cdef signed char[::1] has_short  # by tree, whether there are any
    cdef int[::1] always  # by tree, the code of the constant that is empty, which every value has

    cdef int plant(self, int code) except? -1
    cdef int grow(self, int branch, int code) except? -1
    cdef int sprout(self, int branch, int step, int code) except? -1
    cdef int byte_of(self, int code, Py_ssize_t at) noexcept nogil
    cdef int further(self, int branch, int step) noexcept nogil
    cdef bint is_at(self, int code, const unsigned char[::1] text, Py_ssize_t at) noexcept nogil
