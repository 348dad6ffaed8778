from weft.kernel.automaton cimport StateTable
from weft.kernel.tables cimport IntLists, Numbers
from weft.kernel.told_classes cimport ToldClasses


cdef class PathTable(ToldClasses):
    cdef StateTable automaton
    cdef int[::1] parent
    cdef int[::1] name
    cdef int size
    cdef Numbers children  # (label path, name) -> label path
    cdef IntLists symbols  # by name
    cdef signed char[::1] is_element  # by name: `*` leads there
    cdef IntLists active
    cdef signed char[::1] has_active
    cdef IntLists reached  # by label path its states that are remembered
    cdef unsigned char[::1] edge_flags  # whether the state is remembered, and whether a result is there
    cdef unsigned char[::1] star_flags  # likewise by state, of the edge by `*`
    cdef unsigned long long[::1] marks  # bits of states, all clear between calls

    cpdef int add(self, int parent, int name) except? -1
    cdef int take(self, int path, int parent, int name) except? -1
    cdef int activate(self, int path) except? -1
    cdef void mark(self, int path) noexcept
    cdef void unmark(self, int path) noexcept
    cdef bint is_passed(self, int symbol, int name) noexcept
