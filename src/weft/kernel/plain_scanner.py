"""Most of a document as bytes in, columns out: tags whose names are known, and text that is read as it is written.

Sixteen bytes, of texts sixty-four, are looked at together: most texts and names end there. Where anything else stands
nothing of it is kept, and the other scanners read it.
"""

import cython
import numpy as np

from weft.kernel.arrays import zeros

if not cython.compiled:  # compiled, these are those of the .pxd
    from weft.kernel.byte_kinds import APOSTROPHE, BANG, BLANK, EQUALS, GREATER, LESS, NEWLINE, OPENING, QUOTE, SLASH
    from weft.kernel.byte_kinds import TAB, word
    from weft.kernel.byte_words import copy_sixteen, copy_sixty_four, eight_at, long_text_run_at, name_run_at
    from weft.kernel.byte_words import text_run_at, value_run_at
    from weft.kernel.name_paths import TEXT_CODE
    from weft.kernel.scan_state import OF_ATTRIBUTE, OF_ELEMENT, SCOPES
    from weft.kernel.text_scanner import TextScanner

MASK64 = cython.declare(cython.ulonglong)  # numbers beyond 31 bits must be C variables, or they are Python's
MASK64 = 0xFFFFFFFFFFFFFFFF
_GUESS_BITS = cython.declare(cython.int, 12)


