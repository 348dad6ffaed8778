"""A label path and a name in, the states and results at the label path below it out: one step of the automaton."""

import cython
import numpy as np

from weft.kernel.arrays import copied, held, wider, zeros

if not cython.compiled:  # compiled, the types are those of the .pxd
    from weft.kernel.automaton import StateTable
    from weft.kernel.tables import IntLists
    from weft.kernel.told_classes import ToldClasses

LOOK_UP = cython.declare(cython.int, 32)
LOOK_UP = 32  # edges that are gone over in the time of one look-up, which is a miss in the caches
KEPT = cython.declare(cython.int, 1)
KEPT = 1  # the flag of an edge whose target is remembered; 2 is that of a result


def _flags(kept, results):
    """For each edge what is to be done where it leads; results below zero are none."""
    return (kept * KEPT + 2 * (results >= 0)).astype(np.uint8)


@cython.cclass
class PathSteps(ToldClasses):
    """What label paths reach, and where they lead on from there; `path_steps.pxd` tells the columns."""

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
        self.stars = held(np.stack([star, _flags(kept[star], result_of_state[star])], axis=1).astype(np.int32))
        self.parent, self.symbols = zeros(1024, np.int32), IntLists()
        self.is_element = zeros(1024, np.int8)
        self.active, self.reached = IntLists(), IntLists()
        self.reached.reserve(0, 0)
        self.has_active = zeros(1024, np.int8)
        self.marks = zeros(len(automaton.star) // 64 + 1, np.uint64)
        self.hit, self.hits = zeros(1024, np.int32), 0
        self.active.put(0, np.array([0, *([automaton.loop[0]] if automaton.loop[0] >= 0 else [])], np.int32))
        self.has_active[0] = 1

    @cython.cfunc
    @cython.exceptval(-1)
    def take_steps(self, known: "PathSteps", paths: cython.Py_ssize_t) -> cython.int:
        """The same label paths, so many, as others in the same automaton."""
        self.take_told(known)
        self.automaton, self.edge_flags, self.stars = known.automaton, known.edge_flags, known.stars
        self.parent, self.has_active = copied(known.parent, paths), copied(known.has_active, paths)
        self.symbols, self.active, self.reached = known.symbols.copied(), known.active.copied(), known.reached.copied()
        self.is_element = copied(known.is_element, len(known.is_element))
        self.marks, self.hit, self.hits = zeros(len(known.marks), np.uint64), zeros(1024, np.int32), 0
        return 0

    def add_name(self, name: int, symbols, is_element: bool) -> None:
        """The label tests that a name passes."""
        self.symbols.put(name, np.array(symbols, np.int32))
        if name >= len(self.is_element):
            self.is_element = wider(self.is_element, name)
        self.is_element[name] = is_element

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=True)
    def take(self, path: cython.int, parent: cython.int, name: cython.int) -> cython.int:
        """The states that edges by a name lead to from the active ones: those that are kept, and spots of results."""
        self.hits = 0
        self.mark(parent)
        self.hit_edges(parent, name)
        self.unmark(parent)
        edges: cython.Py_ssize_t = self.hits
        if self.is_element[name]:
            self.hit_stars(parent)
        at: cython.Py_ssize_t = self.reached.reserve(path, self.hits + 1)
        start: cython.Py_ssize_t = at
        met: cython.Py_ssize_t = 0
        i: cython.Py_ssize_t
        edge: cython.int
        state: cython.int
        if self.hits >= self.spots.shape[0]:
            with cython.gil:
                self.spots = wider(self.spots, self.hits)
        pool: cython.int[::1] = self.reached.pool
        spots: cython.int[::1] = self.spots
        hit: cython.int[::1] = self.hit  # columns of their own: nothing that is put down can change where they are
        targets: cython.int[::1] = self.automaton.targets
        flags: cython.uchar[::1] = self.edge_flags
        stars: cython.int[:, ::1] = self.stars
        # Whatever is met is put down, and counts if it is to be kept: a branch would be guessed wrongly too often.
        for i in range(edges):
            edge = hit[i]
            pool[at], spots[met] = targets[edge], edge
            at += flags[edge] & KEPT
            met += flags[edge] >> 1
        for i in range(edges, self.hits):
            state = hit[i]
            pool[at], spots[met] = stars[state, 0], targets.shape[0] + state
            at += stars[state, 1] & KEPT
            met += stars[state, 1] >> 1
        self.met = met
        self.reached.size[path] = at - start
        self.reached.give_back(path, at)
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=True)
    def hit_edges(self, parent: cython.int, name: cython.int) -> cython.int:
        """Put down the edges by a name from the active states, which are marked.

        They are marked in a bitmap that stays in the fastest cache, and a name's edges are gone over in the order in
        which they lie: for all but very few active states that is faster than to look each of them up.
        """
        first: cython.Py_ssize_t = self.active.start[parent]
        size: cython.Py_ssize_t = self.active.size[parent]
        i: cython.Py_ssize_t
        j: cython.Py_ssize_t
        begin: cython.Py_ssize_t
        end: cython.Py_ssize_t
        symbol: cython.longlong
        state: cython.longlong
        hits: cython.Py_ssize_t = 0
        if name >= self.symbols.start.shape[0]:
            return 0
        marks: cython.ulonglong[::1] = self.marks
        sources: cython.int[::1] = self.automaton.sources
        hit: cython.int[::1]
        for j in range(self.symbols.start[name], self.symbols.start[name] + self.symbols.size[name]):
            symbol = self.symbols.pool[j]
            if symbol + 1 >= self.automaton.symbol_start.shape[0]:
                continue  # a label test that came later: no path has it
            begin, end = self.automaton.symbol_start[symbol], self.automaton.symbol_start[symbol + 1]
            if hits + end - begin >= self.hit.shape[0]:
                with cython.gil:
                    self.hit = wider(self.hit, hits + end - begin)
            hit = self.hit
            if LOOK_UP * size < end - begin:
                for i in range(first, first + size):
                    state = self.active.pool[i]
                    hit[hits] = self.automaton.edges.find((state << 32) | symbol)
                    hits += hit[hits] >= 0
                continue
            for i in range(begin, end):
                hit[hits] = i
                hits += (marks[sources[i] >> 6] >> (sources[i] & 63)) & 1
        self.hits = hits
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=True)
    def hit_stars(self, parent: cython.int) -> cython.int:
        """Put down the active states that `*` leads on from."""
        i: cython.Py_ssize_t
        first: cython.Py_ssize_t = self.active.start[parent]
        size: cython.Py_ssize_t = self.active.size[parent]
        hits: cython.Py_ssize_t = self.hits
        if hits + size >= self.hit.shape[0]:
            with cython.gil:
                self.hit = wider(self.hit, hits + size)
        hit: cython.int[::1] = self.hit
        active: cython.int[::1] = self.active.pool
        has_star: cython.ulonglong[::1] = self.automaton.has_star
        for i in range(first, first + size):
            hit[hits] = active[i]
            hits += (has_star[active[i] >> 6] >> (active[i] & 63)) & 1
        self.hits = hits
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def mark(self, path: cython.int) -> cython.void:
        """Mark the states that are active below a label path."""
        one: cython.ulonglong = 1
        i: cython.Py_ssize_t
        pool: cython.int[::1] = self.active.pool
        for i in range(self.active.start[path], self.active.start[path] + self.active.size[path]):
            self.marks[pool[i] >> 6] |= one << (pool[i] & 63)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def unmark(self, path: cython.int) -> cython.void:
        i: cython.Py_ssize_t
        pool: cython.int[::1] = self.active.pool
        for i in range(self.active.start[path], self.active.start[path] + self.active.size[path]):
            self.marks[pool[i] >> 6] = 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=True)
    def activate(self, path: cython.int) -> cython.int:
        """The states that lead on below a label path: of those reached, loops from above, new loops."""
        if self.has_active[path]:
            return 0
        self.activate(self.parent[path])
        above: cython.int = self.parent[path]
        most: cython.Py_ssize_t = 2 * self.reached.size[path] + self.active.size[above]
        at: cython.Py_ssize_t = self.active.reserve(path, most)
        first: cython.Py_ssize_t = at
        i: cython.Py_ssize_t
        state: cython.int
        one: cython.ulonglong = 1
        pool: cython.int[::1] = self.active.pool
        for i in range(self.reached.start[path], self.reached.start[path] + self.reached.size[path]):
            state = self.reached.pool[i]
            if (self.automaton.is_inner[state >> 6] >> (state & 63)) & 1:
                pool[at] = state
                at += 1
        loops: cython.Py_ssize_t = at
        for i in range(self.active.start[above], self.active.start[above] + self.active.size[above]):
            state = pool[i]
            if (self.automaton.is_loop[state >> 6] >> (state & 63)) & 1:
                pool[at] = state
                self.marks[state >> 6] |= one << (state & 63)
                at += 1
        for i in range(first, loops):
            state = self.automaton.loop[pool[i]]
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

    def active_memory(self) -> int:
        """How many bytes the sets of active states take."""
        return self.active.memory()

    def forget_active(self) -> None:
        """State sets are only needed where a new child is seen: they are made again."""
        self.active = IntLists()
        self.active.put(0, np.array([0, *([self.automaton.loop[0]] if self.automaton.loop[0] >= 0 else [])], np.int32))
        self.has_active = zeros(len(self.parent), np.int8)
        self.has_active[0] = 1
