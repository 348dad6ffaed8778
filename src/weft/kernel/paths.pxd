from weft.kernel.automaton cimport StateTable
from weft.kernel.path_steps cimport PathSteps
from weft.kernel.tables cimport Numbers


cdef class PathTable(PathSteps):
    cdef int[::1] name
    cdef int size
    cdef Numbers children  # (label path, name) -> label path

    cdef int add(self, int parent, int name) except? -1 nogil
