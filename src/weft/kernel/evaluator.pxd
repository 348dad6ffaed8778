from weft.kernel.sifting cimport Sifting
from weft.kernel.codes cimport AND, BY_TEST, CHILD, DOWN, DRIVEN, FALSE, FIRST, FORM, LIFT, MEASURE, NAMED, OR, PLACE
from weft.kernel.codes cimport RISE, STEP, TEST, TRUE, WAY


cdef class Evaluator(Sifting):
    cdef int settle(self) except? -1 nogil
    cdef int consider(self, int node, int row) except? -1 nogil
    cdef int join(self, int node, int row) except? -1 nogil
    cdef int tell(self, int node, int row) except? -1 nogil
    cdef int lift_to(self, int node, int row, bint is_first) except? -1 nogil
    cdef int lift(self, int node, int row, bint is_first) except? -1 nogil
    cdef int descend(self, int node, int row) except? -1 nogil
