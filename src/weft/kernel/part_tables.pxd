from weft.kernel.codes cimport CONTAINS, ENDS, STARTS
from weft.kernel.tables cimport Numbers


cdef class PartTables:
    cdef int size
    cdef const unsigned char[::1] characters  # of all constants, one behind the other
    cdef long long[::1] character_start
    cdef signed char[::1] operator
    # starts and ends by hash: code + 1, 0: free
    cdef int[::1] slots
    cdef unsigned long long mask
    cdef unsigned long long seed
    cdef unsigned long long start_lengths  # bits of the lengths that there are, the last one for all above
    cdef unsigned long long end_lengths
    cdef Py_ssize_t longest_start  # -1: there are none
    cdef Py_ssize_t longest_end
    # the tree: (branch, byte) -> branch, at a branch code + 1 of the constant that ends there
    cdef Numbers tree
    cdef int[::1] leaves
    cdef int branches
    cdef int[::1] first_branches  # by the first two bytes; nothing where there is no constant of two bytes
    cdef int[::1] short_leaves  # by byte, code + 1 of the constant that it is
    cdef bint has_short
    cdef int always  # the code of the constant that is empty, which every value has inside

    cdef int add(self, int code) except? -1
    cdef int plant(self, int code) except? -1
    cdef int new_branch(self) except? -1
    cdef unsigned long long begin(self, int operator) noexcept nogil
    cdef unsigned long long further(self, unsigned long long hashed, unsigned char byte) noexcept nogil
    cdef unsigned long long scattered(self, unsigned long long hashed) noexcept nogil
    cdef int find(self, int operator, unsigned long long hashed, const unsigned char[::1] text, Py_ssize_t start, Py_ssize_t size) noexcept nogil
    cdef bint is_at(self, int code, const unsigned char[::1] text, Py_ssize_t at) noexcept nogil
