"""Documents as bytes in, the columns of their nodes out: one pass, without Python's objects and without its lock.

A NUL stands behind each document and ends every loop. Whatever is in doubt, and whatever is wrong, is left to expat:
nothing may be accepted here that expat would reject or read otherwise.
"""

import cython
import numpy as np

from weft.kernel.arrays import zeros
from weft.kernel.byte_kinds import kinds_of_bytes

if cython.compiled:
    from cython.cimports.libc.string import memcpy
else:  # compiled, these are those of the .pxd
    from weft.kernel.byte_kinds import BANG, LESS, NUL, OPENING, QUESTION, SLASH, SPACE
    from weft.kernel.scan_state import DONE, DOUBT, FULL, NEW, PARTS, PATHS
    from weft.kernel.plain_scanner import PlainScanner

_TABLE = cython.declare(bytes)
_TABLE = kinds_of_bytes()
KINDS = cython.declare(cython.p_uchar)
KINDS = _TABLE
_MOST_KEPT = cython.declare(cython.Py_ssize_t, 16 << 20)  # bytes of copied documents between batches


@cython.final
@cython.cclass
class Scanner(PlainScanner):
    """The scan of batches, with the names that they brought; `scanner.pxd` tells its state."""

    def __init__(self, resolver):
        PlainScanner.__init__(self, resolver)
        self.sources = []
        self.address, self.content, self.size = zeros(64, np.uint64), zeros(64, np.int64), zeros(64, np.int64)
        self.copied = zeros(1, np.uint8)

    def place(self, sources: list, most: cython.Py_ssize_t, source_of) -> list:
        """The documents to be scanned as bytes; they are kept until the columns are taken.

        What is no bytes, or more than `most` of them, or begins with a declaration or in an encoding of its own, is
        what `source_of` says of its number.
        """
        at: cython.Py_ssize_t
        result: list = list(sources)
        self.begin_batch(len(sources))
        for at in range(len(sources)):
            if type(sources[at]) is not bytes or not begins_with_tag(sources[at], most):
                result[at] = source_of(at)
            self.replace(at, result[at])
        return result

    def place_column(self, data, first, last, most: cython.Py_ssize_t, source_of) -> dict:
        """The documents to be scanned as parts of one buffer, from one place on to before another.

        Those that begin with a tag, and are ASCII, are copied, each with a NUL behind it: nothing is made of them. What
        `source_of` says of the others comes back by their numbers.
        """
        at: cython.Py_ssize_t
        size: cython.Py_ssize_t
        begin: cython.Py_ssize_t
        room: cython.Py_ssize_t = 0
        filled: cython.Py_ssize_t = 0
        sources: dict = {}
        bytes_: cython.const[cython.uchar][::1] = data
        begins: cython.const[cython.longlong][::1] = first
        ends: cython.const[cython.longlong][::1] = last
        number: cython.Py_ssize_t = begins.shape[0]
        self.begin_batch(number)
        for at in range(number):
            size = ends[at] - begins[at]
            room += size + 1 if size <= most else 0
        if room > self.copied.shape[0]:
            self.copied = zeros(room, np.uint8)
        for at in range(number):
            begin, size = begins[at], ends[at] - begins[at]
            if 1 < size <= most and is_plain(bytes_, begin, size):
                self.copy(at, bytes_, begin, size, filled)
                filled += size + 1
            else:
                sources[at] = source_of(at)
                self.replace(at, sources[at])
        return sources

    @cython.cfunc
    def begin_batch(self, number: cython.Py_ssize_t):
        """Room for so many documents."""
        self.sources = [None] * number
        if number > self.size.shape[0]:
            self.address, self.content = zeros(2 * number, np.uint64), zeros(2 * number, np.int64)
            self.size = zeros(2 * number, np.int64)

    @cython.cfunc
    def copy(
        self,
        at: cython.Py_ssize_t,
        data: cython.const[cython.uchar][::1],
        begin: cython.Py_ssize_t,
        size: cython.Py_ssize_t,
        filled: cython.Py_ssize_t,
    ):
        """A document that stands in a buffer, written behind those before it, with a NUL behind its end."""
        self.size[at], self.content[at] = size, 0
        if cython.compiled:
            memcpy(cython.address(self.copied[filled]), cython.address(data[begin]), size)
            self.copied[filled + size] = 0
            self.address[at] = cython.cast(cython.ulonglong, cython.address(self.copied[filled]))
        else:
            self.sources[at] = bytes(data[begin : begin + size]) + bytes(1)

    @cython.ccall
    def replace(self, at: cython.Py_ssize_t, source: bytes):
        """Another source for a document: where its bytes are, how many, and where its content begins."""
        s: cython.p_uchar = source
        size: cython.Py_ssize_t = len(source)
        is_declared: cython.bint = size > 1 and s[1] == QUESTION  # or it is something else that begins so
        self.size[at] = size
        self.content[at] = self.resolver.content(source) if is_declared or not is_ascii(source, size) else 0
        if cython.compiled:
            self.sources[at], self.address[at] = source, cython.cast(cython.ulonglong, s)
        else:  # bytes have a NUL behind their end, but only C sees it
            self.sources[at] = source + bytes(1)

    def scan(self, first: int, last: int) -> int:
        """Scan documents from one on to before another; the first of them that is in doubt, or that other one."""
        status: cython.int
        at: cython.Py_ssize_t
        room: cython.Py_ssize_t = 0
        for at in range(first, last):
            room += self.size[at]
        self.reserve_characters(room)
        self.current, self.last_current, self.is_begun = first, last, False
        while True:
            with cython.nogil:
                status = self.run()
            if status == DONE:
                return last
            if status == DOUBT or (status == NEW and not self.add_new(self.new_bytes())):
                self.cut_document()
                return self.current
            if status == FULL and self.full == PARTS:
                self.widen_tag()
            elif status == FULL and self.full == PATHS:
                self.paths.widen(self.tag_attributes + 1)
            elif status == FULL:
                self.widen(self.full)

    @cython.cfunc
    def new_bytes(self) -> bytes:
        """What is written where something is new."""
        s: cython.p_uchar
        if cython.compiled:
            s = cython.cast(cython.p_uchar, self.address[self.current])
            return s[self.new_at : self.new_at + self.new_size]
        else:  # or Cython would compile what is never reached
            return self.sources[self.current][self.new_at : self.new_at + self.new_size]

    def take(self) -> dict:
        """The columns of the batch; what comes next is another one."""
        self.end_batch()
        return PlainScanner.take(self)

    def take_paths(self) -> tuple:
        """The paths of names of the batch; what comes next is another one."""
        self.end_batch()
        return PlainScanner.take_paths(self)

    @cython.cfunc
    def end_batch(self):
        """Let go of its documents; room for few of them is kept."""
        self.sources = []
        if self.copied.shape[0] > _MOST_KEPT:
            self.copied = zeros(1, np.uint8)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def run(self) -> cython.int:
        """Documents, one after the other, until all are done or one needs something."""
        status: cython.int
        at: cython.Py_ssize_t
        s: cython.p_uchar
        while self.current < self.last_current:
            at = self.current
            s = cython.cast(cython.p_uchar, self.address[at]) if cython.compiled else self.sources[at]
            self.names.limit = self.size[at]
            if not self.is_begun:
                if self.content[at] < 0:
                    return DOUBT
                self.p, self.is_begun, self.is_over = self.content[at], True, False
            status = self.read_document(s, self.size[at])
            if status != DONE:
                return status
            self.keep_document()
            self.is_begun = False
            self.current = at + 1
        return DONE

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def read_document(self, s: cython.p_uchar, end: cython.Py_ssize_t) -> cython.int:
        """Go on until the document is over, or something is in doubt, new or full."""
        p: cython.Py_ssize_t = self.p
        while True:
            if self.level == 0:
                while KINDS[s[p]] & SPACE:
                    p += 1
                if p == end and self.is_over:
                    return DONE
                if s[p] != LESS:
                    return DOUBT
            else:
                p = self.read_plain(s, p)
                if s[p] != LESS or (s[p + 1] == BANG and s[p + 2] == OPENING):
                    p = self.read_text(s, p)
                    if p < 0:
                        return self.status
            if s[p + 1] == SLASH:
                p = self.read_end(s, p)
            elif s[p + 1] == BANG or s[p + 1] == QUESTION:
                p = self.skip_aside(s, p)
            else:
                p = self.read_start(s, p)
            if p < 0:
                return self.status


