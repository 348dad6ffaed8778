from weft.kernel.codes cimport AIM, AND, BELOW, BY_TEST, CHECK, CHECK_END, CHILD, DOWN, DRIVEN, EDGE, EXISTS, FIRST
from weft.kernel.codes cimport COMPARED, FORM, IS_NOTED, IS_RESULT, KIDS, KIND, LIFT, LINKED, MEASURE, NOTED, OR
from weft.kernel.codes cimport PARENT, RISE, STEP, STEP_END, UP, WAY, WHOLE


cdef class PlanTables:
    # by node its record where it is asked for, in two views of the same bytes; see `codes`
    cdef unsigned long long[:, ::1] masks
    cdef int[:, ::1] nodes
    # by node its record where it comes up, in three views
    cdef unsigned long long[:, ::1] drive_masks
    cdef int[:, ::1] drives
    cdef signed char[:, ::1] forms
    cdef int[:, ::1] edges  # by edge its record
    cdef int[::1] result  # by node
    cdef signed char[::1] by_test  # by node, of a DOWN: its test drives it
    cdef signed char[::1] is_in  # by node, of a LIFT or EXISTS: it comes up by itself, and is noted where it holds
    cdef bint has_in  # whether any is
    cdef signed char[::1] is_lifted  # by node, of an EXISTS: it comes up where its edge ends, as a LIFT does
    cdef long long[::1] dependent_start
    cdef int[::1] dependents  # the last one of a node's is ~ its number
    cdef int[::1] checks  # of an AND the parts beside its driver; of an OR all parts
    cdef signed char[::1] is_negated  # of a check: it must not hold
    cdef double[::1] number  # by node, of a TEST on a number, a COMPARED
    cdef int[::1] chain_start  # by chain of a LINKED, or a count
    cdef int[::1] chain_edges
    cdef int[::1] chain_nodes
    cdef int[::1] steps
    cdef int results  # how many there are

    cdef void need_all(self, int begin, int end) noexcept
    cdef void drive_all(self, int begin, int end) noexcept
    cdef void end_all(self, int begin, int end) noexcept
    cdef void need(self, int node) noexcept
    cdef void need_part(self, int node, int part) noexcept
    cdef void need_common(self, int node) noexcept
    cdef void need_edge(self, unsigned long long[:, ::1] masks, int node) noexcept
    cdef void need_step(self, unsigned long long[:, ::1] masks, int node, int words, int step) noexcept
    cdef void drive(self, int node) noexcept
    cdef void aim(self, int node, long long first, long long end) noexcept
