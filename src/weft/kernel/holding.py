"""Pairs (node of the shared plan, node of the document) in, whether they hold out; each is found out once."""

import cython

from weft.kernel.row_heap import TooMuchError

if not cython.compiled:  # compiled, these are those of the .pxd
    from weft.kernel.codes import AND, ASKED, CHECK, CHECK_END, CHILD, DOWN, EDGE, ELEMENT, EXISTS, FALSE, FIRST, INNER
    from weft.kernel.codes import KIND, LIFT, MET, NAMED, NOTED, OR, PARENT, PROBED, READING, STEP, STEP_END, TEST, TRUE
    from weft.kernel.codes import WORKED
    from weft.kernel.counting import Counting
    from weft.kernel.plan_lists import PlanLists
    from weft.kernel.plan_tables import PlanTables

DEEPEST = cython.declare(cython.int, 400)
DEEPEST = 400  # nodes in nodes that are looked into: more would be too much for the stack


@cython.cclass
class Holding(Counting):
    """What holds in a batch."""

    def __init__(self, plan: PlanTables, lists: PlanLists):
        Counting.__init__(self, plan, lists)
        self.inside, self.is_rising = 0, False

    def begin(self, source, columns: dict, steps: int) -> None:
        """Another batch."""
        Counting.begin(self, source, columns, steps)
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
        if kind == NOTED:
            if self.is_rising:
                return 0
            kind = LIFT
        if self.is_counting:
            self.counts[self.group[node], WORKED] += 1
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
        """What is not known yet; `Measuring` has more kinds."""
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
        if kind == NAMED:
            if row >= self.elements:  # attributes and texts pass no label test
                return 0
            with cython.gil:
                return self.source.is_named(node, self.names[row])
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=True)
    def are_met(self, node: cython.int, row: cython.int) -> cython.int:
        """Whether the parts of an AND hold, but for its driver."""
        at: cython.int
        is_met: cython.bint
        for at in range(self.plan.nodes[node, CHECK], self.plan.nodes[node, CHECK_END]):
            is_met = self.holds(self.plan.checks[at], row) != 0
            if self.is_counting:
                self.counts[self.group[self.plan.checks[at]], ASKED] += 1
                self.counts[self.group[self.plan.checks[at]], MET] += is_met
            if is_met == (self.plan.is_negated[at] != 0):
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
