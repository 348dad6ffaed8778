from weft.kernel.tables cimport Numbers

cdef enum:
    TEXT_CODE = 0  # that of a name is 2 * its number + 1 for elements, + 2 for attributes


cdef class NamePaths:
    # one entry a path: the path above it, the code of its last name, the document that it was last found in
    cdef int[::1] parent
    cdef int[::1] code
    cdef long long[::1] stamp
    cdef long long stamped
    cdef Numbers children  # (path, code) -> path
    cdef int size
    # the paths that documents have, each once a document
    cdef int[::1] found
    cdef Py_ssize_t found_size, first_found
    cdef long long[::1] ends  # by document, where what it has ends
    cdef Py_ssize_t documents

    cdef bint has_room(self, Py_ssize_t number) noexcept nogil
    cpdef int widen(self, Py_ssize_t number) except? -1
    cdef int note(self, int above, int code) noexcept nogil
    cdef void end_document(self) noexcept nogil
    cdef void cut_document(self) noexcept nogil
