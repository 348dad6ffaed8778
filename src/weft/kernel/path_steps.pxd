from weft.kernel.automaton cimport StateTable
from weft.kernel.tables cimport IntLists
from weft.kernel.told_classes cimport ToldClasses


cdef class PathSteps(ToldClasses):
    cdef StateTable automaton
    cdef int[::1] parent  # by label path the one above it
    cdef IntLists symbols  # by name
    cdef signed char[::1] is_element  # by name: `*` leads there
    cdef IntLists active  # by label path the states that lead on below it
    cdef signed char[::1] has_active
    cdef IntLists reached  # by label path its states that are remembered
    cdef unsigned char[::1] edge_flags  # whether the state is remembered, and whether a result is there
    cdef int[:, ::1] stars  # by state where `*` leads, and the same of that
    cdef unsigned long long[::1] marks  # bits of states, all clear between calls
    cdef int[::1] hit  # edges that lead to the label path that is being added, then states from which `*` does
    cdef Py_ssize_t hits

    cdef int take_steps(self, PathSteps known, Py_ssize_t paths) except? -1
    cdef int take(self, int path, int parent, int name) except? -1 nogil
    cdef int hit_edges(self, int parent, int name) except? -1 nogil
    cdef int hit_stars(self, int parent) except? -1 nogil
    cdef int activate(self, int path) except? -1 nogil
    cdef void mark(self, int path) noexcept nogil
    cdef void unmark(self, int path) noexcept nogil
    cdef bint is_passed(self, int symbol, int name) noexcept
