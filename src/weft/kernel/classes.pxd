from weft.kernel.tables cimport IntLists


cdef class ResultClasses:
    cdef int[::1] result_of_state
    cdef IntLists reached
    cdef int[::1] members
    cdef int[::1] position
    cdef int[::1] class_of
    cdef int[::1] class_start
    cdef int[::1] class_size
    cdef int[::1] class_met
    cdef int classes
    cdef IntLists classes_of_path
    cdef IntLists paths_of_class
    cdef IntLists touched
    cdef int stamp
    cdef int[::1] path_stamp
    cdef int[::1] class_stamp

    cdef int refine(self, int path) except? -1
    cdef int split(self, int path, int k) except? -1
