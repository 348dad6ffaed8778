"""Documents as bytes in, the columns of their nodes out: one pass, without Python's objects and without its lock.

A NUL stands behind each document and ends every loop. Whatever is in doubt, and whatever is wrong, is left to expat:
nothing may be accepted here that expat would reject or read otherwise.
"""

import cython
import numpy as np

from weft.kernel.arrays import zeros
from weft.kernel.byte_kinds import kinds_of_bytes

if not cython.compiled:  # compiled, these are those of the .pxd
    from weft.kernel.byte_kinds import BANG, LESS, NUL, OPENING, QUESTION, SLASH, SPACE
    from weft.kernel.scan_state import DONE, DOUBT, FULL, NEW, PARTS, PATHS
    from weft.kernel.plain_scanner import PlainScanner

_TABLE = cython.declare(bytes)
_TABLE = kinds_of_bytes()
KINDS = cython.declare(cython.p_uchar)
KINDS = _TABLE


@cython.final
@cython.cclass
class Scanner(PlainScanner):
    """The scan of batches, with the names that they brought; `scanner.pxd` tells its state."""

    def __init__(self, resolver):
        PlainScanner.__init__(self, resolver)
        self.sources = []
        self.address, self.content, self.size = zeros(64, np.uint64), zeros(64, np.int64), zeros(64, np.int64)

    def place(self, sources: list, most: cython.Py_ssize_t, source_of) -> list:
        """The documents to be scanned as bytes; they are kept until the columns are taken.

        What is no bytes, or more than `most` of them, or begins with a declaration or in an encoding of its own, is
        what `source_of` says of its number.
        """
        at: cython.Py_ssize_t
        number: cython.Py_ssize_t = len(sources)
        result: list = list(sources)
        self.sources = [None] * number
        if number > self.size.shape[0]:
            self.address, self.content = zeros(2 * number, np.uint64), zeros(2 * number, np.int64)
            self.size = zeros(2 * number, np.int64)
        for at in range(number):
            if type(sources[at]) is not bytes or not begins_with_tag(sources[at], most):
                result[at] = source_of(at)
            self.replace(at, result[at])
        return result

    @cython.ccall
    def replace(self, at: cython.Py_ssize_t, source: bytes):
        """Another source for a document: where its bytes are, how many, and where its content begins."""
        s: cython.p_uchar = source
        self.size[at] = len(source)
        is_plain: cython.bint = source.isascii() and not source.startswith(b"<?xml ")
        self.content[at] = 0 if is_plain else self.resolver.content(source)
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
            if status == DOUBT or (status == NEW and not self.add_new(self.sources[self.current])):
                self.cut_document()
                return self.current
            if status == FULL and self.full == PARTS:
                self.widen_tag()
            elif status == FULL and self.full == PATHS:
                self.paths.widen(self.tag_attributes + 1)
            elif status == FULL:
                self.widen(self.full)

    def take(self) -> dict:
        """The columns of the batch; what comes next is another one."""
        self.sources = []
        return PlainScanner.take(self)

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
