# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False, nonecheck=False
"""Pairs (node of the shared plan, node of the document) in, whether they hold out; each is found out once."""

import cython

from weft.kernel.ways import TooMuchError

if not cython.compiled:  # compiled, the types are those of the .pxd
    from weft.kernel.plan_lists import PlanLists
    from weft.kernel.plan_tables import PlanTables
    from weft.kernel.values import NodeValues

# The kinds of nodes, as weft.engine.shared.nodes.NodeKind has them.
NEVER = cython.declare(cython.int, 0)
TEST = cython.declare(cython.int, 1)
NAMED = cython.declare(cython.int, 2)
EXISTS = cython.declare(cython.int, 3)
LIFT = cython.declare(cython.int, 4)
FIRST = cython.declare(cython.int, 5)
LINKED = cython.declare(cython.int, 6)
AND = cython.declare(cython.int, 7)
OR = cython.declare(cython.int, 8)
RANK = cython.declare(cython.int, 9)
DOWN = cython.declare(cython.int, 10)
NEVER, TEST, NAMED, EXISTS, LIFT, FIRST, LINKED, AND, OR, RANK, DOWN = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10
# Operators, as weft.engine.shared.nodes.COMPARISONS has them.
EQ = cython.declare(cython.int, 0)
NE = cython.declare(cython.int, 1)
LT = cython.declare(cython.int, 2)
LE = cython.declare(cython.int, 3)
GT = cython.declare(cython.int, 4)
GE = cython.declare(cython.int, 5)
EQ, NE, LT, LE, GT, GE = 0, 1, 2, 3, 4, 5
# How a value is read, as weft.engine.shared.comparisons.Reading has it; PROBED are tests whose facts came from outside.
TEXT = cython.declare(cython.int, 0)
DATE = cython.declare(cython.int, 3)  # the first of three types of instants
PROBED = cython.declare(cython.int, 6)
TEXT, DATE, PROBED = 0, 3, 6
# What is known of a pair.
FALSE = cython.declare(cython.int, 1)
TRUE = cython.declare(cython.int, 2)
FALSE, TRUE = 1, 2
DEEPEST = cython.declare(cython.int, 400)
DEEPEST = 400  # nodes in nodes that are looked into: more would be too much for the stack


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def compared(operator: cython.int, value: cython.double, other: cython.double) -> cython.bint:
    if operator == EQ:
        return value == other
    if operator == NE:
        return value != other
    if operator == LT:
        return value < other
    if operator == LE:
        return value <= other
    if operator == GT:
        return value > other
    return value >= other


