from weft.kernel.tables cimport slot_of


cdef class Memo:
    cdef long long[::1] cells  # a pair, then a stamp and the bits that are known of it
    cdef int[::1] numbers  # what a measure is, where it is known
    cdef unsigned long long mask
    cdef unsigned long long factor  # odd, by chance
    cdef int shift  # 64 less the bits of a slot's number
    cdef unsigned long long used
    cdef long long stamp

    cdef int begin_small(self) except? -1
    cdef int shrink(self) except? -1
    cdef void forget(self) noexcept nogil
    cdef Py_ssize_t slot(self, int node, int row) except? -1 nogil
    cdef int grow(self) except? -1 nogil
