from weft.kernel.tables cimport Numbers

cdef enum:
    TEXT_CODE = 0  # that of a name is 2 * its number + 1 for elements, + 2 for attributes
    SEVERAL = -2  # instead of an offset: the document has several nodes with this path


cdef class NamePaths:
    cdef object __weakref__  # what is known of them goes with them
    # some of the columns below as numpy's arrays, which are copied and given away much faster than views of them
    cdef object path_arrays, found_array, offset_array, begin_array
    # one entry a path: the path above it, the code of its last name, `begun` and where in `found` it was found last
    cdef int[::1] parent
    cdef int[::1] code
    cdef long long[::1] stamp
    cdef long long begun, stamped  # the stamps of the batch, and of the document, begin here
    cdef Numbers children  # (path, code) -> path
    cdef int size
    # the paths that documents have, each once a document, and if it is asked for the offset of the one node of each
    cdef int[::1] found
    cdef long long[::1] offset
    cdef bint keeps_offsets
    cdef Py_ssize_t found_size, first_found, placed  # those before `placed` have their offset
    # one entry a document: where what it has begins, whether elements below its root declare namespaces
    cdef int[::1] begins
    cdef int[::1] declares
    cdef Py_ssize_t documents

    cdef int hold_arrays(self) except? -1
    cdef bint has_room(self, Py_ssize_t number) noexcept nogil
    cpdef int widen(self, Py_ssize_t number) except? -1
    cdef int note(self, int above, int code) noexcept nogil
    cdef void place(self, int path, long long offset) noexcept nogil
    cdef void declare(self) noexcept nogil
    cdef void end_document(self) noexcept nogil
    cdef void cut_document(self) noexcept nogil
