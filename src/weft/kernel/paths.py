"""Names in, label paths out: each is worked out once, and all that is known of it counts and can be forgotten."""

import cython
import numpy as np

from weft.kernel.arrays import copied, held, wider, zeros

if not cython.compiled:  # compiled, the types are those of the .pxd
    from weft.kernel.automaton import StateTable
    from weft.kernel.path_steps import PathSteps
    from weft.kernel.tables import Numbers

PATH_BYTES = cython.declare(cython.int, 13)
PATH_BYTES = 13  # what a label path takes in columns of its own


@cython.cclass
class PathTable(PathSteps):
    """The label paths seen so far, with the states that each reaches; `paths.pxd` tells the columns."""

    def __init__(self, automaton: StateTable, result_of_state, results: int, busy=None):
        """`busy` marks the states that there is something to do at; without it every state is remembered."""
        PathSteps.__init__(self, automaton, result_of_state, results, busy)
        self.name, self.children, self.size = zeros(1024, np.int32), Numbers(), 1

    def copied(self):
        """The same label paths once more, under the same numbers: for who matches at the same time."""
        made: PathTable = PathTable.__new__(PathTable)
        made.take_steps(self, self.size)
        made.name, made.children, made.size = copied(self.name, self.size), self.children.copied(), self.size
        return made

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
                        found = self.add(above, name[row])
                    label[row] = found
                row += 1
        return row

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=True)
    def add(self, parent: cython.int, name: cython.int) -> cython.int:
        """A new label path: one step of the automaton. Python's lock is only taken where an array is too short."""
        path: cython.int = self.size
        if path >= self.parent.shape[0]:
            with cython.gil:
                self.parent, self.name = wider(self.parent, path), wider(self.name, path)
                self.has_active, self.path_stamp = wider(self.has_active, path), wider(self.path_stamp, path)
        self.parent[path], self.name[path] = parent, name
        self.has_active[path] = 0
        self.activate(parent)
        self.take(path, parent, name)
        self.classes_of_path.reserve(path, 0)
        self.classes_of_path.size[path] = 0
        self.refine(path)
        key: cython.longlong = parent
        self.children.put((key << 32) | name, path)
        self.size = path + 1  # last: who reads meanwhile sees what is whole
        return path

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

    def memory(self) -> int:
        """How many bytes are kept for label paths and for classes, but for the sets of active states."""
        kept: cython.longlong = self.children.memory() + self.symbols.memory() + self.reached.memory()
        return kept + PATH_BYTES * self.size + self.class_memory() + 4 * self.told_used
