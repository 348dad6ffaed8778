from weft.kernel.plan_lists cimport PlanLists
from weft.kernel.plan_tables cimport PlanTables
from weft.kernel.probing cimport Probing


cdef class Evaluator(Probing):
    cdef int[::1] stack
    cdef Py_ssize_t stacked
    cdef int[::1] found
    cdef Py_ssize_t found_size

    cdef int fact(self, int node, int row) except? -1
    cdef int spread(self, int node, int row) except? -1
    cdef int consider(self, int node, int row) except? -1
    cdef int lift(self, int node, int row, bint is_first) except? -1
    cdef int descend(self, int node, int row) except? -1
