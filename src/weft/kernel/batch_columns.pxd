from weft.kernel.codes cimport BELOW, KIDS
from weft.kernel.memo cimport Memo
from weft.kernel.plan_lists cimport PlanLists
from weft.kernel.plan_tables cimport PlanTables


cdef class BatchColumns(Memo):
    cdef PlanTables plan
    cdef PlanLists lists
    cdef int elements
    cdef int first_text
    cdef int nodes
    cdef int[:, ::1] ranges  # of elements, attributes and texts: by document where its nodes begin, and the end
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

    cdef void gather_names(self) noexcept nogil
    cdef void find_attributes(self) noexcept nogil
    cdef void find_texts(self) noexcept nogil
    cdef bint lacks(self, int node, int row) noexcept nogil
    cdef bint leads_nowhere(self, int node, int row) noexcept nogil
