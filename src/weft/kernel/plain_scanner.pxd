from weft.kernel.byte_kinds cimport APOSTROPHE, BANG, BLANK, EQUALS, GREATER, LESS, NEWLINE, OPENING, QUOTE, SLASH, TAB
from weft.kernel.byte_kinds cimport word
from weft.kernel.byte_words cimport copy_sixteen, copy_sixty_four, eight_at, long_text_run_at, name_run_at
from weft.kernel.byte_words cimport text_run_at, value_run_at
from weft.kernel.name_paths cimport TEXT_CODE
from weft.kernel.scan_state cimport OF_ATTRIBUTE, OF_ELEMENT, SCOPES
from weft.kernel.text_scanner cimport TextScanner


cdef class PlainScanner(TextScanner):
    # by a hash of a written name, of its scope and of the path above it: the name, and the path below
    cdef int[::1] guessed_name, guessed_path
    cdef unsigned long long guess  # slot of the name that was read last
    cdef Py_ssize_t name_size  # its bytes

    cdef Py_ssize_t read_plain(self, unsigned char* s, Py_ssize_t p) noexcept nogil
