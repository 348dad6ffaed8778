from weft.kernel.plan_lists cimport PlanLists
from weft.kernel.plan_tables cimport PlanTables
from weft.kernel.values cimport NodeValues


cdef class Counting(NodeValues):
    cdef bint is_counting
    cdef int[::1] group  # by node that of a part, 0 for all others
    cdef int[::1] came  # by node how often it was a candidate
    cdef long long[:, ::1] counts  # by group, see `codes`
