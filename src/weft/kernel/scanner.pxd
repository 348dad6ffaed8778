from weft.kernel.byte_kinds cimport BANG, LESS, NUL, OPENING, QUESTION, SLASH, SPACE
from weft.kernel.scan_state cimport DONE, DOUBT, FULL, NEW, PARTS, PATHS
from weft.kernel.plain_scanner cimport PlainScanner


cdef class Scanner(PlainScanner):
    # one entry a document: its bytes, where they are, where its content begins (-1: it is in doubt), how many there are
    cdef list sources
    cdef unsigned long long[::1] address
    cdef long long[::1] content, size
    cdef unsigned char[::1] copied  # documents of a column, one behind the other, a NUL behind each
    cdef Py_ssize_t current, last_current
    cdef bint is_begun

    cdef begin_batch(self, Py_ssize_t number)
    cdef end_batch(self)
    cdef copy(self, Py_ssize_t at, const unsigned char[::1] data, Py_ssize_t begin, Py_ssize_t size, Py_ssize_t filled)
    cdef bytes new_bytes(self)
    cpdef replace(self, Py_ssize_t at, bytes source)
    cdef int run(self) noexcept nogil
    cdef int read_document(self, unsigned char* s, Py_ssize_t end) noexcept nogil
