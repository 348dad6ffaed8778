from weft.kernel.codes cimport ABOVE, ATTRIBUTE, ELEMENT, STEP, STEP_END, UP
from weft.kernel.plan_lists cimport PlanLists
from weft.kernel.plan_tables cimport PlanTables
from weft.kernel.row_heap cimport RowHeap


cdef class NodeWays(RowHeap):
    cdef object source  # what Python knows: values, names, depths

    cdef int above(self, int edge, int row) except? -1 nogil
    cdef int far_above(self, int edge, int row, int owner) except? -1
    cdef unsigned long long depths_of(self, int edge, int row) except? 1 nogil
    cdef unsigned long long begins(self, int edge, int row) noexcept nogil
    cdef bint is_context(self, int state, int label) noexcept nogil
    cdef int below(self, int edge, int row) except? -1 nogil
    cdef int first_below(self, int edge, int row) except? -2 nogil
    cdef int reach(self, int step, int row) except? -1 nogil
    cdef int children(self, int parent, int like, int symbol) except? -1 nogil
    cdef int child_elements(self, int row, int symbol) except? -1 nogil
    cdef int span(self, int first, int end, int symbol) except? -1 nogil
    cdef int own_texts(self, int row, int symbol) except? -1 nogil
    cdef bint is_passed(self, int symbol, int row) noexcept nogil
