cdef class PlanTables:
    cdef signed char[::1] kind
    cdef int[::1] state
    cdef int[::1] edge
    cdef int[::1] child  # what a LIFT or FIRST leads to, what drives an AND, what a RANK counts; -1: any
    cdef int[::1] result
    cdef long long[::1] dependent_start
    cdef int[::1] dependents
    cdef long long[::1] check_start  # of an AND the parts beside its driver; of an OR all parts
    cdef int[::1] checks
    cdef signed char[::1] is_negated  # of a check: it must not hold
    cdef int[::1] parent  # of a DOWN
    cdef int[::1] test  # of a DOWN, -1: none
    cdef signed char[::1] by_test  # of a DOWN: the test drives it, not the parent
    cdef signed char[::1] operator  # of a TEST, a RANK or a LINKED
    cdef signed char[::1] reading  # of a TEST
    cdef int[::1] code  # of a TEST on text: the constant's rank
    cdef double[::1] number  # of a TEST on a number, a RANK, a LINKED
    cdef signed char[::1] is_last  # of a RANK: it is compared with the number of siblings
    cdef signed char[::1] is_count  # of a LINKED: else the first node is tested
    cdef long long[::1] chain_start  # of a LINKED
    cdef int[::1] chain_edges
    cdef int[::1] chain_nodes
    cdef int[::1] symbol  # of a state: the label test of its last step
    cdef int[::1] edge_up
    cdef int[::1] edge_above
    cdef long long[::1] step_start
    cdef int[::1] steps
