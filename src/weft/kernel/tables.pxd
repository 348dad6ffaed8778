cdef inline unsigned long long slot_of(long long key, unsigned long long factor, int shift) noexcept nogil:
    return (<unsigned long long>key * factor) >> shift



cdef class Numbers:
    cdef long long[::1] keys
    cdef int[::1] values
    cdef Py_ssize_t used
    cdef unsigned long long mask
    cdef unsigned long long factor  # odd, by chance
    cdef int shift  # 64 less the bits of a slot's number

    cdef int clear(self, Py_ssize_t size) except? -1
    cdef int find(self, long long key) noexcept nogil
    cdef int put(self, long long key, int value) except? -1 nogil
    cdef int rebuild(self, Py_ssize_t size, int below) except? -1
    cdef object copied(self)
    cdef long long memory(self) noexcept nogil


cdef class IntLists:
    cdef int[::1] pool
    cdef int[::1] start
    cdef int[::1] size
    cdef int[::1] room
    cdef Py_ssize_t used  # entries of the pool
    cdef Py_ssize_t lists  # how many have had room

    cdef Py_ssize_t reserve(self, Py_ssize_t which, Py_ssize_t size) except? -1 nogil
    cdef int add(self, Py_ssize_t which, int entry) except? -1 nogil
    cdef void give_back(self, Py_ssize_t which, Py_ssize_t end) noexcept nogil
    cdef void sort(self, Py_ssize_t which, Py_ssize_t width) noexcept nogil
    cdef int cut(self, Py_ssize_t mark) except? -1
    cdef object copied(self)
    cdef object compacted(self)
    cdef long long memory(self) noexcept nogil
