"""Node tables in, the label path of every node out; the NFA runs only where a label path is seen for the first time.

The table of label paths is bounded. Beyond the bound, what a batch brings is kept for that batch and forgotten, so that
documents whose label paths do not converge cost a run of the NFA, and no memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Generic
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from weft.columns.integers import Flags, Ints
from weft.columns.kept import kept_property
from weft.columns.steps import finished
from weft.documents.scan import DocumentPaths
from weft.documents.table import NodeTable
from weft.engine.paths.bounds import Beside, Bounds
from weft.engine.paths.path_plans import Made, PathPlans
from weft.engine.paths.states import States
from weft.engine.paths.step_codes import STAR_SYMBOL, decode_step
from weft.kernel.automaton import StateTable
from weft.kernel.name_paths import NamePaths
from weft.kernel.path_labels import PathLabels
from weft.kernel.paths import PathTable
from weft.plans.names import TEXT_NAME

ROOT_PATH = 0
_THREADS = 64  # whose paths of names are known at a time
_NAME = 400  # bytes that a name takes beside its characters: in two dictionaries, lists and columns


class LabelPaths(Generic[Made]):
    """The label paths seen so far, and for each what `make_plan(label path, states reached)` makes of it when asked.

    The work is done by `weft.kernel.paths`; with results by state it also keeps their classes.
    """

    def __init__(
        self, states: States, make_plan: Callable[[int, Ints], tuple[Made, int]], bounds: Bounds | None = None
    ) -> None:
        self._states, self._make_plan, self._bounds = states, make_plan, bounds or Bounds()
        self._result_of_state, self._results = np.zeros(0, np.int32), 0
        self._busy: Flags | None = None
        self.clear()

    def begin(self, result_of_state: Ints, busy: Flags) -> None:
        """Begin anew after the NFA has grown: the results of states, and those that there is something to do at."""
        self._result_of_state, self._results = result_of_state, int(result_of_state.max(initial=-1)) + 1
        self._busy = busy
        self.clear()

    def clear(self) -> None:
        """Forget everything, after the NFA has grown."""
        self._automaton: tuple[int, StateTable] | None = None  # as it is when label paths begin, and its size
        self._forget()

    def _forget(self) -> None:
        """Forget all label paths; those that come run in the same NFA, however much has been added to it."""
        self.__dict__.pop("_paths", None)
        self.names: list[str] = [""]
        self.plans: PathPlans[Made] = PathPlans(self._plan)
        self.seen = np.zeros(1024, np.int64)
        self._codes: dict[str, int] = {"": 0}
        self._symbols: tuple[Ints, Ints, NDArray[np.uint64]] | None = None
        self._labels: WeakKeyDictionary[NamePaths, PathLabels] = WeakKeyDictionary()  # of each thread's paths of names
        self._made_bytes = self._name_bytes = 0
        self._overflow = 0  # bytes that were forgotten since everything was begun
        self._beside: Beside | None = None

    def keep_beside(self, beside: Beside) -> None:
        """This is kept for the label paths too, and counts."""
        self._beside = beside

    def prepare(self) -> Iterator[None]:
        """Make what the first batch would, in steps."""
        self._automaton = len(self._states), (yield from self._states.automaton(self._wanted()))
        yield
        _ = self._paths

    def learn(self, known: LabelPaths[Made]) -> Iterator[int]:
        """Know the label paths that others know, one after the other.

        They may come to know more meanwhile, or forget some, even while another thread matches with them: what is read
        then of a label path and what of another in its place may become one that no document has, and no harm.
        """
        names, paths, most = known.names, known.__dict__.get("_paths"), self._bounds.kept
        numbers, root = [ROOT_PATH], np.array([-1], np.int32)
        while names is known.names and paths is not None and len(numbers) < len(paths) and self.memory <= most:
            at = len(numbers)
            name = self._code(names[paths.name_of(at)])
            found = np.array([ROOT_PATH, numbers[paths.above(at)]], np.int32)  # that of the row, and what it is below
            self._paths.walk(root, np.array([name], np.int32), found, 0)
            numbers.append(int(found[0]))
            yield numbers[-1]

    def know_all(self, known: LabelPaths[Made]) -> None:
        """Know the label paths that others in the same NFA know, by the same numbers; they learn nothing meanwhile."""
        self._automaton = known._automaton
        if "_paths" in known.__dict__:
            self.__dict__["_paths"] = known._paths.copied()
            self.names, self._codes, self._name_bytes = list(known.names), dict(known._codes), known._name_bytes

    @kept_property
    def _paths(self) -> PathTable:
        """Made when it is first used: who adds paths one by one clears each time."""
        if self._automaton is None:
            self._automaton = len(self._states), finished(self._states.automaton(self._wanted()))
        size, automaton = self._automaton
        result_of_state = np.full(size, -1, np.int32)
        result_of_state[: self._result_of_state.size] = self._result_of_state
        return PathTable(automaton, result_of_state, self._results, self._busy)

    def _wanted(self) -> Flags | None:
        """The states that there is something to do at, or that are results; None: all are."""
        if self._busy is None:
            return None
        wanted = self._busy.copy()
        wanted[: self._result_of_state.size] |= self._result_of_state >= 0
        return wanted

    def __len__(self) -> int:
        return len(self._paths) if "_paths" in self.__dict__ else 1

    def __getstate__(self) -> dict[str, object]:
        """What documents have brought stays behind."""
        return {"_states": self._states, "_make_plan": self._make_plan, "_bounds": self._bounds} | {
            name: self.__dict__[name] for name in ("_result_of_state", "_results", "_busy")
        }

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)
        self.clear()

    # -- a batch

    def of(self, table: NodeTable, names: Ints | None = None) -> Ints:
        """The label path of every node; -1 for attributes and texts where no path asks for any.

        `names` are the codes of their names, if these are known.
        """
        names = self.codes(table) if names is None else names
        labels = np.full(names.size + 1, ROOT_PATH, np.int32)  # the parent of a root is -1, and so the last entry here
        if self._paths.active_memory() > self._bounds.states:
            self._paths.forget_active()
        self._paths.walk(np.ascontiguousarray(table.parent), names, labels, 0)
        result = labels[:-1]
        self._count(result[result >= 0])
        return result

    def of_paths(self, documents: DocumentPaths) -> Ints:
        """The label path of every path of names that documents have."""
        known = self._labels.get(documents.paths)
        if known is None:
            if len(self._labels) >= _THREADS:
                self._labels.clear()
            known = self._labels[documents.paths] = PathLabels(self._paths)
        if self._paths.active_memory() > self._bounds.states:
            self._paths.forget_active()
        found, labels = documents.found, np.empty(documents.found.size, np.int32)
        at = 0
        while (at := known.of(documents.paths, found, labels, at)) < found.size:
            code, number, is_attribute = documents.paths.last_name(int(found[at]))
            name = documents.names.names[number] if code else TEXT_NAME
            known.name(code, self._code(f"@{name}" if is_attribute else name))
        self._count(labels)
        return labels

    def _count(self, labels: Ints) -> None:
        """How often label paths were seen, for people."""
        if len(self.seen) < len(self):
            self.seen = np.concatenate([self.seen, np.zeros(len(self) * 2, np.int64)])
        if labels.size * 8 < len(self):
            np.add.at(self.seen, labels, 1)
        else:
            self.seen[: len(self)] += np.bincount(labels, minlength=len(self))

    @property
    def kernel(self) -> PathTable:
        """The compiled label paths as they are now; those that are begun anew are others."""
        return self._paths

    def codes(self, table: NodeTable) -> Ints:
        """The code of every node's name; -1 for attributes and texts where no path asks for any."""
        names = np.full(table.nodes, -1, np.int32)
        codes = np.zeros(len(table.names), np.int32)
        codes[table.element_names] = [self._code(table.names[name]) for name in table.element_names]
        names[: table.elements] = codes[table.name]
        if self._states.has_attributes:
            codes[table.attribute_names] = [self._code("@" + table.names[name]) for name in table.attribute_names]
            names[table.elements : table.first_text] = codes[table.attribute_name]
        if self._states.has_texts:
            names[table.first_text :] = self._code(TEXT_NAME)
        return names

    def symbols(self) -> tuple[Ints, Ints, NDArray[np.uint64]]:
        """By the code of a name the label tests that it passes: where each begins, all of them, and as bits."""
        if self._symbols is None or self._symbols[0].size != len(self.names) + 1:
            found = [self._states.symbols_of(name) if name else () for name in self.names]
            starts = np.cumsum([0, *map(len, found)], dtype=np.int32)
            symbols = np.array([symbol for each in found for symbol in each], np.int32)
            masks = np.zeros((len(found), 2), np.uint64)
            name, bit = np.repeat(np.arange(len(found)), np.diff(starts)), (symbols & 63).astype(np.uint64)
            np.bitwise_or.at(masks, (name, symbols >> 6 & 1), np.uint64(1) << bit)
            self._symbols = starts, symbols, masks
        return self._symbols

    @property
    def memory(self) -> int:
        """How many bytes the label paths and all that is kept for them take, but for what is found again if need be."""
        beside = 0 if self._beside is None else self._beside.memory()
        labels = sum(known.memory() for known in self._labels.values())
        return self._paths.memory() + beside + labels + self._made_bytes + self._name_bytes + 8 * len(self)

    def finish_batch(self, mark: int) -> None:
        """After a batch that began with `mark` label paths: keep to the bounds."""
        before, bound = self.memory, self._bounds.kept
        if before <= bound:
            return
        if self._beside is not None:
            self._beside.cut(mark)
        self._paths.cut(mark)
        for known in self._labels.values():
            known.cut(mark)
        self._made_bytes -= self.plans.cut(mark)
        self.seen[mark:] = 0
        self._overflow += before - self.memory
        if max(self._overflow, self.memory) > bound:
            self._forget()  # what is remembered has not helped for long, or names are too many: begin anew

    def grow(self, path: int, size: int) -> None:
        """So many bytes more are remembered for a label path."""
        self.plans.sizes[path] = self.plans.sizes.get(path, 0) + size
        self._made_bytes += size

    # -- one label path

    def names_of(self, path: int) -> list[str]:
        """The names from the root to the node."""
        return [self.name_of(at) for at in self.chain(path)]

    def name_of(self, path: int) -> str:
        """The name of the nodes of a label path."""
        return self.names[self._paths.name_of(path)]

    def chain(self, path: int) -> list[int]:
        """The label paths from the root's to this one."""
        chain = []
        while path != ROOT_PATH:
            chain.append(path)
            path = self._paths.above(path)
        return chain[::-1]

    def reached(self, path: int) -> Ints:
        """The states that the NFA reaches at a label path; those with nothing below them and nothing to do may lack."""
        return self._paths.reached_at(path)

    def ending(self, steps: list[int]) -> list[int]:
        """The label paths that a path, as codes of steps, leads to; also one that is not in the NFA."""
        exact, above = [1], [1]  # by label path, bits of how many steps lead there, and there or to what it is below
        found = []
        for path in range(1, len(self)):
            name, parent = self.name_of(path), self._paths.above(path)
            bits = sum(
                1 << at + 1
                for at, (symbol, _, is_deep) in enumerate(map(decode_step, steps))
                if (above if is_deep else exact)[parent] >> at & 1 and self._passes(symbol, name)
            )
            exact.append(bits)
            above.append(above[parent] | bits)
            if bits >> len(steps) & 1:
                found.append(path)
        return found

    def _passes(self, symbol: int, name: str) -> bool:
        if symbol == STAR_SYMBOL:
            return name[0] != "@" and name != TEXT_NAME
        return symbol in self._states.symbols_of(name)

    def results_at(self, path: int) -> Ints:
        """The results that end at a label path."""
        return self._paths.results_at(path)

    def _plan(self, path: int) -> Made:
        plan, size = self._make_plan(path, self.reached(path))
        self.grow(path, size)
        return plan

    def _code(self, name: str) -> int:
        code = self._codes.get(name)
        if code is None:
            code = self._codes[name] = len(self.names)
            self.names.append(name)
            self._name_bytes += _NAME + len(name)
            self._paths.add_name(code, self._states.symbols_of(name), name[0] != "@" and name != TEXT_NAME)
        return code
