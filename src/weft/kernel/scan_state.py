"""Where a scan stops and why: what is new, what there is no room for, what is in doubt; and what lets it go on."""

import cython
import numpy as np

from weft.kernel.arrays import wider, zeros

if not cython.compiled:  # compiled, these are those of the .pxd
    from weft.kernel.scan_columns import ScanColumns
    from weft.kernel.written_names import WrittenNames

    DONE, DOUBT, NEW, FULL = range(4)  # what the scan comes to
    OF_ELEMENT, OF_ATTRIBUTE, OF_DECLARATION, SCOPES = range(4)  # what is written, and how many kinds of it there are
    PARTS, PATHS = 5, 6  # there is no more room for: attributes and declarations of one tag, paths of names


@cython.cclass
class ScanState(ScanColumns):
    """The nodes so far and the names that are known; `resolver` says what new names and declarations are."""

    def __init__(self, resolver):
        ScanColumns.__init__(self)
        self.resolver, self.names = resolver, WrittenNames()
        self.written_at, self.written_size = zeros(64, np.int64), zeros(64, np.int64)
        self.declared_at, self.declared_size = zeros(64, np.int64), zeros(64, np.int64)
        self.seen, self.tags_seen = zeros(1024, np.int64), 0

    def limit(self, most_depth: int, most_attributes: int, most_nodes: int) -> None:
        """A document with more of anything is left to expat, which knows how to say so."""
        self.most_depth, self.most_attributes, self.most_nodes = most_depth, most_attributes, most_nodes

    @cython.cfunc
    @cython.exceptval(-1)
    def add_new(self, written: bytes) -> cython.int:
        """Ask what is new, and know it from now on; 0 if nothing can be known of it."""
        context, kind = divmod(self.new_scope, SCOPES)
        if kind == OF_DECLARATION:
            numbers = self.resolver.declaration(written, context)
        else:
            numbers = self.resolver.name(written, context, kind == OF_ATTRIBUTE)
        if numbers is None:
            return 0
        self.names.add(written, self.new_scope, *numbers)
        if max(numbers) >= len(self.seen):
            self.seen = wider(self.seen, max(numbers))
        return 1

    def known(self) -> int:
        """How many names and declarations are known; 64 bytes of them count as one more."""
        return len(self.names) + self.names.memory() // 64

    @cython.cfunc
    @cython.exceptval(-1)
    def widen_tag(self) -> cython.int:
        """Room for twice as many attributes and declarations in one tag."""
        self.written_at, self.written_size = wider(self.written_at), wider(self.written_size)
        self.declared_at, self.declared_size = wider(self.declared_at), wider(self.declared_size)
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.inline
    @cython.exceptval(check=False)
    def doubt(self) -> cython.Py_ssize_t:
        self.status = DOUBT
        return -1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def stop_for_room(self, p: cython.Py_ssize_t, full: cython.int) -> cython.Py_ssize_t:
        """Go on at a place when there is room for more of something."""
        self.status, self.p, self.full = FULL, p, full
        return -1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def stop_for_name(
        self, p: cython.Py_ssize_t, at: cython.Py_ssize_t, size: cython.Py_ssize_t, scope: cython.longlong
    ) -> cython.Py_ssize_t:
        """Go on at a place when it is known what is written at another."""
        self.status, self.p = NEW, p
        self.new_at, self.new_size, self.new_scope = at, size, scope
        return -1
