from weft.kernel.codes cimport RUN_END, RUN_START
from weft.kernel.paths cimport PathTable
from weft.kernel.probe_tables cimport ProbeTables
from weft.kernel.tables cimport IntLists, Numbers


cdef class PlanLists:
    cdef PathTable paths
    cdef ProbeTables tables
    cdef signed char[::1] is_made
    cdef signed char[::1] has_tests  # whether values matter
    cdef signed char[::1] is_sorted  # which of its lists are in order
    cdef signed char[::1] means  # by what means they find tests, see `codes`
    cdef unsigned long long[::1] filters  # four words a label path: bits of the constants of its tests, modulo 256
    cdef IntLists nodes  # of the shared plan, brought up at every row
    cdef IntLists contexts  # states above deep edges
    cdef IntLists constants  # pairs of a code and what it brings up, as `ProbeTables` has them
    cdef IntLists runs
    cdef IntLists machines
    cdef Numbers begins  # (deep edge, label path) -> a place of `begin_bits`
    cdef unsigned long long[::1] begin_bits
    cdef int begun
    cdef long long most  # bytes to remember in `begins` and `begin_bits`

    cdef int make(self, int path) except? -1
    cdef int open(self, int path) except? -1
    cdef int add_constants(self, int path, int state) except? -1
    cdef bint may_pass(self, int path, int code) noexcept nogil
    cdef Py_ssize_t find_constant(self, int path, int code) noexcept nogil
    cdef bint is_above(self, int path, int state) noexcept nogil
    cdef long long remembered(self) noexcept nogil
    cdef int remember_begins(self, long long key, unsigned long long depths) except? -1 nogil