@cython.cclass
class Holding(NodeValues):
    """What holds in a batch."""

    def __init__(self, plan: PlanTables, lists: PlanLists, source, columns: dict, steps: int):
        NodeValues.__init__(self, plan, lists, source, columns, steps)
        self.inside = 0

    @cython.cfunc
    @cython.exceptval(-1)
    def holds(self, node: cython.int, row: cython.int) -> cython.int:
        """Whether a node of the plan holds at a node of the document that its state reaches."""
        slot: cython.Py_ssize_t
        kind: cython.int = self.plan.kind[node]
        if kind == TEST and self.plan.reading[node] != PROBED:
            return self.passes(node, row)
        slot = self.slot(node, row, 0)
        if self.marks[slot]:
            return (self.marks[slot] & TRUE) != 0
        self.step(1)
        if self.inside > DEEPEST:
            raise TooMuchError
        self.inside += 1
        answer: cython.int = self.find(kind, node, row)
        self.inside -= 1
        slot = self.slot(node, row, 0)  # the table may have grown
        self.marks[slot] = self.marks[slot] | (TRUE if answer else FALSE)
        return answer

    @cython.cfunc
    @cython.exceptval(-1)
    def find(self, kind: cython.int, node: cython.int, row: cython.int) -> cython.int:
        plan: PlanTables = self.plan
        at: cython.longlong
        part: cython.int
        if kind == AND:
            part = plan.child[node]
            return (part < 0 or self.holds(part, row)) and self.are_met(node, row)
        if kind == OR:
            for at in range(plan.check_start[node], plan.check_start[node + 1]):
                if self.holds(plan.checks[at], row):
                    return 1
            return 0
        if kind == EXISTS or kind == LIFT:
            return self.leads(node, plan.step_start[plan.edge[node]], row, 0)
        if kind == FIRST:
            part = self.first_below(plan.edge[node], row)
            return part >= 0 and self.holds(plan.child[node], part)
        if kind == DOWN:
            if plan.test[node] >= 0 and not self.holds(plan.test[node], row):
                return 0
            return self.is_below(node, row)
        if kind == RANK:
            return self.rank(node, row)
        if kind == LINKED:
            return self.linked(node, row)
        if kind == NAMED:
            return self.source.is_named(node, self.names[row])
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def are_met(self, node: cython.int, row: cython.int) -> cython.int:
        """Whether the parts of an AND hold, but for its driver."""
        plan: PlanTables = self.plan
        at: cython.longlong
        for at in range(plan.check_start[node], plan.check_start[node + 1]):
            if (self.holds(plan.checks[at], row) != 0) == (plan.is_negated[at] != 0):
                return 0
        return 1

    @cython.cfunc
    @cython.exceptval(-1)
    def is_below(self, node: cython.int, row: cython.int) -> cython.int:
        """Whether a pattern's edge that ends at the row begins where the parent pattern holds."""
        plan: PlanTables = self.plan
        base: cython.Py_ssize_t = self.heap_size
        self.above(plan.edge[node], row)
        at: cython.Py_ssize_t
        end: cython.Py_ssize_t = self.heap_size
        answer: cython.int = 0
        for at in range(base, end):
            if self.holds(plan.parent[node], self.heap[at]):
                answer = 1
                break
        self.heap_size = base
        return answer

    @cython.cfunc
    @cython.exceptval(-1)
    def passes(self, node: cython.int, row: cython.int) -> cython.int:
        """Whether a value passes a comparison with a constant."""
        plan: PlanTables = self.plan
        reading: cython.int = plan.reading[node]
        operator: cython.int = plan.operator[node]
        if not (self.known[row] >> reading) & 1:
            self.read(row, reading)
        if reading == TEXT:
            code: cython.int = plan.code[node]
            if operator == EQ or operator == NE:
                return (self.low[row] <= code < self.high[row]) == (operator == EQ)
            if operator == LT:
                return code >= self.high[row]
            if operator == LE:
                return code >= self.low[row]
            if operator == GT:
                return code < self.low[row]
            return code < self.high[row]
        if reading >= DATE and self.instant_reading[row] != reading:
            return 0  # a value is of one type at most, and stands in no relation to the others
        return compared(operator, self.value(row, reading), plan.number[node])

    @cython.cfunc
    @cython.exceptval(-1)
    def rank(self, node: cython.int, row: cython.int) -> cython.int:
        """A position among the siblings that the state reaches and the inner test passes; all are told at once."""
        plan: PlanTables = self.plan
        base: cython.Py_ssize_t = self.heap_size
        inner: cython.int = plan.child[node]
        answer: cython.int = 0
        at: cython.Py_ssize_t
        kept: cython.Py_ssize_t = base
        if self.parents[row] < 0:
            if inner < 0 or self.holds(inner, row):
                self.push(row)
                kept += 1
        else:
            self.children(self.parents[row], row, plan.symbol[plan.state[node]])
            for at in range(base, self.heap_size):
                if inner < 0 or self.holds(inner, self.heap[at]):
                    self.heap[kept] = self.heap[at]
                    kept += 1
        size: cython.double = kept - base
        for at in range(base, kept):
            limit: cython.double = size if plan.is_last[node] else plan.number[node]
            is_met: cython.bint = compared(plan.operator[node], at - base + 1, limit)
            if is_met and self.heap[at] == row:
                answer = 1
            slot: cython.Py_ssize_t = self.slot(node, self.heap[at], 0)
            self.marks[slot] = self.marks[slot] | (TRUE if is_met else FALSE)
        self.heap_size = base
        return answer

    @cython.cfunc
    @cython.exceptval(-1)
    def linked(self, node: cython.int, row: cython.int) -> cython.int:
        """What a chain of edges leads to: how many nodes, or whether the first passes a test."""
        plan: PlanTables = self.plan
        base: cython.Py_ssize_t = self.heap_size
        self.push(row)
        at: cython.longlong
        place: cython.Py_ssize_t
        start: cython.Py_ssize_t = base
        end: cython.Py_ssize_t
        kept: cython.Py_ssize_t
        for at in range(plan.chain_start[node], plan.chain_start[node + 1]):
            end = self.heap_size
            for place in range(start, end):
                self.below(plan.chain_edges[at], self.heap[place])
            self.sort(end)
            kept = end
            for place in range(end, self.heap_size):
                if plan.chain_nodes[at] < 0 or self.holds(plan.chain_nodes[at], self.heap[place]):
                    self.heap[kept] = self.heap[place]
                    kept += 1
            self.heap_size = kept
            start = end
        number: cython.Py_ssize_t = self.heap_size - start
        answer: cython.int = 0
        if number:
            if plan.is_count[node]:
                answer = compared(plan.operator[node], number, plan.number[node])
            else:
                answer = self.source.passes_first(node, self.heap[start])
        self.heap_size = base
        return answer

    @cython.cfunc
    @cython.exceptval(-1)
    def leads(self, node: cython.int, at: cython.longlong, row: cython.int, place: cython.int) -> cython.int:
        """Whether the steps of a node's edge, from one of them on, lead to where its child holds."""
        plan: PlanTables = self.plan
        base: cython.Py_ssize_t = self.heap_size
        slot: cython.Py_ssize_t
        child: cython.int = plan.child[node] if plan.kind[node] == LIFT else -1
        is_end: cython.bint = at + 1 == plan.step_start[plan.edge[node] + 1]
        if place:
            slot = self.slot(node, row, place)
            if self.marks[slot]:
                return (self.marks[slot] & TRUE) != 0
        self.reach(plan.steps[at], row)
        each: cython.Py_ssize_t
        answer: cython.int = 0
        end: cython.Py_ssize_t = self.heap_size
        for each in range(base, end):
            if (
                (child < 0 or self.holds(child, self.heap[each]))
                if is_end
                else self.leads(node, at + 1, self.heap[each], place + 1)
            ):
                answer = 1
                break
        self.heap_size = base
        if place:
            slot = self.slot(node, row, place)
            self.marks[slot] = TRUE if answer else FALSE
        return answer
