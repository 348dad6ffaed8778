from weft.kernel.byte_words cimport copy_stretch

cdef enum:
    GREATER = 62
    SLASH = 47


cdef class Stretches:
    cdef list buffers  # of bytes
    cdef list insertions  # likewise
    cdef int[::1] buffer  # by number, as the others
    cdef long long[::1] start
    cdef long long[::1] end
    cdef int[::1] inserted  # 0 for nothing
    cdef long long[::1] place  # in the buffer

    cdef Py_ssize_t size(self, int number) noexcept
    cdef Py_ssize_t put(self, int number, unsigned char[::1] into, Py_ssize_t at) except? -1
