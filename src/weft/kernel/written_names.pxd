from weft.kernel.byte_kinds cimport word


cdef class WrittenNames:
    cdef unsigned long long seed
    cdef unsigned long long factor
    cdef unsigned long long[::1] masks  # of so many bytes of a word
    cdef int[::1] slots  # of the table: which name, -1 if none
    cdef unsigned long long[::1] head  # one entry a name: its first eight bytes
    cdef unsigned long long[::1] tail  # and the eight behind them
    cdef int[::1] size
    cdef long long[::1] scope
    cdef long long[::1] at  # in `written`
    cdef int[::1] first  # number of the expanded name; of a declaration: the namespaces that are declared with it
    cdef int[::1] second  # number of the tag; of a declaration: its own
    cdef unsigned char[::1] written  # the bytes of all names
    cdef Py_ssize_t used
    cdef Py_ssize_t written_used
    cdef unsigned long long free  # slot
    cdef Py_ssize_t limit  # the bytes of the document that names are looked for in

    cdef unsigned long long last_word(self, unsigned char* s, Py_ssize_t p, Py_ssize_t size) noexcept nogil
    cdef unsigned long long mixed(self, unsigned long long hashed, unsigned long long eight) noexcept nogil
    cdef unsigned long long mixed_tail(
        self, unsigned long long hashed, unsigned char* s, Py_ssize_t p, Py_ssize_t size
    ) noexcept nogil
    cdef Py_ssize_t find(self, unsigned char* s, Py_ssize_t p, Py_ssize_t size, long long scope) noexcept nogil
    cdef bint is_written(self, Py_ssize_t entry, unsigned char* s, Py_ssize_t p, Py_ssize_t size) noexcept nogil
    cdef int rebuild(self) except? -1
