from weft.kernel.name_paths cimport NamePaths
from weft.kernel.paths cimport PathTable


cdef class PathLabels:
    cdef PathTable table
    cdef NamePaths paths
    cdef int[::1] label  # by path of names, -1: not asked for yet
    cdef int[::1] code  # by code of a name there its code here, -1: not known yet

    cdef int find(self, int path) except? -2 nogil
