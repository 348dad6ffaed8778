from weft.kernel.name_paths cimport NamePaths
from weft.kernel.paths cimport PathTable


cdef class PathLabels:
    cdef PathTable table
    cdef int size  # how many paths of names there are
    cdef int[::1] label  # by path of names one more than its label path, 0: not asked for yet
    cdef int[::1] code  # by code of a name there its code here, 0: not known yet
    cdef Py_ssize_t codes  # how many of them there are

    cdef int find(self, NamePaths paths, int path) except? -2 nogil
