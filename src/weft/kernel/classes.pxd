from weft.kernel.tables cimport IntLists


cdef class ResultClasses:
    cdef int[::1] result_of_state
    cdef IntLists reached
    cdef int[::1] class_of
    cdef int[::1] class_size
    cdef int[::1] class_met  # results met at the label path that is being added
    cdef int[::1] class_new  # the class that those met go to
    cdef IntLists members
    cdef int classes
    cdef IntLists classes_of_path
    cdef IntLists paths_of_class
    cdef IntLists touched
    cdef int stamp
    cdef int[::1] path_stamp
    cdef int[::1] hits  # the states that the label path being added reaches
    cdef Py_ssize_t hit
    cdef int[::1] class_stamp
    # a batch whose results are collected
    cdef int[::1] label
    cdef int[:, ::1] ranges
    cdef int[::1] documents_found
    cdef int[::1] results_found
    cdef int[::1] wanted
    cdef bint is_translated
    cdef int[::1] output
    cdef Py_ssize_t put

    cdef int refine(self, int path) except? -1
    cdef int split(self, int path, int k) except? -1
    cdef int move(self) except? -1
    cdef int collect(self) except? -1
    cdef void tidy(self, int k) noexcept nogil
    cdef int collect_rows(self, int first, int end) except? -1 nogil
    cdef int reserve_output(self, Py_ssize_t number) except? -1 nogil
    cdef void put_result(self, int result) noexcept nogil
