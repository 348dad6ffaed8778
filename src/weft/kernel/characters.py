"""A reference in, the character that it stands for out; and characters as bytes."""

import cython

if not cython.compiled:  # compiled, these are those of the .pxd
    from weft.kernel.byte_kinds import AMPERSAND, APOSTROPHE, GREATER, HASH, LESS, QUOTE, SEMICOLON

_LAST = cython.declare(cython.longlong, 0x10FFFF)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def reference(s: cython.p_uchar, p: cython.Py_ssize_t) -> cython.longlong:
    """The size of the reference at `&` and behind it, in the low 32 bits, its character; -1 for any other one."""
    c: cython.uchar = s[p + 1]
    if c == HASH:
        return _number(s, p)
    if c == 97 and s[p + 2] == 109 and s[p + 3] == 112 and s[p + 4] == SEMICOLON:  # amp;
        return _packed(5, AMPERSAND)
    if c == 108 and s[p + 2] == 116 and s[p + 3] == SEMICOLON:  # lt;
        return _packed(4, LESS)
    if c == 103 and s[p + 2] == 116 and s[p + 3] == SEMICOLON:  # gt;
        return _packed(4, GREATER)
    if c == 113 and s[p + 2] == 117 and s[p + 3] == 111 and s[p + 4] == 116 and s[p + 5] == SEMICOLON:  # quot;
        return _packed(6, QUOTE)
    if c == 97 and s[p + 2] == 112 and s[p + 3] == 111 and s[p + 4] == 115 and s[p + 5] == SEMICOLON:  # apos;
        return _packed(6, APOSTROPHE)
    return -1


@cython.cfunc
@cython.nogil
@cython.inline
@cython.exceptval(check=False)
def _packed(size: cython.longlong, code: cython.longlong) -> cython.longlong:
    return size << 32 | code


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _number(s: cython.p_uchar, first: cython.Py_ssize_t) -> cython.longlong:
    """The same for a character by its number; zeros before it may be so many that its size does not fit: then -1."""
    p: cython.Py_ssize_t = first + 2
    base: cython.longlong = 10
    code: cython.longlong = 0
    digit: cython.longlong
    c: cython.uchar
    if s[p] == 120:  # "x"
        base = 16
        p += 1
    digits: cython.Py_ssize_t = p
    while s[p] != SEMICOLON:
        c = s[p]
        digit = c - 48 if 48 <= c <= 57 else (c | 32) - 87 if 97 <= (c | 32) <= 102 else 99
        if digit >= base or p - first > 1000:
            return -1
        code = code * base + digit
        if code > _LAST:
            return -1
        p += 1
    if p == digits:
        return -1
    if code in (9, 10, 13) or 0x20 <= code < 0xD800 or 0xE000 <= code < 0xFFFE or code >= 0x10000:
        return _packed(p + 1 - first, code)
    return -1


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def put_character(into: cython.uchar[::1], at: cython.Py_ssize_t, code: cython.longlong) -> cython.Py_ssize_t:
    """Write a character in UTF-8; behind it."""
    if code < 0x80:
        into[at] = code
        return at + 1
    if code < 0x800:
        into[at] = 0xC0 | (code >> 6)
    elif code < 0x10000:
        into[at] = 0xE0 | (code >> 12)
        at += 1
        into[at] = 0x80 | (code >> 6 & 0x3F)
    else:
        into[at] = 0xF0 | (code >> 18)
        into[at + 1] = 0x80 | (code >> 12 & 0x3F)
        at += 2
        into[at] = 0x80 | (code >> 6 & 0x3F)
    into[at + 1] = 0x80 | (code & 0x3F)
    return at + 2