@cython.cclass
class PlainScanner(TextScanner):
    """The scan of what is plain; `plain_scanner.pxd` tells its state."""

    def __init__(self, resolver):
        TextScanner.__init__(self, resolver)
        self.guessed_name, self.guessed_path = zeros(1 << _GUESS_BITS, np.int32), zeros(1 << _GUESS_BITS, np.int32)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def read_plain(self, s: cython.p_uchar, p: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Go on inside of the root as long as all is plain; the place of what is not."""
        behind: cython.Py_ssize_t
        while True:
            if s[p] != LESS:
                behind = _text(self, s, p)
            elif s[p + 1] == SLASH:
                behind = _end(self, s, p)
            else:
                behind = _start(self, s, p)
            if behind < 0:
                return p
            p = behind


# Each returns the place behind what it reads, or -1: then it is not plain, or there is no room for it.


# Long: one loop that reads and copies, and what comes of it in either kind of scan.
@cython.cfunc
@cython.nogil
@cython.inline
@cython.exceptval(check=False)
def _text(scan: PlainScanner, s: cython.p_uchar, p: cython.Py_ssize_t) -> cython.Py_ssize_t:
    """The text up to a tag."""
    first: cython.Py_ssize_t = p
    last: cython.Py_ssize_t = scan.names.limit - 16
    at: cython.Py_ssize_t = scan.text_start[scan.texts]
    size: cython.Py_ssize_t
    while p <= last:
        if p <= last - 48:
            if not scan.is_narrow:
                copy_sixty_four(scan.characters, at, s, p)
            size = long_text_run_at(s, p)
            is_over: cython.bint = size < 64
        else:
            if not scan.is_narrow:
                copy_sixteen(scan.characters, at, s, p)
            size = text_run_at(s, p)
            is_over = size < 16
        at += size
        p += size
        if is_over:
            if s[p] == LESS:
                break
            if s[p] != NEWLINE and s[p] != TAB:
                return -1
            at += 1
            p += 1
    if p > last or (s[p + 1] == BANG and s[p + 2] == OPENING) or scan.nodes == scan.most_nodes:
        return -1
    if scan.is_narrow:
        if scan.wants_texts:
            if not scan.paths.has_room(1):
                return -1
            path: cython.int = scan.paths.note(scan.path[scan.row], TEXT_CODE)
            if scan.paths.keeps_offsets:
                scan.paths.place(path, first)
    elif scan.texts == scan.text_room:
        return -1
    else:
        scan.text_owner[scan.texts], scan.text_event[scan.texts] = scan.row, scan.elements + scan.texts
        scan.texts += 1
        scan.text_start[scan.texts] = at
    scan.nodes += 1
    return p


@cython.cfunc
@cython.nogil
@cython.inline
@cython.exceptval(check=False)
def _end(scan: PlainScanner, s: cython.p_uchar, tag: cython.Py_ssize_t) -> cython.Py_ssize_t:
    """`</name>` of an element that is not the root."""
    row: cython.Py_ssize_t = scan.row
    p: cython.Py_ssize_t = tag + 2
    name: cython.Py_ssize_t = scan.start[row] + 1
    size: cython.Py_ssize_t = scan.level_size[scan.level - 1]
    if scan.level == 1 or size > 16 or p + 16 > scan.names.limit:
        return -1
    if (word(s, p, 8) ^ word(s, name, 8)) & scan.names.masks[size if size < 8 else 8]:
        return -1
    if size > 8 and (word(s, p + 8, 8) ^ word(s, name + 8, 8)) & scan.names.masks[size - 8]:
        return -1
    if s[p + size] != GREATER:
        return -1
    if scan.is_narrow:
        scan.elements = row
    else:
        scan.end[row], scan.last[row], scan.text_last[row] = tag, scan.elements - 1, scan.texts
    scan.level -= 1
    scan.context = scan.level_context[scan.level]
    scan.row = scan.parent[row]
    return p + size + 1


@cython.cfunc
@cython.nogil
@cython.inline
@cython.exceptval(check=False)
def _start(scan: PlainScanner, s: cython.p_uchar, tag: cython.Py_ssize_t) -> cython.Py_ssize_t:
    """`<name …>` or `<name …/>` without declarations."""
    above: cython.int = scan.path[scan.row] if scan.is_narrow else 0
    name: cython.Py_ssize_t = _name(scan, s, tag + 1, OF_ELEMENT, above)
    size: cython.Py_ssize_t = scan.name_size
    guess: cython.ulonglong = scan.guess
    p: cython.Py_ssize_t = tag + 1 + size
    number: cython.Py_ssize_t = 0
    if name < 0 or scan.elements == scan.element_room or scan.level >= scan.level_room:
        return -1
    scan.tags_seen += 1
    while s[p] == BLANK and s[p + 1] != SLASH:
        p = _attribute(scan, s, p + 1, number)
        if p < 0:
            return -1
        number += 1
    is_empty: cython.bint = s[p] != GREATER
    if is_empty:
        p += s[p] == BLANK
        if s[p] != SLASH or s[p + 1] != GREATER:
            return -1
        p += 1
    if scan.level == scan.most_depth or scan.nodes + 1 + number > scan.most_nodes:
        return -1
    if scan.is_narrow and _paths(scan, tag, guess, scan.names.first[name], number) < 0:
        return -1
    scan.nodes += 1 + number
    _open(scan, name, tag, size, number)
    if is_empty:
        _close_empty(scan, p + 1)
    return p + 1


@cython.cfunc
@cython.nogil
@cython.inline
@cython.exceptval(check=False)
def _open(
    scan: PlainScanner, name: cython.Py_ssize_t, tag: cython.Py_ssize_t, size: cython.int, number: cython.Py_ssize_t
) -> cython.void:
    """An element begins; there is room for it."""
    row: cython.Py_ssize_t = scan.elements
    scan.parent[row], scan.start[row] = scan.row, tag
    scan.level_size[scan.level], scan.level_context[scan.level] = size, scan.context
    scan.level += 1
    if not scan.is_narrow:
        scan.document[row], scan.name[row] = scan.documents, scan.names.first[name]
        scan.tag[row] = scan.names.second[name]
        scan.depth[row], scan.text_first[row], scan.event[row] = scan.level, scan.texts, row + scan.texts
        scan.attributes += number
    scan.row, scan.elements = row, row + 1


@cython.cfunc
@cython.nogil
@cython.inline
@cython.exceptval(check=False)
def _close_empty(scan: PlainScanner, end: cython.Py_ssize_t) -> cython.void:
    """The element that was just opened ends."""
    row: cython.Py_ssize_t = scan.row
    scan.level -= 1
    scan.row = scan.parent[row]
    if scan.is_narrow:
        scan.elements = row
    else:
        scan.end[row], scan.last[row], scan.text_last[row] = end, row, scan.texts


@cython.cfunc
@cython.nogil
@cython.inline
@cython.exceptval(check=False)
def _attribute(
    scan: PlainScanner, s: cython.p_uchar, p: cython.Py_ssize_t, number: cython.Py_ssize_t
) -> cython.Py_ssize_t:
    """`name="value"`, in the columns behind so many others of the tag."""
    at: cython.Py_ssize_t = scan.attributes + number
    entry: cython.Py_ssize_t = _name(scan, s, p, OF_ATTRIBUTE, 0)
    if entry < 0 or at == scan.attribute_room or number == scan.most_attributes or number == scan.written_at.shape[0]:
        return -1
    scan.written_at[number] = p
    name: cython.int = scan.names.first[entry]
    last: cython.Py_ssize_t = scan.names.limit - 16
    filled: cython.Py_ssize_t = scan.value_start[at]
    size: cython.Py_ssize_t = 16
    p += scan.name_size
    quote: cython.uchar = s[p + 1]
    if s[p] != EQUALS or (quote != QUOTE and quote != APOSTROPHE) or scan.seen[name] == scan.tags_seen:
        return -1
    scan.seen[name] = scan.tags_seen
    scan.attribute_name[at], scan.attribute_tag[at] = name, scan.names.second[entry]
    scan.attribute_owner[at] = scan.elements
    p += 2
    while size == 16:
        if p > last:
            return -1
        copy_sixteen(scan.values, filled, s, p)
        size = value_run_at(s, p, quote)
        filled += size
        p += size
    scan.value_start[at + 1] = filled
    return p + 1 if s[p] == quote else -1


@cython.cfunc
@cython.nogil
@cython.inline
@cython.exceptval(check=False)
def _name(
    scan: PlainScanner, s: cython.p_uchar, p: cython.Py_ssize_t, kind: cython.longlong, above: cython.ulonglong
) -> cython.Py_ssize_t:
    """Where a name of less than 16 bytes is among those that are known; -1 if it is not.

    What a guess says is true only if the columns say so too.
    """
    scope: cython.longlong = scan.context
    scope = scope * SCOPES + kind
    if p + 16 > scan.names.limit:
        return -1
    size: cython.Py_ssize_t = name_run_at(s, p)
    if size == 16:
        return -1
    head: cython.ulonglong = eight_at(s, p) & scan.names.masks[size if size < 8 else 8]
    tail: cython.ulonglong = eight_at(s, p + 8) & scan.names.masks[size - 8 if size > 8 else 0]
    mixed: cython.ulonglong = ((head ^ tail ^ (above << 8) ^ scope) * scan.names.factor) & MASK64
    scan.guess, scan.name_size = mixed >> (64 - _GUESS_BITS), size
    found: cython.Py_ssize_t = scan.guessed_name[scan.guess]
    if scan.names.head[found] != head or scan.names.tail[found] != tail or scan.names.scope[found] != scope:
        found = scan.names.find(s, p, size, scope)
        if found >= 0:
            scan.guessed_name[scan.guess] = found
    elif scan.names.size[found] != size:
        return -1
    return found


@cython.cfunc
@cython.nogil
@cython.inline
@cython.exceptval(check=False)
def _paths(
    scan: PlainScanner, tag: cython.Py_ssize_t, guess: cython.ulonglong, name: cython.int, number: cython.Py_ssize_t
) -> cython.Py_ssize_t:
    """The paths of an element that begins and of so many attributes; there may be no room for them."""
    above: cython.int = scan.path[scan.row]
    path: cython.int = scan.guessed_path[guess]
    if not scan.paths.has_room(number + 1):
        return -1
    if scan.paths.parent[path] != above or scan.paths.code[path] != 2 * name + 1:
        path = scan.guessed_path[guess] = scan.paths.note(above, 2 * name + 1)
    elif scan.paths.stamp[path] < scan.paths.stamped:
        scan.paths.stamp[path] = scan.paths.begun + scan.paths.found_size
        scan.paths.found[scan.paths.found_size] = path
        scan.paths.found_size += 1
    if scan.paths.keeps_offsets:
        scan.paths.place(path, tag)
    scan.path[scan.elements] = path
    if scan.wants_attributes and number:
        scan.find_attribute_paths(path, number)
    return 0
