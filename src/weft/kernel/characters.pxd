from weft.kernel.byte_kinds cimport AMPERSAND, APOSTROPHE, GREATER, HASH, LESS, QUOTE, SEMICOLON


cdef long long reference(unsigned char* s, Py_ssize_t p) noexcept nogil
cdef Py_ssize_t put_character(unsigned char[::1] into, Py_ssize_t at, long long code) noexcept nogil
