"""A batch's columns in, what else is to be known of its nodes out: their attributes and texts, the names below them."""

import cython
import numpy as np

from weft.kernel.arrays import held, zeros

if not cython.compiled:  # compiled, these are those of the .pxd
    from weft.kernel.codes import BELOW, KIDS
    from weft.kernel.memo import Memo
    from weft.kernel.plan_lists import PlanLists
    from weft.kernel.plan_tables import PlanTables

MOST_KEPT = cython.declare(cython.int, 1 << 16)
MOST_KEPT = 1 << 16  # elements that there is still room for after a batch
NO_INTS = cython.declare(cython.int[::1])
NO_INTS = zeros(1, np.int32)


@cython.cclass
class BatchColumns(Memo):
    """The columns of a batch; `batch_columns.pxd` tells them."""

    def __init__(self, plan: PlanTables, lists: PlanLists):
        Memo.__init__(self)
        self.plan, self.lists = plan, lists
        self.attribute_start, self.text_start = zeros(1 << 10, np.int32), zeros(1 << 10, np.int32)
        self.text_nodes = zeros(1 << 10, np.int32)
        self.below_names = held(np.zeros((1 << 10, 2), np.uint64))
        self.kid_names = held(np.zeros((1 << 10, 2), np.uint64))

    def begin(self, columns: dict) -> None:
        """Another batch."""
        self.shrink()
        self.forget()
        self.elements, self.first_text, self.nodes = columns["elements"], columns["first_text"], columns["nodes"]
        self.ranges = held(columns["ranges"])
        self.parents = held(columns["parents"])
        self.last = held(columns["last"])
        self.depth = held(columns["depth"])
        self.names = held(columns["names"])
        self.labels = held(columns["labels"])
        self.text_first, self.text_last = held(columns["text_first"]), held(columns["text_last"])
        self.symbol_start, self.symbols = held(columns["symbol_start"]), held(columns["symbols"])
        self.name_masks = held(columns["name_masks"])
        if self.elements > self.below_names.shape[0]:
            self.below_names = held(np.zeros((2 * self.elements, 2), np.uint64))
            self.kid_names = held(np.zeros((2 * self.elements, 2), np.uint64))
        if self.elements + 2 > self.attribute_start.shape[0]:
            self.attribute_start = zeros(2 * self.elements + 2, np.int32)
            self.text_start = zeros(2 * self.elements + 2, np.int32)
        if columns["has_texts"] and self.nodes - self.first_text > self.text_nodes.shape[0]:
            self.text_nodes = zeros(2 * (self.nodes - self.first_text), np.int32)
        has_texts: cython.bint = columns["has_texts"]
        with cython.nogil:
            self.gather_names()
            self.find_attributes()
            if has_texts:
                self.find_texts()

    def end(self) -> None:
        """Nobody asks for this batch any more: nothing of it is kept, and no more room than most batches need."""
        self.nodes = self.elements = self.first_text = 0
        self.parents = self.last = self.depth = self.names = self.labels = NO_INTS
        self.text_first = self.text_last = NO_INTS
        if self.below_names.shape[0] > MOST_KEPT:
            self.__init__(self.plan, self.lists)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def gather_names(self) -> cython.void:
        """For every element the names right below it and those anywhere below it, as bits."""
        row: cython.int
        above: cython.int
        name: cython.int
        word: cython.int
        for row in range(self.elements):
            for word in range(2):
                self.below_names[row, word] = self.kid_names[row, word] = 0
        for row in range(self.nodes - 1, -1, -1):  # attributes and texts first, then elements from the last one up
            above = self.parents[row]
            name = self.names[row]
            if above < 0 or name < 0:
                continue
            for word in range(2):
                self.kid_names[above, word] |= self.name_masks[name, word]
                self.below_names[above, word] |= self.name_masks[name, word]
                if row < self.elements:
                    self.below_names[above, word] |= self.below_names[row, word]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def find_attributes(self) -> cython.void:
        """Where each element's attributes begin; they are in the order of their owners."""
        node: cython.int = self.elements
        row: cython.int
        for row in range(self.elements):
            self.attribute_start[row] = node
            while node < self.first_text and self.parents[node] == row:
                node += 1
        self.attribute_start[self.elements] = node

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def find_texts(self) -> cython.void:
        """The texts right below each element: counted, then put side by side."""
        node: cython.int
        row: cython.int
        for row in range(self.elements + 2):
            self.text_start[row] = 0
        for node in range(self.first_text, self.nodes):
            self.text_start[self.parents[node] + 2] += 1
        for row in range(self.elements):
            self.text_start[row + 2] += self.text_start[row + 1]
        for node in range(self.first_text, self.nodes):
            row = self.parents[node]
            self.text_nodes[self.text_start[row + 1]] = node
            self.text_start[row + 1] += 1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def lacks(self, node: cython.int, row: cython.int) -> cython.bint:
        """Whether names that a node of the plan needs below a row are not there: then it does not hold at the row."""
        need: cython.ulonglong
        word: cython.int
        for word in range(2):
            need = self.plan.masks[node, BELOW + word]
            if need and (row >= self.elements or need & ~self.below_names[row, word]):
                return True
            need = self.plan.masks[node, KIDS + word]
            if need and (row >= self.elements or need & ~self.kid_names[row, word]):
                return True
        return False

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def leads_nowhere(self, node: cython.int, row: cython.int) -> cython.bint:
        """Whether names are not below a row without which nothing comes of a node of the plan there."""
        need: cython.ulonglong
        word: cython.int
        for word in range(2):
            need = self.plan.drive_masks[node, BELOW + word]
            if need and (row >= self.elements or need & ~self.below_names[row, word]):
                return True
            need = self.plan.drive_masks[node, KIDS + word]
            if need and (row >= self.elements or need & ~self.kid_names[row, word]):
                return True
        return False
