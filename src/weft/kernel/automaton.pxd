from weft.kernel.tables cimport Numbers


cdef class StateTable:
    cdef unsigned long long[::1] has_star  # bits of states
    cdef unsigned long long[::1] is_loop
    cdef unsigned long long[::1] is_inner  # states that something leads from
    cdef int[::1] star  # the state behind `*`, -1: none
    cdef int[::1] loop  # the state that stays active below, -1: none; a loop's loop is itself
    cdef Numbers edges  # (state, symbol) -> edge
    cdef Py_ssize_t indexed  # how many of them are in it
    cdef int[::1] symbol_start
    cdef int[::1] sources  # of edges, by symbol: the states that they lead from
    cdef int[::1] targets
