from weft.kernel.paths cimport PathTable
from weft.kernel.probe_tables cimport ProbeTables
from weft.kernel.tables cimport IntLists, Numbers


cdef class PlanLists:
    cdef PathTable paths
    cdef ProbeTables tables
    cdef signed char[::1] is_made
    cdef signed char[::1] has_tests  # whether values matter
    cdef IntLists nodes  # of the shared plan, brought up at every row
    cdef IntLists contexts  # states above deep edges, in order
    cdef IntLists equals  # states with texts that values may equal, in order
    cdef IntLists runs
    cdef IntLists machines
    cdef Numbers found  # (label path, constant) -> a list of `passed`
    cdef IntLists passed  # tests
    cdef int lists

    cdef int make(self, int path) except? -1
    cdef int passing(self, int path, int code) except? -1
    cdef int intersect(self, int path, int code) except? -1
    cdef bint has_state(self, IntLists lists, int path, int state) noexcept
