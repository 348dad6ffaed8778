from weft.kernel.byte_kinds cimport AMPERSAND, BANG, CLOSING, COLON, GREATER, HYPHEN, LESS, NAME, NEVER, NEWLINE
from weft.kernel.byte_kinds cimport OPENING, QUESTION, RETURN, SPACE, START, TEXT
from weft.kernel.byte_words cimport eight_at, text_stops
from weft.kernel.characters cimport put_character, reference
from weft.kernel.scan_columns cimport TEXTS
from weft.kernel.scan_state cimport PATHS
from weft.kernel.tag_scanner cimport TagScanner


cdef class TextScanner(TagScanner):
    cdef Py_ssize_t read_text(self, unsigned char* s, Py_ssize_t p) noexcept nogil
    cdef Py_ssize_t read_section(self, unsigned char* s, Py_ssize_t p) noexcept nogil
    cdef void put(self, unsigned char* s, Py_ssize_t first, Py_ssize_t size) noexcept nogil
    cdef Py_ssize_t put_line_end(self, unsigned char* s, Py_ssize_t p) noexcept nogil
    cdef Py_ssize_t skip_aside(self, unsigned char* s, Py_ssize_t p) noexcept nogil
