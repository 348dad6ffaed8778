from libc.string cimport memcpy

cdef enum:
    START = 1
    NAME = 2
    SPACE = 4
    VALUE = 8
    TEXT = 16
    NEVER = 32
    NUL = 0
    TAB = 9
    NEWLINE = 10
    RETURN = 13
    BLANK = 32
    BANG = 33
    QUOTE = 34
    HASH = 35
    AMPERSAND = 38
    APOSTROPHE = 39
    HYPHEN = 45
    SLASH = 47
    COLON = 58
    SEMICOLON = 59
    LESS = 60
    EQUALS = 61
    GREATER = 62
    QUESTION = 63
    OPENING = 91
    CLOSING = 93


cdef inline unsigned long long word(unsigned char* s, Py_ssize_t p, Py_ssize_t size) noexcept nogil:
    cdef unsigned long long together = 0
    memcpy(&together, s + p, size)
    return together
