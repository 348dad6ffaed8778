from weft.kernel.byte_kinds cimport AMPERSAND, APOSTROPHE, BLANK, COLON, EQUALS, GREATER, NAME, NEWLINE
from weft.kernel.byte_kinds cimport QUOTE, RETURN, SLASH, SPACE, START, VALUE, word
from weft.kernel.characters cimport put_character, reference
from weft.kernel.scan_columns cimport ATTRIBUTES, DECLARATIONS, ELEMENTS, LEVELS
from weft.kernel.scan_state cimport OF_ATTRIBUTE, OF_DECLARATION, OF_ELEMENT, PARTS, PATHS, SCOPES, ScanState

cdef enum:
    MOST_DECLARED = 64  # by one tag: they are compared with each other


cdef class TagScanner(ScanState):
    cdef Py_ssize_t read_start(self, unsigned char* s, Py_ssize_t tag) noexcept nogil
    cdef inline int lacking(self) noexcept nogil
    cdef Py_ssize_t read_end(self, unsigned char* s, Py_ssize_t tag) noexcept nogil
    cdef Py_ssize_t read_attributes(self, unsigned char* s, Py_ssize_t tag, Py_ssize_t p) noexcept nogil
    cdef Py_ssize_t read_value(self, unsigned char* s, Py_ssize_t p) noexcept nogil
    cdef Py_ssize_t declare(self, unsigned char* s, Py_ssize_t tag) noexcept nogil
    cdef Py_ssize_t name_attributes(self, unsigned char* s, Py_ssize_t tag) noexcept nogil
