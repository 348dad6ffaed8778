from weft.kernel.codes cimport BY_END, BY_EQUAL, BY_INSIDE, BY_START, CONTAINS, ENDS, STARTS, TEXT
from weft.kernel.measuring cimport Measuring
from weft.kernel.plan_lists cimport PlanLists
from weft.kernel.plan_tables cimport PlanTables


cdef class TextProbing(Measuring):
    cdef int[::1] risen  # nodes of the shared plan that come up, each before its row
    cdef Py_ssize_t risen_size
    cdef long long[::1] part_stamp  # by constant the value that it was last found in
    cdef long long stamp_of_part
    cdef Py_ssize_t searched_begin  # of the texts, the stretch whose constants the places are, in order; else it is empty
    cdef Py_ssize_t searched_end
    cdef long long[::1] place_begin
    cdef long long[::1] place_end
    cdef int[::1] place_code
    cdef Py_ssize_t places
    cdef Py_ssize_t most_places

    cdef int reserve_risen(self, Py_ssize_t number) except? -1 nogil
    cdef void put_risen(self, int node, int row) noexcept nogil
    cdef int probe_texts(self, int label, int row, int means) except? -1 nogil
    cdef int pass_constant(self, int label, int row, int code) except? -1 nogil
    cdef int probe_parts(self, int label, int row, int means, const unsigned char[::1] text, Py_ssize_t begin, Py_ssize_t end) except? -1 nogil
    cdef int probe_affixes(self, int label, int row, int operator, const unsigned char[::1] text, Py_ssize_t start, Py_ssize_t size) except? -1 nogil
    cdef bint leads_on(self, int tree, int pair) noexcept nogil
    cdef int follow(self, int tree, const unsigned char[::1] text, Py_ssize_t start, Py_ssize_t room) except? -1 nogil
    cdef int probe_inside(self, int label, int row, const unsigned char[::1] text, Py_ssize_t begin, Py_ssize_t end) except? -1 nogil
    cdef int search(self, const unsigned char[::1] text, Py_ssize_t begin, Py_ssize_t end) except? -1 nogil
    cdef int put_place(self, Py_ssize_t begin, Py_ssize_t end, int code) except? -1 nogil
