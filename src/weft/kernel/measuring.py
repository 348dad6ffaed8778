"""Rows in, their numbers out: how many nodes a chain of edges leads to, or the position among siblings.

A number is worked out once for a row, whoever compares it with whatever constant.
"""

import cython

if not cython.compiled:  # compiled, these are those of the .pxd
    from weft.kernel.codes import CHILD, CODE, COMPARED, COUNT, DERIVED, FROM_END, LINKED, MEASURE, OPERATOR, READING
    from weft.kernel.codes import TRUE
    from weft.kernel.holding import Holding
    from weft.kernel.values import compared


@cython.cclass
class Measuring(Holding):
    """The measures of a batch, and what else follows chains."""

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=True)
    def find(self, kind: cython.int, node: cython.int, row: cython.int) -> cython.int:
        measure: cython.int
        if kind == MEASURE:
            return self.measure(node, row)
        if kind == COMPARED:
            measure = self.plan.nodes[node, CHILD]
            if not self.holds(measure, row):
                return 0
            return compared(self.plan.nodes[node, OPERATOR], self.number_of(measure, row), self.plan.number[node])
        if kind == LINKED:
            return self.linked(node, row)
        if kind == DERIVED:
            with cython.gil:
                return self.source.derives(node, row)
        return Holding.find(self, kind, node, row)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=True)
    def measure(self, node: cython.int, row: cython.int) -> cython.int:
        """Find out what number a row has, if it has one: where a measure holds, `number_of` tells it."""
        if self.plan.nodes[node, READING] != COUNT:
            return self.rank(node, row)
        base: cython.Py_ssize_t = self.heap_size
        start: cython.Py_ssize_t = self.follow_chain(self.plan.nodes[node, CODE], row)
        number: cython.int = self.heap_size - start
        self.heap_size = base
        self.put_number(node, row, number)
        return number > 0 or self.plan.nodes[node, CHILD] < 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=True)
    def rank(self, node: cython.int, row: cython.int) -> cython.int:
        """A position among the siblings that the state reaches and the inner test passes; all are told at once."""
        base: cython.Py_ssize_t = self.heap_size
        inner: cython.int = self.plan.nodes[node, CHILD]
        answer: cython.int = 0
        at: cython.Py_ssize_t
        kept: cython.Py_ssize_t = base
        if self.parents[row] < 0:
            if inner < 0 or self.holds(inner, row):
                self.push(row)
                kept += 1
        else:
            self.children(self.parents[row], row, self.plan.nodes[node, CODE])
            for at in range(base, self.heap_size):
                if inner < 0 or self.holds(inner, self.heap[at]):
                    self.heap[kept] = self.heap[at]
                    kept += 1
        for at in range(base, kept):
            if self.heap[at] == row:
                answer = 1
            if self.plan.nodes[node, READING] == FROM_END:
                self.put_number(node, self.heap[at], at - kept + 1)
            else:
                self.put_number(node, self.heap[at], at - base + 1)
            self.cells[self.slot(node, self.heap[at])] |= TRUE
        self.heap_size = base
        return answer

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=True)
    def put_number(self, node: cython.int, row: cython.int, number: cython.int) -> cython.int:
        """Remember what a measure is at a row."""
        slot: cython.Py_ssize_t = self.slot(node, row)  # before the numbers are, which may move
        self.numbers[slot >> 1] = number
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=True)
    def number_of(self, node: cython.int, row: cython.int) -> cython.int:
        """What a measure is at a row at which it holds."""
        slot: cython.Py_ssize_t = self.slot(node, row)
        return self.numbers[slot >> 1]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=True)
    def linked(self, node: cython.int, row: cython.int) -> cython.int:
        """Whether the first node that a chain leads to passes a test, which Python looks at."""
        base: cython.Py_ssize_t = self.heap_size
        start: cython.Py_ssize_t = self.follow_chain(self.plan.nodes[node, CODE], row)
        answer: cython.int = 0
        if self.heap_size > start:
            with cython.gil:
                answer = self.source.passes_first(node, self.heap[start])
        self.heap_size = base
        return answer

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=True)
    def follow_chain(self, chain: cython.int, row: cython.int) -> cython.Py_ssize_t:
        """Onto the heap: what a chain of edges leads to, in document order, behind what lies on the way; its start."""
        self.push(row)
        at: cython.longlong
        place: cython.Py_ssize_t
        end: cython.Py_ssize_t
        kept: cython.Py_ssize_t
        start: cython.Py_ssize_t = self.heap_size - 1
        for at in range(self.plan.chain_start[chain], self.plan.chain_start[chain + 1]):
            end = self.heap_size
            for place in range(start, end):
                self.below(self.plan.chain_edges[at], self.heap[place])
            self.sort(end)
            kept = end
            for place in range(end, self.heap_size):
                if self.plan.chain_nodes[at] < 0 or self.holds(self.plan.chain_nodes[at], self.heap[place]):
                    self.heap[kept] = self.heap[place]
                    kept += 1
            self.heap_size = kept
            start = end
        return start
