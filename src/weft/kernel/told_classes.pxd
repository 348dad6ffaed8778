from weft.kernel.classes cimport LISTED, RECORD, SIZE, STAMP, START, TOLD, TOLD_ROOM, TOLD_SIZE, UNTOLD, VERSION
from weft.kernel.classes cimport ResultClasses
from weft.kernel.prefetching cimport prefetch
from weft.kernel.subscribers cimport Subscribers


cdef class ToldClasses(ResultClasses):
    cdef int[::1] told  # of all classes: the subscribers of their results
    cdef Py_ssize_t told_used, told_live  # with and without what was left behind
    cdef int stamp  # of the document
    cdef int[::1] path_stamp  # by label path the document that it was last in
    # a batch whose results are collected
    cdef int[::1] label
    cdef int[:, ::1] ranges
    cdef int[::1] documents_found
    cdef int[::1] results_found
    cdef Subscribers subscribers  # who is told instead of results, if there are any
    cdef int[::1] noted  # classes of a label path that the document had not
    cdef Py_ssize_t number_noted
    cdef int[::1] output
    cdef Py_ssize_t put
    cdef Py_ssize_t usual  # entries that a batch begins with room for

    cdef int begin_telling(self) except? -1
    cdef int take_told(self, ToldClasses known) except? -1
    cdef int follow(self, Subscribers subscribers) except? -1
    cdef int untell(self) except? -1
    cdef int collect_rows(self, int first, int end, bint is_told) except? -1 nogil
    cdef int begin_output(self) except? -1
    cdef object end_output(self)
    cdef int find_classes(self, int path) except? -1 nogil
    cdef int put_told(self) except? -1 nogil
    cdef int put_members(self) except? -1 nogil
    cdef int add_found(self, Py_ssize_t first, Py_ssize_t end, bint is_told) except? -1 nogil
    cdef int reserve_output(self, Py_ssize_t number) except? -1 nogil
    cdef int tell(self, int k) except? -1 nogil
    cdef void copy(self, int[::1] column, Py_ssize_t first, Py_ssize_t number) noexcept nogil
