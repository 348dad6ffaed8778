"""Tags as bytes in, elements with their attributes and declarations as columns out.

A tag whose names are all known is read at once. Where something is new, or there is no room, nothing of the tag stays:
the scan stops in front of it, and reads it again when Python has added what was missing.
"""

import cython

from weft.kernel.byte_kinds import kinds_of_bytes

if not cython.compiled:  # compiled, these are those of the .pxd
    from weft.kernel.byte_kinds import AMPERSAND, APOSTROPHE, BLANK, COLON, EQUALS, GREATER, NAME, NEWLINE
    from weft.kernel.byte_kinds import QUOTE, RETURN, SLASH, SPACE, START, VALUE, word
    from weft.kernel.characters import put_character, reference
    from weft.kernel.scan_columns import ATTRIBUTES, DECLARATIONS, ELEMENTS, LEVELS
    from weft.kernel.scan_state import OF_ATTRIBUTE, OF_DECLARATION, OF_ELEMENT, PARTS, PATHS, SCOPES, ScanState

    MOST_DECLARED = 64  # by one tag: they are compared with each other

_TABLE = cython.declare(bytes)
_TABLE = kinds_of_bytes()
KINDS = cython.declare(cython.p_uchar)
KINDS = _TABLE


@cython.cclass
class TagScanner(ScanState):
    """The scan of tags; `tag_scanner.pxd` tells its state."""

    # Each returns the place behind what it reads, or -1 where it stops.

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def read_start(self, s: cython.p_uchar, tag: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """`<name …>` or `<name …/>`."""
        p: cython.Py_ssize_t = tag + 1
        scope: cython.longlong
        found: cython.Py_ssize_t
        if KINDS[s[p]] & START == 0 or self.is_over or self.level == self.most_depth:
            return self.doubt()
        while KINDS[s[p]] & NAME:
            p += 1
        size: cython.Py_ssize_t = p - tag - 1
        self.inner, self.tag_attributes, self.tag_declarations = self.context, 0, 0
        if s[p] != GREATER:
            p = self.read_attributes(s, tag, p)
            if p < 0:
                return p
        scope = self.inner
        scope = scope * SCOPES + OF_ELEMENT
        found = self.names.find(s, tag + 1, size, scope)
        if found < 0:
            return self.stop_for_name(tag, tag + 1, size, scope)
        full: cython.int = self.lacking()
        if full >= 0:
            return self.stop_for_room(tag, full)
        self.nodes += 1 + self.tag_attributes + self.tag_declarations
        if self.nodes > self.most_nodes:
            return self.doubt()
        self.attributes += self.tag_attributes
        self.declarations += self.tag_declarations
        self.open(self.names.first[found], self.names.second[found], tag)
        if s[p] == SLASH:
            if s[p + 1] != GREATER:
                return self.doubt()
            self.close(p + 2)
            self.is_over = self.level == 0
            return p + 2
        self.level_size[self.level - 1], self.level_context[self.level - 1] = size, self.context
        self.context = self.inner
        return p + 1

    @cython.cfunc
    @cython.nogil
    @cython.inline
    @cython.exceptval(check=False)
    def lacking(self) -> cython.int:
        """What there is no more room for, of what an element with the tag's attributes needs; -1 if there is."""
        if self.elements == self.element_room:
            return ELEMENTS
        if self.level == self.level_room:
            return LEVELS
        if self.is_narrow and not self.paths.has_room(self.tag_attributes + 1):
            return PATHS
        return -1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def read_end(self, s: cython.p_uchar, tag: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """`</name>` of the element that was opened last."""
        p: cython.Py_ssize_t = tag + 2
        if self.level == 0:
            return self.doubt()
        name: cython.Py_ssize_t = self.start[self.row] + 1
        size: cython.Py_ssize_t = self.level_size[self.level - 1]
        if p + size > self.names.limit:  # the document ends inside of the tag
            return self.doubt()
        while size > 8:
            if word(s, p, 8) != word(s, name, 8):
                return self.doubt()
            p, name, size = p + 8, name + 8, size - 8
        if self.names.last_word(s, p, size) != self.names.last_word(s, name, size):
            return self.doubt()
        p += size
        while KINDS[s[p]] & SPACE:
            p += 1
        if s[p] != GREATER:
            return self.doubt()
        self.close(tag)
        self.context = self.level_context[self.level]
        self.is_over = self.level == 0
        return p + 1

    # Long: one loop over the parts of a tag, which are few lines each.
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def read_attributes(self, s: cython.p_uchar, tag: cython.Py_ssize_t, p: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """The attributes and declarations of a tag, up to what ends it."""
        name: cython.Py_ssize_t
        size: cython.Py_ssize_t
        number: cython.Py_ssize_t = 0
        declared: cython.Py_ssize_t = 0
        before: cython.Py_ssize_t = self.value_start[self.attributes]
        self.filled = before
        while True:
            name = p
            while KINDS[s[p]] & SPACE:
                p += 1
            if s[p] == GREATER or s[p] == SLASH:
                break
            if name == p or KINDS[s[p]] & START == 0 or number + declared == self.most_attributes:
                return self.doubt()
            if self.attributes + number == self.attribute_room:
                return self.stop_for_room(tag, ATTRIBUTES)
            if number + declared == self.written_at.shape[0]:
                return self.stop_for_room(tag, PARTS)
            name = p
            while KINDS[s[p]] & NAME:
                p += 1
            size = p - name
            while KINDS[s[p]] & SPACE:
                p += 1
            if s[p] != EQUALS:
                return self.doubt()
            p += 1
            while KINDS[s[p]] & SPACE:
                p += 1
            p = self.read_value(s, p)
            if p < 0:
                return p
            if is_declaration(s, name, size):
                self.declared_at[declared], self.declared_size[declared] = name, p - name
                self.filled = before
                declared += 1
            else:
                self.written_at[number], self.written_size[number] = name, size
                number += 1
                self.value_start[self.attributes + number] = before = self.filled
        self.tag_attributes, self.tag_declarations = number, declared
        if declared and self.declare(s, tag) < 0:
            return -1
        return p if self.name_attributes(s, tag) >= 0 else -1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def read_value(self, s: cython.p_uchar, p: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """A quoted value, written behind those before it; white space is a blank each, as XML has it."""
        at: cython.Py_ssize_t = self.filled
        quote: cython.uchar = s[p]
        found: cython.longlong
        if quote != QUOTE and quote != APOSTROPHE:
            return self.doubt()
        p += 1
        while True:
            while KINDS[s[p]] & VALUE == 0:
                self.values[at] = s[p]
                at += 1
                p += 1
            if s[p] == quote:
                self.filled = at
                return p + 1
            if s[p] == AMPERSAND:
                found = reference(s, p)
                if found < 0:
                    return self.doubt()
                at = put_character(self.values, at, found & 0x1FFFFF)
                p += found >> 32
            elif KINDS[s[p]] & SPACE:
                self.values[at] = BLANK
                at += 1
                p += 2 if s[p] == RETURN and s[p + 1] == NEWLINE else 1
            elif s[p] == QUOTE or s[p] == APOSTROPHE:
                self.values[at] = s[p]
                at += 1
                p += 1
            else:
                return self.doubt()

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def declare(self, s: cython.p_uchar, tag: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """The namespaces that the tag's names go by: each declaration leads from those declared to others."""
        i: cython.Py_ssize_t
        j: cython.Py_ssize_t
        found: cython.Py_ssize_t
        scope: cython.longlong
        if self.tag_declarations > MOST_DECLARED:
            return self.doubt()
        if self.declarations + self.tag_declarations > self.declared_room:
            return self.stop_for_room(tag, DECLARATIONS)
        for i in range(self.tag_declarations):
            for j in range(i):
                if is_same_name(s, self.declared_at[i], self.declared_at[j]):
                    return self.doubt()
            scope = self.inner
            scope = scope * SCOPES + OF_DECLARATION
            found = self.names.find(s, self.declared_at[i], self.declared_size[i], scope)
            if found < 0:
                return self.stop_for_name(tag, self.declared_at[i], self.declared_size[i], scope)
            self.inner = self.names.first[found]
            self.declared_row[self.declarations + i] = self.elements
            self.declared[self.declarations + i] = self.names.second[found]
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def name_attributes(self, s: cython.p_uchar, tag: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """The numbers of the attributes' names, each at most once in a tag."""
        i: cython.Py_ssize_t
        at: cython.Py_ssize_t
        found: cython.Py_ssize_t
        name: cython.int
        scope: cython.longlong = self.inner
        scope = scope * SCOPES + OF_ATTRIBUTE
        self.tags_seen += 1
        for i in range(self.tag_attributes):
            found = self.names.find(s, self.written_at[i], self.written_size[i], scope)
            if found < 0:
                return self.stop_for_name(tag, self.written_at[i], self.written_size[i], scope)
            name = self.names.first[found]
            if self.seen[name] == self.tags_seen:
                return self.doubt()
            self.seen[name] = self.tags_seen
            at = self.attributes + i
            self.attribute_name[at], self.attribute_tag[at] = name, self.names.second[found]
            self.attribute_owner[at] = self.elements
        return 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def is_declaration(s: cython.p_uchar, p: cython.Py_ssize_t, size: cython.Py_ssize_t) -> cython.bint:
    """Whether a name is `xmlns` or begins with `xmlns:`."""
    if size < 5 or s[p] != 120 or s[p + 1] != 109 or s[p + 2] != 108 or s[p + 3] != 110 or s[p + 4] != 115:
        return False
    return size == 5 or s[p + 5] == COLON


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def is_same_name(s: cython.p_uchar, p: cython.Py_ssize_t, q: cython.Py_ssize_t) -> cython.bint:
    """Whether the same name stands at two places."""
    while KINDS[s[p]] & NAME and s[p] == s[q]:
        p += 1
        q += 1
    return KINDS[s[p]] & NAME == 0 and KINDS[s[q]] & NAME == 0
