"""A shared plan as columns, for the compiled evaluation; `plan_tables.pxd` tells what each is."""

import cython
import numpy as np

from weft.kernel.arrays import held, lined_up

if not cython.compiled:  # compiled, these are those of the .pxd
    from weft.kernel.codes import AIM, AND, BELOW, BY_TEST, CHECK, CHECK_END, CHILD, DOWN, DRIVEN, EDGE, EXISTS, FIRST
    from weft.kernel.codes import COMPARED, FORM, IS_NOTED, IS_RESULT, KIDS, KIND, LIFT, LINKED, MEASURE, NOTED, OR
    from weft.kernel.codes import PARENT, RISE, STEP, STEP_END, UP, WAY, WHOLE

MOST_UP = cython.declare(cython.int, 100)
MOST_UP = 100  # levels that a record can say; where an edge begins further up, it says that this differs


@cython.cclass
class PlanTables:
    """The nodes and edges of a shared plan; never changed.

    What is read of a node together lies together: a record is one line of the cache. Names that nodes need are bits,
    several names may share one: what is missing is missing, what is there may be another.
    """

    def __init__(self, columns: dict):
        """The records of nodes are made for this, and kept as they are; `mask` is to be called before it is read."""
        nodes, number = np.asarray(columns["nodes"]), len(columns["nodes"])
        self.nodes, self.masks = held(nodes), held(nodes.view(np.uint64))
        self.drive_masks = lined_up(number, 8, np.uint64)
        drives = np.asarray(self.drive_masks)
        self.drives, self.forms = held(drives.view(np.int32)), held(drives.view(np.int8))
        self.edges, self.result, self.results = held(columns["edges"]), held(columns["result"]), columns["results"]
        self.dependent_start = held(columns["dependent_start"])
        self.dependents = held(np.array(columns["dependents"]))
        self.checks = held(columns["checks"])
        self.is_negated = held(columns["is_negated"])
        self.number = held(columns["number"])
        self.chain_start = held(columns["chain_start"])
        self.chain_edges = held(columns["chain_edges"])
        self.chain_nodes = held(columns["chain_nodes"])
        self.steps = held(columns["steps"])
        self.by_test, self.is_lifted = held(columns["by_test"]), held(columns["is_lifted"])
        self.is_in, self.has_in = held(columns["is_in"]), bool(np.any(columns["is_in"]))

    def mask(self, number: int):
        """Find the names that nodes need, and what comes of them, so many nodes a step."""
        size = self.nodes.shape[0]
        for begin in range(0, size, number):  # parts have smaller numbers than what is made of them
            self.need_all(begin, min(begin + number, size))
            yield
        for end in range(size, 0, -number):
            self.drive_all(max(end - number, 0), end)
            yield
        for begin in range(0, size, number):
            self.end_all(begin, min(begin + number, size))
            yield

    @cython.cfunc
    @cython.exceptval(check=False)
    def need_all(self, begin: cython.int, end: cython.int) -> cython.void:
        node: cython.int
        for node in range(begin, end):
            self.need(node)

    @cython.cfunc
    @cython.exceptval(check=False)
    def drive_all(self, begin: cython.int, end: cython.int) -> cython.void:
        node: cython.int
        for node in range(end - 1, begin - 1, -1):
            self.drive(node)

    @cython.cfunc
    @cython.exceptval(check=False)
    def end_all(self, begin: cython.int, end: cython.int) -> cython.void:
        """In a list of what a node drives the last one is marked; what is retrieved by itself is known as such."""
        node: cython.int
        last: cython.longlong
        for node in range(begin, end):
            last = self.dependent_start[node + 1] - 1
            if self.dependent_start[node] <= last:
                self.dependents[last] = ~self.dependents[last]
            if self.is_in[node]:
                self.nodes[node, KIND] = NOTED

    # -- where nodes are asked for

    @cython.cfunc
    @cython.exceptval(check=False)
    def need(self, node: cython.int) -> cython.void:
        """The names that must lie below a row for a node to hold there, and in the document at all."""
        kind: cython.int = self.nodes[node, KIND]
        at: cython.int
        word: cython.int
        part: cython.int = self.nodes[node, CHILD]
        if kind == EXISTS or kind == LIFT or kind == FIRST:
            self.need_edge(self.masks, node)
        elif part >= 0 and (kind == AND or kind == DOWN):
            self.need_part(node, part)
        elif part >= 0 and (kind == MEASURE or kind == COMPARED or kind == LINKED):
            self.need_part(node, part)
        if kind == AND:
            for at in range(self.nodes[node, CHECK], self.nodes[node, CHECK_END]):
                if not self.is_negated[at]:
                    self.need_part(node, self.checks[at])
        elif kind == OR:
            self.need_common(node)
        for word in range(2):
            self.drive_masks[node, WHOLE + word] = self.masks[node, BELOW + word]
        if kind == DOWN:
            for at in range(self.edges[self.nodes[node, EDGE], STEP], self.edges[self.nodes[node, EDGE], STEP_END]):
                self.need_step(self.drive_masks, node, WHOLE, self.steps[at])
            for word in range(2):
                self.drive_masks[node, WHOLE + word] |= self.drive_masks[self.nodes[node, PARENT], WHOLE + word]

    @cython.cfunc
    @cython.exceptval(check=False)
    def need_part(self, node: cython.int, part: cython.int) -> cython.void:
        """What a part at the same row needs."""
        word: cython.int
        for word in range(WHOLE):
            self.masks[node, word] |= self.masks[part, word]

    @cython.cfunc
    @cython.exceptval(check=False)
    def need_common(self, node: cython.int) -> cython.void:
        """What all parts of an OR need."""
        at: cython.int
        word: cython.int
        for word in range(WHOLE):
            self.masks[node, word] = self.masks[self.checks[self.nodes[node, CHECK]], word]
            for at in range(self.nodes[node, CHECK] + 1, self.nodes[node, CHECK_END]):
                self.masks[node, word] &= self.masks[self.checks[at], word]

    @cython.cfunc
    @cython.exceptval(check=False)
    def need_edge(self, masks: cython.ulonglong[:, ::1], node: cython.int) -> cython.void:
        """The names along a node's edge, and what is needed below where it ends."""
        first: cython.int = self.edges[self.nodes[node, EDGE], STEP]
        at: cython.int
        word: cython.int
        part: cython.int = self.nodes[node, CHILD]
        if part >= 0:
            for word in range(2):
                masks[node, BELOW + word] |= self.masks[part, BELOW + word]
        for at in range(first, self.edges[self.nodes[node, EDGE], STEP_END]):
            self.need_step(masks, node, BELOW, self.steps[at])
            if at == first and not self.steps[at] & 1:
                self.need_step(masks, node, KIDS, self.steps[at])

    @cython.cfunc
    @cython.exceptval(check=False)
    def need_step(
        self, masks: cython.ulonglong[:, ::1], node: cython.int, words: cython.int, step: cython.int
    ) -> cython.void:
        symbol: cython.int = (step >> 3) - 1
        one: cython.ulonglong = 1
        if symbol >= 0:
            masks[node, words + ((symbol >> 6) & 1)] |= one << (symbol & 63)

    # -- where they come up

    @cython.cfunc
    @cython.exceptval(check=False)
    def drive(self, node: cython.int) -> cython.void:
        """The record of a node where it comes up; those of what it drives, which have larger numbers, are made."""
        first: cython.longlong = self.dependent_start[node]
        end: cython.longlong = self.dependent_start[node + 1]
        kind: cython.int = LIFT if self.is_lifted[node] else self.nodes[node, KIND]
        edge: cython.int = self.nodes[node, EDGE]
        word: cython.int
        self.drives[node, WAY], self.forms[node, FORM] = edge, kind
        self.forms[node, RISE] = self.edges[edge, UP] if edge >= 0 and self.edges[edge, UP] <= MOST_UP else 0
        self.forms[node, IS_RESULT], self.forms[node, BY_TEST] = self.result[node] >= 0, self.by_test[node]
        if first < end:
            self.drives[node, DRIVEN] = first + 1
        if self.is_in[node]:  # all of it is noted, whatever comes of it
            self.forms[node, IS_NOTED] = 1
        elif first == end:
            self.drives[node, AIM] = self.result[node] + 1
        elif self.result[node] < 0:
            self.aim(node, first, end)
        if kind == DOWN and not self.by_test[node]:  # it comes up at the row above, which all of its edge lies below
            for word in range(2):
                self.drive_masks[node, BELOW + word] |= self.drive_masks[node, KIDS + word]
                self.drive_masks[node, KIDS + word] = 0
            self.need_edge(self.drive_masks, node)
        elif kind != LIFT and kind != FIRST:
            for word in range(WHOLE):
                self.drive_masks[node, word] |= self.masks[node, word]

    @cython.cfunc
    @cython.exceptval(check=False)
    def aim(self, node: cython.int, first: cython.longlong, end: cython.longlong) -> cython.void:
        """What a row and a document must have for anything to come of a node; and the result, if it can only be one."""
        at: cython.longlong
        word: cython.int
        kind: cython.int
        wanted: cython.ulonglong
        aim: cython.int = self.drives[self.dependents[first], AIM]
        for at in range(first + 1, end):
            if self.drives[self.dependents[at], AIM] != aim:
                aim = 0
        self.drives[node, AIM] = aim
        for word in range(WHOLE + 2):
            wanted = 0
            wanted = ~wanted
            for at in range(first, end):
                kind = self.forms[self.dependents[at], FORM]
                if word < WHOLE and (kind == LIFT or kind == FIRST):  # theirs are told of the rows further up
                    wanted = 0
                else:
                    wanted &= self.drive_masks[self.dependents[at], word]
            self.drive_masks[node, word] |= wanted
