# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False, nonecheck=False
"""A shared plan as columns, for the compiled evaluation; `plan_tables.pxd` tells what each is."""

import cython
import numpy as np

from weft.kernel.arrays import held, lined_up

if not cython.compiled:  # compiled, these are those of the .pxd
    from weft.kernel.codes import AIM, AND, BELOW, CHECK, CHECK_END, CHILD, DEPENDENT, DEPENDENT_END, DOWN, EDGE, EXISTS
    from weft.kernel.codes import FIRST, KIDS, KIND, LIFT, MASK_WORDS, OR, OWN_TEST, PARENT, RANK, RESULT, STEP
    from weft.kernel.codes import STEP_END, WHOLE


@cython.cclass
class PlanTables:
    """The nodes and edges of a shared plan; never changed.

    What is read of a node or an edge together lies together: a record of a node is one line of the cache. Names that
    nodes need are bits, several names may share one: what is missing is missing, what is there may be another.
    """

    def __init__(self, columns: dict):
        self.nodes, self.edges = lined_up(*columns["nodes"].shape, np.int32), held(columns["edges"])
        np.asarray(self.nodes)[:] = columns["nodes"]
        self.dependents = held(columns["dependents"])
        self.checks = held(columns["checks"])
        self.is_negated = held(columns["is_negated"])
        self.number = held(columns["number"])
        self.symbol = held(columns["symbol"])
        self.is_last = held(columns["is_last"])
        self.is_count = held(columns["is_count"])
        self.chain_start = held(columns["chain_start"])
        self.chain_edges = held(columns["chain_edges"])
        self.chain_nodes = held(columns["chain_nodes"])
        self.steps = held(columns["steps"])
        self.results = columns["results"]
        self.masks = lined_up(len(columns["nodes"]), MASK_WORDS, np.uint64)
        node: cython.int
        for node in range(self.nodes.shape[0]):  # parts have smaller numbers than what is made of them
            self.need(node)
        for node in range(self.nodes.shape[0] - 1, -1, -1):
            self.aim(node)
        for node in range(self.nodes.shape[0]):
            if self.nodes[node, KIND] == DOWN:  # considered from the row above, which all of its edge lies below
                self.need_edge(node)

    @cython.cfunc
    @cython.exceptval(check=False)
    def need(self, node: cython.int) -> cython.void:
        """The names that must lie below a row for a node to hold there, and in the document at all."""
        kind: cython.int = self.nodes[node, KIND]
        at: cython.int
        word: cython.int
        if kind == EXISTS or kind == LIFT or kind == FIRST:
            self.need_edge(node)
        elif kind == AND or kind == RANK:
            self.need_part(node, self.nodes[node, CHILD])
        elif kind == DOWN:
            self.need_part(node, self.nodes[node, OWN_TEST])
        if kind == AND:
            for at in range(self.nodes[node, CHECK], self.nodes[node, CHECK_END]):
                if not self.is_negated[at]:
                    self.need_part(node, self.checks[at])
        elif kind == OR:
            self.need_common(node)
        for word in range(2):
            self.masks[node, WHOLE + word] = self.masks[node, BELOW + word]
        if kind == DOWN:
            for at in range(self.edges[self.nodes[node, EDGE], STEP], self.edges[self.nodes[node, EDGE], STEP_END]):
                self.need_step(node, WHOLE, self.steps[at])
            for word in range(2):
                self.masks[node, WHOLE + word] |= self.masks[self.nodes[node, PARENT], WHOLE + word]

    @cython.cfunc
    @cython.exceptval(check=False)
    def need_part(self, node: cython.int, part: cython.int) -> cython.void:
        """What a part at the same row needs."""
        word: cython.int
        if part >= 0:
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
    def need_edge(self, node: cython.int) -> cython.void:
        """The names along a node's edge, and what is needed below where it ends; nothing else."""
        first: cython.int = self.edges[self.nodes[node, EDGE], STEP]
        at: cython.int
        word: cython.int
        part: cython.int = self.nodes[node, OWN_TEST if self.nodes[node, KIND] == DOWN else CHILD]
        for word in range(WHOLE):
            self.masks[node, word] = 0
        for word in range(2):
            if part >= 0:
                self.masks[node, BELOW + word] = self.masks[part, BELOW + word]
        for at in range(first, self.edges[self.nodes[node, EDGE], STEP_END]):
            self.need_step(node, BELOW, self.steps[at])
            if at == first and not self.steps[at] & 1:
                self.need_step(node, KIDS, self.steps[at])

    @cython.cfunc
    @cython.exceptval(check=False)
    def need_step(self, node: cython.int, words: cython.int, step: cython.int) -> cython.void:
        symbol: cython.int = (step >> 3) - 1
        one: cython.ulonglong = 1
        if symbol >= 0:
            self.masks[node, words + ((symbol >> 6) & 1)] |= one << (symbol & 63)

    @cython.cfunc
    @cython.exceptval(check=False)
    def aim(self, node: cython.int) -> cython.void:
        """What a document must have for anything to come of a node; and the result, where it can only be one."""
        first: cython.int = self.nodes[node, DEPENDENT]
        end: cython.int = self.nodes[node, DEPENDENT_END]
        at: cython.int
        word: cython.int
        wanted: cython.ulonglong
        if first == end:
            self.masks[node, AIM] = self.nodes[node, RESULT] + 1
            return
        if self.nodes[node, RESULT] >= 0:
            return
        aim: cython.ulonglong = self.masks[self.dependents[first], AIM]
        for at in range(first + 1, end):
            if self.masks[self.dependents[at], AIM] != aim:
                aim = 0
        self.masks[node, AIM] = aim
        for word in range(WHOLE, AIM):
            wanted = self.masks[self.dependents[first], word]
            for at in range(first + 1, end):
                wanted &= self.masks[self.dependents[at], word]
            self.masks[node, word] |= wanted
