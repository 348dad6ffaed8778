from weft.kernel.codes cimport AIM, AND, BY_TEST, CHILD, DOWN, DRIVEN, FALSE, FIRST, FORM, IS_RESULT, LIFT, NAMED, OR
from weft.kernel.codes cimport RISE, RISEN, STEP, TEST, TRUE, WAY
from weft.kernel.plan_lists cimport PlanLists
from weft.kernel.plan_tables cimport PlanTables
from weft.kernel.probing cimport Probing


cdef class Evaluator(Probing):
    cdef int[::1] stack
    cdef Py_ssize_t stacked
    cdef int[::1] found
    cdef Py_ssize_t found_size
    cdef int document
    cdef bint whether  # a document has a result or not: at which nodes is not asked
    cdef long long[::1] result_stamp  # by result, the stamp of the document that was last found to have it

    cdef void open_document(self, int document) noexcept nogil
    cdef int note(self, int[::1] nodes, int[::1] rows, long long first, long long end) except? -1 nogil
    cdef int settle(self, int node, int row) except? -1 nogil
    cdef bint is_known(self, int node) noexcept nogil
    cdef int fact(self, int node, int row) except? -1 nogil
    cdef int find_result(self, int result, int row) except? -1 nogil
    cdef int spread(self, int node, int row) except? -1 nogil
    cdef int consider(self, int node, int row) except? -1 nogil
    cdef int join(self, int node, int row) except? -1 nogil
    cdef int lift_to(self, int node, int row, bint is_first) except? -1 nogil
    cdef int lift(self, int node, int row, bint is_first) except? -1 nogil
    cdef int descend(self, int node, int row) except? -1 nogil
