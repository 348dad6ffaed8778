from weft.kernel.codes cimport ABOVE, ATTRIBUTE, BELOW, ELEMENT, KIDS, STEP, STEP_END, UP, WHOLE
from weft.kernel.memo cimport Memo
from weft.kernel.plan_lists cimport PlanLists
from weft.kernel.plan_tables cimport PlanTables


cdef class NodeWays(Memo):
    cdef PlanTables plan
    cdef PlanLists lists
    cdef object source  # what Python knows: values, names, depths
    cdef int elements
    cdef int first_text
    cdef int nodes
    cdef int[::1] documents  # by document its first element, and one behind the last
    cdef int[::1] parents
    cdef int[::1] last
    cdef int[::1] depth
    cdef int[::1] names  # a code for every node
    cdef int[::1] labels
    cdef int[::1] attribute_start  # the node of an element's first attribute
    cdef int[::1] text_first  # of all texts below an element
    cdef int[::1] text_last
    cdef int[::1] text_start  # of those right below
    cdef int[::1] text_nodes
    cdef int[::1] symbol_start  # by code of a name, the label tests that it passes
    cdef int[::1] symbols
    cdef unsigned long long[:, ::1] name_masks  # by code of a name, the same as bits, modulo 128
    cdef unsigned long long[:, ::1] below_names  # by element, the bits of all names below it
    cdef unsigned long long[:, ::1] kid_names  # and of those right below it
    cdef unsigned long long whole_low  # of all names in the document
    cdef unsigned long long whole_high
    cdef int[::1] heap
    cdef Py_ssize_t heap_size
    cdef long long left  # steps that may still be taken

    cdef void gather_names(self) noexcept nogil
    cdef bint lacks(self, int node, int row) noexcept nogil
    cdef bint is_in_vain(self, int node) noexcept nogil
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
    cdef int step(self, long long number) except? -1 nogil
    cdef int push(self, int row) except? -1 nogil
    cdef int sort(self, Py_ssize_t base) except? -1 nogil
    cdef void sort_few(self, Py_ssize_t base) noexcept nogil
