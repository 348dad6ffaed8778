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

    cdef int refine(self, int path) except? -1
    cdef int split(self, int path, int k) except? -1
    cdef int move(self) except? -1
    cdef int collect(self) except? -1
    cdef void tidy(self, int k) noexcept
