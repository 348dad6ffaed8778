cdef inline unsigned long long mixed(long long key) noexcept nogil:
    cdef unsigned long long low = (<unsigned long long>key & 0xFFFFFFFFULL) * 0x9E3779B1ULL
    cdef unsigned long long high = ((<unsigned long long>key >> 32) & 0xFFFFFFFFULL) * 0x85EBCA77ULL
    cdef unsigned long long both = (low ^ (high << 1) ^ (low >> 15) ^ (high >> 13)) & 0xFFFFFFFFULL
    return both ^ (both >> 11)


cdef class Numbers:
    cdef long long[::1] keys
    cdef int[::1] values
    cdef Py_ssize_t used
    cdef unsigned long long mask

    cdef int find(self, long long key) noexcept nogil
    cdef int put(self, long long key, int value) except? -1 nogil
    cdef int rebuild(self, Py_ssize_t size, int below) except? -1
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
    cdef object compacted(self)
    cdef long long memory(self) noexcept nogil
