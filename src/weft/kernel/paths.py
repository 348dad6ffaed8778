"""Names in, label paths out: one step of the automaton where a label path is new."""

import cython
import numpy as np

from weft.kernel.arrays import held, wider, zeros

if not cython.compiled:  # compiled, the types are those of the .pxd
    from weft.kernel.automaton import StateTable
    from weft.kernel.tables import IntLists, Numbers
    from weft.kernel.told_classes import ToldClasses

PATH_BYTES = cython.declare(cython.int, 13)
PATH_BYTES = 13  # what a label path takes in columns of its own
LOOK_UP = cython.declare(cython.int, 32)
LOOK_UP = 32  # edges that are gone over in the time of one look-up, which is a miss in the caches
KEPT = cython.declare(cython.int, 1)
KEPT = 1  # the flag of an edge whose target is remembered; 2 is that of a result


def _flags(kept, results):
    """For each edge what is to be done where it leads; results below zero are none."""
    return (kept * KEPT + 2 * (results >= 0)).astype(np.uint8)


@cython.cclass
class PathTable(ToldClasses):
    """The label paths seen so far, with the states that each reaches; `paths.pxd` tells the columns."""

    def __init__(self, automaton: StateTable, result_of_state, results: int, busy=None):
        """`busy` marks the states that there is something to do at; without it every state is remembered."""
        star, targets = np.asarray(automaton.star), np.asarray(automaton.targets)
        result_of_state = np.append(np.asarray(result_of_state, np.int32), np.int32(-1))  # the last is that of no state
        ToldClasses.__init__(self, np.concatenate([result_of_state[targets], result_of_state[star]]), results)
        self.automaton = automaton
        kept = np.append(np.ones(len(star), bool), False)  # the last is that of no state, too
        if busy is not None:
            inner = np.unpackbits(np.asarray(automaton.is_inner).view(np.uint8), bitorder="little")
            kept[: len(busy)] = inner[: len(busy)].astype(bool) | busy
        self.edge_flags = held(_flags(kept[targets], result_of_state[targets]))
        self.star_flags = held(_flags(kept[star], result_of_state[star]))
        self.parent, self.name = zeros(1024, np.int32), zeros(1024, np.int32)
        self.children, self.symbols = Numbers(), IntLists()
        self.is_element = zeros(1024, np.int8)
        self.active, self.reached = IntLists(), IntLists()
        self.reached.reserve(0, 0)
        self.has_active = zeros(1024, np.int8)
        self.marks = zeros(len(automaton.star) // 64 + 1, np.uint64)
        self.size = 1
        self.active.put(0, np.array([0, *([automaton.loop[0]] if automaton.loop[0] >= 0 else [])], np.int32))
        self.has_active[0] = 1

    def add_name(self, name: int, symbols, is_element: bool) -> None:
        """The label tests that a name passes."""
        self.symbols.put(name, np.array(symbols, np.int32))
        if name >= len(self.is_element):
            self.is_element = wider(self.is_element, name)
        self.is_element[name] = is_element

    def walk(self, parents, names, labels, row: cython.Py_ssize_t) -> int:
        """Find the label paths of rows from one on; the parent of a root is -1, which is the last entry of `labels`."""
        of_parent: cython.int[::1] = held(parents)
        name: cython.int[::1] = held(names)
        label: cython.int[::1] = held(labels)
        end: cython.Py_ssize_t = name.shape[0]
        above: cython.longlong
        found: cython.int
        with cython.nogil:
            while row < end:
                if name[row] < 0:
                    label[row] = -1
                else:
                    above = label[of_parent[row] if of_parent[row] >= 0 else end]
                    found = self.children.find((above << 32) | name[row])
                    if found < 0:
                        with cython.gil:
                            found = self.add(above, name[row])
                    label[row] = found
                row += 1
        return row

    @cython.ccall
    @cython.exceptval(-1)
    def add(self, parent: cython.int, name: cython.int) -> cython.int:
        """A new label path: one step of the automaton."""
        path: cython.int = self.size
        if path >= self.parent.shape[0]:
            self.parent, self.name = wider(self.parent, path), wider(self.name, path)
            self.has_active, self.path_stamp = wider(self.has_active, path), wider(self.path_stamp, path)
        self.size += 1
        self.parent[path], self.name[path] = parent, name
        self.has_active[path] = 0
        self.activate(parent)
        self.take(path, parent, name)
        self.classes_of_path.reserve(path, 0)
        self.classes_of_path.size[path] = 0
        self.refine(path)
        key: cython.longlong = parent
        self.children.put((key << 32) | name, path)
        return path

    # Long: one pass over columns; parts of it as calls would reload the columns each time.
    @cython.cfunc
    @cython.exceptval(-1)
    def take(self, path: cython.int, parent: cython.int, name: cython.int) -> cython.int:
        """The states that edges by a name lead to from the active ones: those that are kept, and spots of results.

        Active states are marked in a bitmap that stays in the fastest cache, and a name's edges are gone over in the
        order in which they lie: for all but very few active states that is faster than to look each of them up.
        Whatever is met is put down, and counts if it is to be kept: a branch would be guessed wrongly too often.
        """
        a: StateTable = self.automaton
        first: cython.Py_ssize_t = self.active.start[parent]
        size: cython.Py_ssize_t = self.active.size[parent]
        i: cython.Py_ssize_t
        j: cython.Py_ssize_t
        end: cython.Py_ssize_t
        symbol: cython.longlong
        state: cython.longlong
        edge: cython.int
        flags: cython.int
        symbols_end: cython.Py_ssize_t = 0
        symbols_first: cython.Py_ssize_t = 0
        if name < self.symbols.start.shape[0]:
            symbols_first = self.symbols.start[name]
            symbols_end = symbols_first + self.symbols.size[name]
        most: cython.Py_ssize_t = (symbols_end - symbols_first + 1) * size + 1
        if most > self.spots.shape[0]:
            self.spots = wider(self.spots, most)
        at: cython.Py_ssize_t = self.reached.reserve(path, most)
        start: cython.Py_ssize_t = at
        met: cython.Py_ssize_t = 0
        pool: cython.int[::1] = self.reached.pool
        spots: cython.int[::1] = self.spots
        marks: cython.ulonglong[::1] = self.marks
        targets: cython.int[::1] = a.targets
        sources: cython.int[::1] = a.sources
        edge_flags: cython.uchar[::1] = self.edge_flags
        self.mark(parent)
        for j in range(symbols_first, symbols_end):
            symbol = self.symbols.pool[j]
            if symbol + 1 >= a.symbol_start.shape[0]:
                continue  # a label test that came later: no path has it
            end = a.symbol_start[symbol + 1]
            if LOOK_UP * size < end - a.symbol_start[symbol]:
                for i in range(first, first + size):
                    state = self.active.pool[i]
                    edge = a.edges.find((state << 32) | symbol)
                    if edge >= 0:
                        pool[at], spots[met] = targets[edge], edge
                        at += edge_flags[edge] & KEPT
                        met += edge_flags[edge] >> 1
                continue
            for i in range(a.symbol_start[symbol], end):
                flags = ((marks[sources[i] >> 6] >> (sources[i] & 63)) & 1) * edge_flags[i]
                pool[at], spots[met] = targets[i], i
                at += flags & KEPT
                met += flags >> 1
        self.unmark(parent)
        if self.is_element[name]:
            for i in range(first, first + size):
                state = self.active.pool[i]
                if (a.has_star[state >> 6] >> (state & 63)) & 1:
                    pool[at], spots[met] = a.star[state], targets.shape[0] + state
                    at += self.star_flags[state] & KEPT
                    met += self.star_flags[state] >> 1
        self.met = met
        self.reached.size[path] = at - start
        self.reached.give_back(path, at)
        return 0

    @cython.cfunc
    @cython.exceptval(check=False)
    def mark(self, path: cython.int) -> cython.void:
        """Mark the states that are active below a label path."""
        one: cython.ulonglong = 1
        i: cython.Py_ssize_t
        pool: cython.int[::1] = self.active.pool
        for i in range(self.active.start[path], self.active.start[path] + self.active.size[path]):
            self.marks[pool[i] >> 6] |= one << (pool[i] & 63)

    @cython.cfunc
    @cython.exceptval(check=False)
    def unmark(self, path: cython.int) -> cython.void:
        i: cython.Py_ssize_t
        pool: cython.int[::1] = self.active.pool
        for i in range(self.active.start[path], self.active.start[path] + self.active.size[path]):
            self.marks[pool[i] >> 6] = 0

    @cython.cfunc
    @cython.exceptval(-1)
    def activate(self, path: cython.int) -> cython.int:
        """The states that lead on below a label path: of those reached, loops from above, new loops."""
        if self.has_active[path]:
            return 0
        self.activate(self.parent[path])
        above: cython.int = self.parent[path]
        a: StateTable = self.automaton
        most: cython.Py_ssize_t = 2 * self.reached.size[path] + self.active.size[above]
        at: cython.Py_ssize_t = self.active.reserve(path, most)
        first: cython.Py_ssize_t = at
        i: cython.Py_ssize_t
        state: cython.int
        one: cython.ulonglong = 1
        pool: cython.int[::1] = self.active.pool
        for i in range(self.reached.start[path], self.reached.start[path] + self.reached.size[path]):
            state = self.reached.pool[i]
            if (a.is_inner[state >> 6] >> (state & 63)) & 1:
                pool[at] = state
                at += 1
        loops: cython.Py_ssize_t = at
        for i in range(self.active.start[above], self.active.start[above] + self.active.size[above]):
            state = pool[i]
            if (a.is_loop[state >> 6] >> (state & 63)) & 1:
                pool[at] = state
                self.marks[state >> 6] |= one << (state & 63)
                at += 1
        for i in range(first, loops):
            state = a.loop[pool[i]]
            if state >= 0 and not (self.marks[state >> 6] >> (state & 63)) & 1:
                pool[at] = state
                self.marks[state >> 6] |= one << (state & 63)
                at += 1
        for i in range(loops, at):
            self.marks[pool[i] >> 6] = 0
        self.active.size[path] = at - first
        self.active.give_back(path, at)
        self.has_active[path] = 1
        return 0

    @cython.cfunc
    @cython.exceptval(check=False)
    def is_passed(self, symbol: cython.int, name: cython.int) -> cython.bint:
        """Whether the name with a code passes a label test; -1 is `*`, which all elements pass."""
        at: cython.Py_ssize_t
        if symbol < 0:
            return self.is_element[name]
        for at in range(self.symbols.start[name], self.symbols.start[name] + self.symbols.size[name]):
            if self.symbols.pool[at] == symbol:
                return True
        return False

    def cut(self, mark: cython.int) -> None:
        """Forget the label paths from one on; classes stay as fine as they are."""
        k: cython.int
        i: cython.Py_ssize_t
        kept: cython.int
        room: cython.Py_ssize_t = self.children.keys.shape[0]
        while room > 2048 and room > 4 * mark:
            room //= 2
        self.children.rebuild(room, mark)
        self.reached.cut(mark)
        self.classes_of_path.cut(mark)
        for k in range(min(self.classes, self.paths_of_class.size.shape[0])):
            kept = 0
            for i in range(self.paths_of_class.start[k], self.paths_of_class.start[k] + self.paths_of_class.size[k]):
                if self.paths_of_class.pool[i] < mark:
                    self.paths_of_class.pool[self.paths_of_class.start[k] + kept] = self.paths_of_class.pool[i]
                    kept += 1
            self.paths_of_class.size[k] = kept
        self.classes_of_path, self.paths_of_class = self.classes_of_path.compacted(), self.paths_of_class.compacted()
        self.untell()
        self.size = mark
        self.forget_active()

    def __len__(self) -> int:
        return self.size

    def above(self, path: int) -> int:
        """The label path that one is right below."""
        return self.parent[path]

    def name_of(self, path: int) -> int:
        """The code of a label path's last name."""
        return self.name[path]

    def reached_at(self, path: int) -> object:
        """The states that the automaton reaches at a label path and that are remembered."""
        return self.reached.of(path)

    def active_memory(self) -> int:
        """How many bytes the sets of active states take."""
        return self.active.memory()

    def memory(self) -> int:
        """How many bytes are kept for label paths and for classes, but for the sets of active states."""
        kept: cython.longlong = self.children.memory() + self.symbols.memory() + self.reached.memory()
        return kept + PATH_BYTES * self.size + self.class_memory() + 4 * self.told_used

    def forget_active(self) -> None:
        """State sets are only needed where a new child is seen: they are made again."""
        self.active = IntLists()
        self.active.put(0, np.array([0, *([self.automaton.loop[0]] if self.automaton.loop[0] >= 0 else [])], np.int32))
        self.has_active = zeros(len(self.parent), np.int8)
        self.has_active[0] = 1
