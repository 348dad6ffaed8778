from weft.kernel.prefetching cimport prefetch
from weft.kernel.tables cimport IntLists

cdef enum:  # the columns of a class's record, half a line of the cache
    STAMP = 0  # the document that it was last in
    SIZE = 1  # how many results it has
    START = 2  # its list in `members`, and how long that is: some may have left
    LISTED = 3
    VERSION = 4  # of the subscribers when these were put down; -1: they were not
    TOLD = 5  # their list in `told`, how long that is, and how long it may become
    TOLD_SIZE = 6
    TOLD_ROOM = 7
    RECORD = 8
    UNTOLD = -1


cdef class ResultClasses:
    # A result is known by its *spot*: the number of the edge to its state, so that those of a name are neighbours
    cdef int[::1] result_at  # by spot, -1: none
    cdef int[::1] spot_of  # by result
    cdef int[::1] class_of  # by spot
    cdef int[::1] record  # of classes
    cdef int[::1] class_met  # results met at the label path that is being added
    cdef int[::1] class_new  # the class that those met go to
    cdef int[::1] members  # of all classes: results
    cdef Py_ssize_t members_used
    cdef int classes
    cdef IntLists classes_of_path
    cdef IntLists paths_of_class
    cdef int[::1] touched
    cdef int[::1] spots  # of the results that the label path being added has
    cdef Py_ssize_t met
    cdef Py_ssize_t most_met  # at any label path

    cdef int take_classes(self, ResultClasses known) except? -1
    cdef int refine(self, int path) except? -1 nogil
    cdef void fetch(self, int far, int near) noexcept nogil
    cdef int split(self, int path, int k) except? -1 nogil
    cdef int move(self) except? -1 nogil
    cdef int collect(self) except? -1
    cdef void tidy(self, int k) noexcept nogil
    cdef Py_ssize_t count_at(self, int path) noexcept nogil
    cdef Py_ssize_t put_at(self, int path, int[::1] results, Py_ssize_t put) noexcept nogil
    cdef long long class_memory(self) noexcept nogil
