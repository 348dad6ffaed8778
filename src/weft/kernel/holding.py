"""Pairs (node of the shared plan, node of the document) in, whether they hold out; each is found out once."""

import cython

from weft.kernel.row_heap import TooMuchError

if not cython.compiled:  # compiled, these are those of the .pxd
    from weft.kernel.codes import AND, CHECK, CHECK_END, CHILD, CODE, DOWN, EDGE, ELEMENT, EXISTS, FALSE, FIRST, INNER
    from weft.kernel.codes import KIND, LIFT, LINKED, NAMED, OPERATOR, OR, PARENT, PROBED, RANK, READING, STEP, STEP_END
    from weft.kernel.codes import TEST, TRUE
    from weft.kernel.plan_lists import PlanLists
    from weft.kernel.plan_tables import PlanTables
    from weft.kernel.values import NodeValues, compared

DEEPEST = cython.declare(cython.int, 400)
DEEPEST = 400  # nodes in nodes that are looked into: more would be too much for the stack


@cython.cclass
class Holding(NodeValues):
    """What holds in a batch."""

    def __init__(self, plan: PlanTables, lists: PlanLists):
        NodeValues.__init__(self, plan, lists)
        self.inside = 0

    def begin(self, source, columns: dict, steps: int) -> None:
        """Another batch."""
        NodeValues.begin(self, source, columns, steps)
        self.inside = 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=True)
    def holds(self, node: cython.int, row: cython.int) -> cython.int:
        """Whether a node of the plan holds at a node of the document that its state reaches."""
        slot: cython.Py_ssize_t
        kind: cython.int = self.plan.nodes[node, KIND]
        if kind == TEST and self.plan.nodes[node, READING] != PROBED:
            return self.passes(node, row)
        if self.lacks(node, row):
            return 0
        slot = self.slot(node, row)
        if self.cells[slot] & (TRUE | FALSE):
            return (self.cells[slot] & TRUE) != 0
        self.step(1)
        if self.inside > DEEPEST:
            with cython.gil:
                raise TooMuchError
        self.inside += 1
        room: cython.ulonglong = self.mask
        answer: cython.int = self.find(kind, node, row)
        self.inside -= 1
        if self.mask != room:  # the table has grown
            slot = self.slot(node, row)
        self.cells[slot] |= TRUE if answer else FALSE
        return answer

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=True)
    def find(self, kind: cython.int, node: cython.int, row: cython.int) -> cython.int:
        at: cython.int
        part: cython.int
        if kind == AND:
            part = self.plan.nodes[node, CHILD]
            if part >= 0 and not self.holds(part, row):
                return 0
            return self.are_met(node, row)
        if kind == OR:
            for at in range(self.plan.nodes[node, CHECK], self.plan.nodes[node, CHECK_END]):
                if self.holds(self.plan.checks[at], row):
                    return 1
            return 0
        if kind == EXISTS or kind == LIFT:
            return self.leads(node, self.plan.edges[self.plan.nodes[node, EDGE], STEP], row, 0, False)
        if kind == FIRST:
            part = self.first_below(self.plan.nodes[node, EDGE], row)
            return self.holds(self.plan.nodes[node, CHILD], part) if part >= 0 else 0
        if kind == DOWN:
            part = self.plan.nodes[node, CHILD]
            if part >= 0 and not self.holds(part, row):
                return 0
            return self.is_below(node, row)
        if kind == RANK:
            return self.rank(node, row)
        if kind == LINKED:
            return self.linked(node, row)
        if kind == NAMED:
            with cython.gil:
                return self.source.is_named(node, self.names[row])
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=True)
    def are_met(self, node: cython.int, row: cython.int) -> cython.int:
        """Whether the parts of an AND hold, but for its driver."""
        at: cython.int
        for at in range(self.plan.nodes[node, CHECK], self.plan.nodes[node, CHECK_END]):
            if (self.holds(self.plan.checks[at], row) != 0) == (self.plan.is_negated[at] != 0):
                return 0
        return 1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=True)
    def is_below(self, node: cython.int, row: cython.int) -> cython.int:
        """Whether a pattern's edge that ends at the row begins where the parent pattern holds."""
        base: cython.Py_ssize_t = self.heap_size
        self.above(self.plan.nodes[node, EDGE], row)
        at: cython.Py_ssize_t
        end: cython.Py_ssize_t = self.heap_size
        answer: cython.int = 0
        for at in range(base, end):
            if self.holds(self.plan.nodes[node, PARENT], self.heap[at]):
                answer = 1
                break
        self.heap_size = base
        return answer

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
        size: cython.double = kept - base
        for at in range(base, kept):
            limit: cython.double = size if self.plan.nodes[node, READING] else self.plan.number[node]
            is_met: cython.bint = compared(self.plan.nodes[node, OPERATOR], at - base + 1, limit)
            if is_met and self.heap[at] == row:
                answer = 1
            slot: cython.Py_ssize_t = self.slot(node, self.heap[at])
            self.cells[slot] |= TRUE if is_met else FALSE
        self.heap_size = base
        return answer

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=True)
    def linked(self, node: cython.int, row: cython.int) -> cython.int:
        """What a chain of edges leads to: how many nodes, or whether the first passes a test."""
        base: cython.Py_ssize_t = self.heap_size
        self.push(row)
        at: cython.longlong
        place: cython.Py_ssize_t
        start: cython.Py_ssize_t = base
        end: cython.Py_ssize_t
        kept: cython.Py_ssize_t
        chain: cython.int = self.plan.nodes[node, CODE]
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
        number: cython.Py_ssize_t = self.heap_size - start
        answer: cython.int = 0
        if number:
            if self.plan.nodes[node, READING]:
                answer = compared(self.plan.nodes[node, OPERATOR], number, self.plan.number[node])
            else:
                with cython.gil:
                    answer = self.source.passes_first(node, self.heap[start])
        self.heap_size = base
        return answer

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=True)
    def leads(
        self, node: cython.int, at: cython.int, row: cython.int, place: cython.int, is_shared: cython.bint
    ) -> cython.int:
        """Whether the steps of a node's edge, from one of them on, lead to where its child holds.

        What is known of a row is remembered where others may lead there too: behind a deep step.
        """
        slot: cython.Py_ssize_t = 0
        room: cython.ulonglong = self.mask
        answer: cython.int
        if is_shared:
            slot = self.slot(self.plan.nodes[node, INNER] + place, row)
            room = self.mask
            if self.cells[slot] & (TRUE | FALSE):
                return (self.cells[slot] & TRUE) != 0
        if self.plan.steps[at] & 6 == ELEMENT:
            answer = self.leads_by_elements(node, at, row, place, is_shared)
        else:
            answer = self.leads_by_others(node, at, row)
        if is_shared:
            if self.mask != room:  # the table has grown
                slot = self.slot(self.plan.nodes[node, INNER] + place, row)
            self.cells[slot] |= TRUE if answer else FALSE
        return answer

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=True)
    def leads_by_elements(
        self, node: cython.int, at: cython.int, row: cython.int, place: cython.int, is_shared: cython.bint
    ) -> cython.int:
        """The same where the step is one to elements: they are gone over until one leads on."""
        step: cython.int = self.plan.steps[at]
        symbol: cython.int = (step >> 3) - 1
        child: cython.int = self.plan.nodes[node, CHILD]
        is_end: cython.bint = at + 1 == self.plan.edges[self.plan.nodes[node, EDGE], STEP_END]
        last: cython.int = self.last[row] if row < self.elements else -1
        answer: cython.int = 0
        below: cython.int = row + 1
        word: cython.int = (symbol >> 6) & 1
        bit: cython.int = symbol & 63
        is_shared = is_shared or step & 1
        while below <= last:
            # A name has the bit of each label test that it passes; most names are told apart by that.
            if symbol < 0 or ((self.name_masks[self.names[below], word] >> bit) & 1 and self.is_passed(symbol, below)):
                if not is_end:
                    answer = self.leads(node, at + 1, below, place + 1, is_shared)
                elif child < 0:
                    answer = 1
                else:
                    answer = self.holds(child, below)
                if answer:
                    break
            if step & 1:
                below += 1
            else:
                below = self.last[below] + 1
                self.left -= 1
        self.step((below - row) >> 4 if step & 1 else 0)
        return answer

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=True)
    def leads_by_others(self, node: cython.int, at: cython.int, row: cython.int) -> cython.int:
        """The same where it is one to attributes or texts: nothing is below these."""
        base: cython.Py_ssize_t = self.heap_size
        child: cython.int = self.plan.nodes[node, CHILD]
        answer: cython.int = 0
        each: cython.Py_ssize_t
        if at + 1 < self.plan.edges[self.plan.nodes[node, EDGE], STEP_END]:
            return 0
        self.reach(self.plan.steps[at], row)
        for each in range(base, self.heap_size):
            answer = 1 if child < 0 else self.holds(child, self.heap[each])
            if answer:
                break
        self.heap_size = base
        return answer
