cdef class Memo:
    cdef long long[::1] keys
    cdef int[::1] places  # steps into an edge
    cdef signed char[::1] marks
    cdef unsigned long long[::1] depths  # of an edge and a label path: where it can begin
    cdef Py_ssize_t used
    cdef unsigned long long mask

    cdef Py_ssize_t slot(self, int node, int row, int place) except? -1
    cdef int grow(self) except? -1
