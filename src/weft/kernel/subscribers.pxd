from weft.kernel.tables cimport IntLists

cdef enum:
    NOBODY = -1


cdef class Subscribers:
    cdef int[::1] first  # by result
    cdef IntLists others  # by result
    cdef int size
    cdef public int latest  # the subscription that was added last
    cdef Py_ssize_t shared  # results that more than one want
    cdef readonly int version  # another one after each change
    cdef public bint is_wanted_twice  # some subscription has wanted more than one result

    cdef Py_ssize_t number_of_others(self, int result) noexcept nogil
    cdef Py_ssize_t number_of(self, int result) noexcept nogil
    cdef Py_ssize_t put(self, int result, int[::1] output, Py_ssize_t at) noexcept nogil
