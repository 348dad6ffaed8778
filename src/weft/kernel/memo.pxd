from weft.kernel.tables cimport mixed


cdef class Memo:
    cdef long long[::1] cells  # a pair, then a stamp and the bits that are known of it
    cdef unsigned long long mask
    cdef unsigned long long used
    cdef long long stamp

    cdef int shrink(self) except? -1
    cdef void forget(self) noexcept nogil
    cdef Py_ssize_t slot(self, int node, int row) except? -1 nogil
    cdef int grow(self) except? -1 nogil
