"""Text as bytes in, its characters in one buffer out, decoded; comments and instructions are gone."""

import cython

from weft.kernel.byte_kinds import kinds_of_bytes

if cython.compiled:
    from cython.cimports.libc.string import memcpy
else:  # compiled, these are those of the .pxd
    from weft.kernel.byte_kinds import AMPERSAND, BANG, CLOSING, COLON, GREATER, HYPHEN, LESS, NAME, NEVER, NEWLINE
    from weft.kernel.byte_kinds import OPENING, QUESTION, RETURN, SPACE, START, TEXT
    from weft.kernel.byte_words import eight_at, text_stops
    from weft.kernel.characters import put_character, reference
    from weft.kernel.scan_columns import TEXTS
    from weft.kernel.scan_state import PATHS
    from weft.kernel.tag_scanner import TagScanner

_TABLE = cython.declare(bytes)
_TABLE = kinds_of_bytes()
KINDS = cython.declare(cython.p_uchar)
KINDS = _TABLE


@cython.cclass
class TextScanner(TagScanner):
    """The scan of what stands between tags; each returns the place behind what it reads, or -1 where it stops."""

    # Long: one loop over what a text is made of.
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def read_text(self, s: cython.p_uchar, p: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """The text up to the next tag, comment or instruction; CDATA sections are part of it."""
        first: cython.Py_ssize_t = p
        found: cython.longlong
        if self.texts == self.text_room:
            return self.stop_for_room(first, TEXTS)
        if self.wants_texts and not self.paths.has_room(1):
            return self.stop_for_room(first, PATHS)
        self.filled = self.text_start[self.texts]
        while True:
            first = p
            if self.filled == self.text_start[self.texts]:  # nothing yet: empty CDATA sections are no text
                self.text_at = p
            while p + 8 <= self.names.limit and text_stops(eight_at(s, p)) == 0:
                p += 8
            while KINDS[s[p]] & TEXT == 0:
                p += 1
            if p > first:
                self.put(s, first, p - first)
            if s[p] == LESS:
                if s[p + 1] != BANG or s[p + 2] != OPENING:
                    break
                p = self.read_section(s, p)
                if p < 0:
                    return p
            elif s[p] == AMPERSAND:
                found = reference(s, p)
                if found < 0:
                    return self.doubt()
                self.filled = put_character(self.characters, self.filled, found & 0x1FFFFF)
                p += found >> 32
            elif s[p] == CLOSING and not (s[p + 1] == CLOSING and s[p + 2] == GREATER):
                self.put(s, p, 1)
                p += 1
            elif s[p] == RETURN:
                p = self.put_line_end(s, p)
            else:
                return self.doubt()
        if self.filled > self.text_start[self.texts]:
            self.end_text(self.filled)
            self.nodes += 1
            if self.nodes > self.most_nodes:
                return self.doubt()
        return p

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def read_section(self, s: cython.p_uchar, p: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """`<![CDATA[…]]>`, written behind the text before it."""
        first: cython.Py_ssize_t
        if not begins(s, p + 3, _SECTION):
            return self.doubt()
        p += 9
        while True:
            first = p
            while KINDS[s[p]] & TEXT == 0 or s[p] == LESS or s[p] == AMPERSAND:
                p += 1
            if p > first:
                self.put(s, first, p - first)
            if s[p] == RETURN:
                p = self.put_line_end(s, p)
            elif s[p] != CLOSING:
                return self.doubt()
            elif s[p + 1] == CLOSING and s[p + 2] == GREATER:
                return p + 3
            else:
                self.put(s, p, 1)
                p += 1

    @cython.cfunc
    @cython.nogil
    @cython.inline
    @cython.exceptval(check=False)
    def put(self, s: cython.p_uchar, first: cython.Py_ssize_t, size: cython.Py_ssize_t) -> cython.void:
        """Bytes of the document, written behind the text before them."""
        i: cython.Py_ssize_t
        if cython.compiled:
            memcpy(cython.address(self.characters[self.filled]), s + first, size)
        else:
            for i in range(size):
                self.characters[self.filled + i] = s[first + i]
        self.filled += size

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def put_line_end(self, s: cython.p_uchar, p: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """A carriage return, with or without a newline behind it, is a newline."""
        self.characters[self.filled] = NEWLINE
        self.filled += 1
        return p + 2 if s[p + 1] == NEWLINE else p + 1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def skip_aside(self, s: cython.p_uchar, p: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """`<!--…-->` or `<?…?>`; both part the text around them."""
        name: cython.Py_ssize_t = p + 2
        if s[p + 1] == BANG:
            if s[p + 2] != HYPHEN or s[p + 3] != HYPHEN:
                return self.doubt()
            p += 4
            while s[p] != HYPHEN or s[p + 1] != HYPHEN:
                if KINDS[s[p]] & NEVER:
                    return self.doubt()
                p += 1
            return p + 3 if s[p + 2] == GREATER else self.doubt()
        p = name
        if KINDS[s[p]] & START == 0:
            return self.doubt()
        while KINDS[s[p]] & NAME:
            if s[p] == COLON or s[p] >= 128:
                return self.doubt()
            p += 1
        if p - name == 3 and s[name] | 32 == 120 and s[name + 1] | 32 == 109 and s[name + 2] | 32 == 108:  # xml
            return self.doubt()
        if KINDS[s[p]] & SPACE == 0 and s[p] != QUESTION:
            return self.doubt()
        if s[p] == QUESTION and s[p + 1] != GREATER:
            return self.doubt()
        while s[p] != QUESTION or s[p + 1] != GREATER:
            if KINDS[s[p]] & NEVER:
                return self.doubt()
            p += 1
        return p + 2


_SECTION = cython.declare(cython.p_uchar)
_SECTION_BYTES = cython.declare(bytes)
_SECTION_BYTES = b"CDATA["
_SECTION = _SECTION_BYTES


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def begins(s: cython.p_uchar, p: cython.Py_ssize_t, word: cython.p_uchar) -> cython.bint:
    """Whether the six bytes of a word stand at a place."""
    i: cython.Py_ssize_t
    for i in range(6):
        if s[p + i] != word[i]:
            return False
    return True
