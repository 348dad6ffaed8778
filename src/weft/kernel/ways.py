"""Edges of the shared plan and nodes of a batch in, the nodes at their other ends out, on a heap.

Who asks remembers where the heap was, reads what has come since, and cuts it back. Nothing here needs Python's lock but
for more room.
"""

import cython

from weft.kernel.arrays import held

if not cython.compiled:  # compiled, these are those of the .pxd
    from weft.kernel.row_heap import RowHeap
    from weft.kernel.codes import ABOVE, ATTRIBUTE, ELEMENT, STEP, STEP_END, UP


@cython.cclass
class NodeWays(RowHeap):
    """The ways along edges."""

    def begin(self, source, columns: dict, steps: int) -> None:
        """Another batch; `source` is asked for what only Python knows, `steps` are what it may take."""
        RowHeap.begin(self, columns)
        self.source, self.left, self.heap_size = source, steps, 0

    def end(self) -> None:
        """Nobody asks for this batch any more."""
        self.source = None
        RowHeap.end(self)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=True)
    def above(self, edge: cython.int, row: cython.int) -> cython.int:
        """Onto the heap: where an edge that ends at a row can begin."""
        ups: cython.int = self.plan.edges[edge, UP]
        one: cython.ulonglong = 1
        self.step(1)
        if ups:
            while ups:
                row = self.parents[row]
                ups -= 1
            return self.push(row)
        owner: cython.int = row if row < self.elements else self.parents[row]
        if self.depth[owner] >= 63:
            with cython.gil:
                return self.far_above(edge, row, owner)
        wanted: cython.ulonglong = self.depths_of(edge, row)
        while wanted and owner >= 0:
            if (wanted >> self.depth[owner]) & 1:
                self.push(owner)
                wanted &= (one << self.depth[owner]) - 1
            owner = self.parents[owner]
            self.left -= 1
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(1, check=True)
    def depths_of(self, edge: cython.int, row: cython.int) -> cython.ulonglong:
        """The depths, as bits, at which a deep edge that ends at a row can begin; remembered by label path."""
        key: cython.longlong = edge
        key = (key << 32) | self.labels[row]
        known: cython.int = self.lists.begins.find(key)
        if known >= 0:
            return self.lists.begin_bits[known]
        found: cython.ulonglong = self.begins(edge, row)
        self.lists.remember_begins(key, found)
        return found

    @cython.cfunc
    @cython.exceptval(-1)
    def far_above(self, edge: cython.int, row: cython.int, owner: cython.int) -> cython.int:
        """The same where the row lies deep; Python knows at which depths the edge can begin."""
        wanted: cython.int[::1] = held(self.source.depths(self.labels[row], edge))
        at: cython.int
        self.step(wanted.shape[0])
        for at in range(wanted.shape[0] - 1, -1, -1):
            while self.depth[owner] > wanted[at]:
                owner = self.parents[owner]
            self.push(owner)
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def begins(self, edge: cython.int, row: cython.int) -> cython.ulonglong:
        """The depths, as bits, at which a deep edge that ends at a row can begin; the label path decides it."""
        one: cython.ulonglong = 1
        end: cython.int = self.depth[row] if row < self.elements else self.depth[self.parents[row]] + 1
        can: cython.ulonglong = one << end
        before: cython.ulonglong
        at: cython.int
        above: cython.int
        highest: cython.int
        for at in range(self.plan.edges[edge, STEP_END] - 1, self.plan.edges[edge, STEP] - 1, -1):
            if can == 0:
                return 0
            if self.plan.steps[at] & 1:
                highest = 63
                while not (can >> highest) & 1:
                    highest -= 1
                before = (one << highest) - 1
            else:
                before = can >> 1
            if at > self.plan.edges[edge, STEP]:
                can = 0
                above = self.parents[row]
                while above >= 0:
                    if (before >> self.depth[above]) & 1 and self.is_passed((self.plan.steps[at - 1] >> 3) - 1, above):
                        can |= one << self.depth[above]
                    above = self.parents[above]
            else:
                can = before
        before = can
        can = 0
        above = self.parents[row]
        while above >= 0:
            if (before >> self.depth[above]) & 1 and self.is_context(self.plan.edges[edge, ABOVE], self.labels[above]):
                can |= one << self.depth[above]
            above = self.parents[above]
        return can

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def is_context(self, state: cython.int, label: cython.int) -> cython.bint:
        """Whether a state above deep edges is reached at a label path."""
        return self.lists.is_above(label, state)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=True)
    def below(self, edge: cython.int, row: cython.int) -> cython.int:
        """Onto the heap: where an edge that begins at a row ends, each node once, in document order."""
        base: cython.Py_ssize_t = self.heap_size
        start: cython.Py_ssize_t = base
        first: cython.int = self.plan.edges[edge, STEP]
        at: cython.int
        place: cython.Py_ssize_t
        end: cython.Py_ssize_t
        self.push(row)
        for at in range(first, self.plan.edges[edge, STEP_END]):
            end = self.heap_size
            for place in range(start, end):
                self.reach(self.plan.steps[at], self.heap[place])
            if at > first:  # a node may be reached in more than one way
                self.sort(end)
            start = end
        number: cython.Py_ssize_t = self.heap_size - start
        for place in range(number):
            self.heap[base + place] = self.heap[start + place]
        self.heap_size = base + number
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-2, check=True)
    def first_below(self, edge: cython.int, row: cython.int) -> cython.int:
        base: cython.Py_ssize_t = self.heap_size
        self.below(edge, row)
        answer: cython.int = self.heap[base] if self.heap_size > base else -1
        self.heap_size = base
        return answer

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=True)
    def reach(self, step: cython.int, row: cython.int) -> cython.int:
        """Onto the heap: the nodes that a step leads to from a row, in document order."""
        if row >= self.elements:
            return 0
        symbol: cython.int = (step >> 3) - 1
        kind: cython.int = (step >> 1) & 3
        if step & 1 == 0:
            if kind == ELEMENT:
                return self.child_elements(row, symbol)
            if kind == ATTRIBUTE:
                return self.span(self.attribute_start[row], self.attribute_start[row + 1], symbol)
            return self.own_texts(row, symbol)
        last: cython.int = self.last[row]
        if kind == ELEMENT:
            return self.span(row + 1, last + 1, symbol)
        if kind == ATTRIBUTE:
            return self.span(self.attribute_start[row], self.attribute_start[last + 1], symbol)
        return self.span(self.text_first[row] + self.first_text, self.text_last[row] + self.first_text, symbol)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=True)
    def children(self, parent: cython.int, like: cython.int, symbol: cython.int) -> cython.int:
        """Onto the heap: the children of the kind of one of them whose names pass a label test."""
        if like < self.elements:
            return self.child_elements(parent, symbol)
        if like < self.first_text:
            return self.span(self.attribute_start[parent], self.attribute_start[parent + 1], symbol)
        return self.own_texts(parent, symbol)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=True)
    def child_elements(self, row: cython.int, symbol: cython.int) -> cython.int:
        at: cython.int = row + 1
        last: cython.int = self.last[row]
        while at <= last:
            if self.is_passed(symbol, at):
                self.push(at)
            at = self.last[at] + 1
            self.left -= 1
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=True)
    def span(self, first: cython.int, end: cython.int, symbol: cython.int) -> cython.int:
        at: cython.int
        self.step((end - first) // 16)
        for at in range(first, end):
            if self.is_passed(symbol, at):
                self.push(at)
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=True)
    def own_texts(self, row: cython.int, symbol: cython.int) -> cython.int:
        at: cython.int
        for at in range(self.text_start[row], self.text_start[row + 1]):
            if self.is_passed(symbol, self.text_nodes[at]):
                self.push(self.text_nodes[at])
        self.left -= 1
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.inline
    @cython.exceptval(check=False)
    def is_passed(self, symbol: cython.int, row: cython.int) -> cython.bint:
        """Whether a node's name passes a label test; -1 is `*`."""
        if symbol < 0:
            return True
        name: cython.int = self.names[row]
        at: cython.int
        for at in range(self.symbol_start[name], self.symbol_start[name + 1]):
            if self.symbols[at] == symbol:
                return True
        return False
