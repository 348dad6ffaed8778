from weft.kernel.scan_columns cimport ScanColumns
from weft.kernel.written_names cimport WrittenNames

cdef enum:  # what the scan comes to
    DONE = 0
    DOUBT = 1
    NEW = 2
    FULL = 3

cdef enum:  # what is written, and how many kinds of it there are
    OF_ELEMENT = 0
    OF_ATTRIBUTE = 1
    OF_DECLARATION = 2
    SCOPES = 3

cdef enum:
    PARTS = 5  # there is no more room for: attributes and declarations of one tag
    PATHS = 6  # paths of names


cdef class ScanState(ScanColumns):
    cdef object resolver
    cdef WrittenNames names
    cdef Py_ssize_t most_depth, most_attributes
    cdef long long most_nodes
    # the document: where the scan goes on, whether its root has ended
    cdef Py_ssize_t p
    cdef bint is_over
    # why the scan stopped: what there is no room for, or what is new
    cdef int status, full
    cdef Py_ssize_t new_at, new_size
    cdef long long new_scope
    # one tag: its attributes, its declarations, the namespaces inside of it, the bytes of attribute values so far
    cdef long long[::1] written_size, declared_at, declared_size  # and `written_at`
    cdef Py_ssize_t tag_attributes, tag_declarations, filled
    cdef int inner
    # by the number of a name the tag that had such an attribute last
    cdef long long[::1] seen
    cdef long long tags_seen

    cdef int add_new(self, bytes written) except? -1
    cdef int widen_tag(self) except? -1
    cdef Py_ssize_t doubt(self) noexcept nogil
    cdef Py_ssize_t stop_for_room(self, Py_ssize_t p, int full) noexcept nogil
    cdef Py_ssize_t stop_for_name(self, Py_ssize_t p, Py_ssize_t at, Py_ssize_t size, long long scope) noexcept nogil
