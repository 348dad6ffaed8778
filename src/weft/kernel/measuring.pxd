from weft.kernel.codes cimport CHILD, CODE, COMPARED, COUNT, DERIVED, FROM_END, LINKED, MEASURE, OPERATOR, READING, TRUE
from weft.kernel.holding cimport Holding
from weft.kernel.values cimport compared


cdef class Measuring(Holding):
    cdef int measure(self, int node, int row) except? -1 nogil
    cdef int rank(self, int node, int row) except? -1 nogil
    cdef int put_number(self, int node, int row, int number) except? -1 nogil
    cdef int number_of(self, int node, int row) except? -1 nogil
    cdef int linked(self, int node, int row) except? -1 nogil
    cdef Py_ssize_t follow_chain(self, int chain, int row) except? -1 nogil
