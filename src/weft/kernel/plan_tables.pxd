from weft.kernel.codes cimport AIM, AND, BELOW, CHECK, CHECK_END, CHILD, DEPENDENT, DEPENDENT_END, DOWN, EDGE, EXISTS
from weft.kernel.codes cimport FIRST, KIDS, KIND, LIFT, MASK_WORDS, OR, OWN_TEST, PARENT, RANK, RESULT, STEP
from weft.kernel.codes cimport STEP_END, WHOLE


cdef class PlanTables:
    cdef int[:, ::1] nodes  # by node its record, see `codes`
    cdef unsigned long long[:, ::1] masks  # by node the names that it needs, see `codes`
    cdef int[:, ::1] edges  # by edge its record
    cdef int[::1] dependents
    cdef int[::1] checks  # of an AND the parts beside its driver; of an OR all parts
    cdef signed char[::1] is_negated  # of a check: it must not hold
    cdef double[::1] number  # by node, of a TEST on a number, a RANK, a LINKED
    cdef int[::1] symbol  # by node, of a RANK: the label test of its state's last step
    cdef signed char[::1] is_last  # by node, of a RANK: it is compared with the number of siblings
    cdef signed char[::1] is_count  # by node, of a LINKED: else the first node is tested
    cdef long long[::1] chain_start  # by node, of a LINKED
    cdef int[::1] chain_edges
    cdef int[::1] chain_nodes
    cdef int[::1] steps
    cdef int results  # how many there are

    cdef void need(self, int node) noexcept
    cdef void need_part(self, int node, int part) noexcept
    cdef void need_common(self, int node) noexcept
    cdef void need_edge(self, int node) noexcept
    cdef void need_step(self, int node, int words, int step) noexcept
    cdef void aim(self, int node) noexcept
