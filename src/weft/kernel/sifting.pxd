from weft.kernel.codes cimport AIM, AND, DOWN, DRIVEN, FIRST, FORM, IS_NOTED, IS_RESULT, LIFT, RISE, RISEN
from weft.kernel.codes cimport TRUE, WHOLE
from weft.kernel.plan_lists cimport PlanLists
from weft.kernel.plan_tables cimport PlanTables
from weft.kernel.prefetching cimport prefetch
from weft.kernel.probing cimport Probing


cdef class Sifting(Probing):
    # pairs of a node of the plan and one of the document, one after the other
    cdef int[::1] stack  # facts of a round that drive something
    cdef Py_ssize_t stacked
    cdef int[::1] driven  # candidates of the next round
    cdef Py_ssize_t drive_size
    cdef int[::1] waiting  # those that are left of them
    cdef Py_ssize_t waiting_size
    cdef int[::1] found  # each a result instead of a node
    cdef Py_ssize_t found_size
    cdef Py_ssize_t found_before  # in the documents before this one
    cdef int document
    cdef bint whether  # a document has a result or not: at which nodes is not asked
    cdef unsigned long long[::1] is_found  # bits of the results that the document is known to have

    cdef void open_document(self, int document) noexcept nogil
    cdef Py_ssize_t part_risen(self, Py_ssize_t first, Py_ssize_t end) noexcept nogil
    cdef int note(self, int[::1] nodes, int[::1] rows, long long first, long long end) except? -1 nogil
    cdef void clear_found(self, Py_ssize_t first) noexcept nogil
    cdef bint is_known(self, int node) noexcept nogil
    cdef int sift(self, int[::1] pairs, Py_ssize_t first, Py_ssize_t end) except? -1 nogil
    cdef int fact(self, int node, int row) except? -1 nogil
    cdef int find_result(self, int result, int row) except? -1 nogil
    cdef int spread(self) except? -1 nogil