@cython.cfunc
@cython.exceptval(check=False)
def begins_with_tag(source: bytes, most: cython.Py_ssize_t) -> cython.bint:
    """Whether a document that is not too long begins with a start tag, a comment or a DOCTYPE in ASCII."""
    s: cython.p_uchar = source
    return 1 < len(source) <= most and s[0] == LESS and s[1] != QUESTION and s[1] != NUL


@cython.cfunc
@cython.exceptval(check=False)
def is_ascii(source: bytes, size: cython.Py_ssize_t) -> cython.bint:
    """Whether all bytes are ASCII: some at once, where it is compiled."""
    at: cython.Py_ssize_t
    found: cython.uchar = 0
    s: cython.p_uchar = source
    if not cython.compiled:
        return source.isascii()
    for at in range(size):
        found |= s[at]
    return found < 128


@cython.cfunc
@cython.exceptval(check=False)
def is_plain(data: cython.const[cython.uchar][::1], begin: cython.Py_ssize_t, size: cython.Py_ssize_t) -> cython.bint:
    """Whether a document of at least two bytes begins likewise, and is ASCII to its end."""
    at: cython.Py_ssize_t
    found: cython.uchar = 0
    if data[begin] != LESS or data[begin + 1] == QUESTION or data[begin + 1] == NUL:
        return False
    for at in range(begin, begin + size):
        found |= data[at]
    return found < 128
