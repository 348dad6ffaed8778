from weft.kernel.name_paths cimport NamePaths
from weft.kernel.paths cimport PathTable


cdef class PathLabels:
    cdef PathTable table
    cdef NamePaths paths
    cdef int[::1] label  # by path of names one more than its label path, 0: not asked for yet
    cdef int[::1] code  # by code of a name there its code here, 0: not known yet
    cdef Py_ssize_t codes  # how many of them there are

    cdef int find(self, int path) except? -2 nogil
