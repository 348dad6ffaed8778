from weft.kernel.automaton cimport StateTable
from weft.kernel.classes cimport ResultClasses
from weft.kernel.tables cimport IntLists, Numbers


cdef class PathTable(ResultClasses):
    cdef StateTable automaton
    cdef int[::1] parent
    cdef int[::1] name
    cdef int size
    cdef Numbers children  # (label path, name) -> label path
    cdef IntLists symbols  # by name
    cdef signed char[::1] is_element  # by name: `*` leads there
    cdef IntLists active
    cdef signed char[::1] has_active
    cdef unsigned long long[::1] is_kept  # bits of the states that are remembered in `reached`
    cdef unsigned long long[::1] marks  # bits of states, all clear between calls

    cpdef int add(self, int parent, int name) except? -1
    cdef int take(self, int path, int parent, int name) except? -1
    cdef int keep(self, int path) except? -1
    cdef int activate(self, int path) except? -1
    cdef void mark(self, int path) noexcept
    cdef void unmark(self, int path) noexcept
    cdef bint is_passed(self, int symbol, int name) noexcept
