"""Node tables in, the label path of every node out; the NFA runs only where a label path is seen for the first time.

The table of label paths is bounded. Beyond the bound, what a batch brings is kept for that batch and forgotten, so that
documents whose label paths do not converge cost a run of the NFA, and no memory.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from weft.columns.integers import Ints
from weft.documents.table import NodeTable
from weft.engine.paths.states import States
from weft.kernel import walk
from weft.plans.names import TEXT_NAME

Made = TypeVar("Made")
ROOT_PATH = 0


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much may be remembered: label paths, numbers kept for them, numbers in cached state sets."""

    label_paths: int = 50_000
    entries: int = 20_000_000
    states: int = 5_000_000


class LabelPaths(Generic[Made]):
    """The label paths seen so far, and for each what `make_plan(label path, states reached)` made of it."""

    def __init__(
        self, states: States, make_plan: Callable[[int, Ints], tuple[Made, int]], bounds: Bounds | None = None
    ) -> None:
        self._states, self._make_plan, self._bounds = states, make_plan, bounds or Bounds()
        self.clear()

    def clear(self) -> None:
        """Forget everything: after the NFA has grown, or when what is remembered is no longer of use."""
        self.parent: list[int] = [ROOT_PATH]
        self.name: list[int] = [0]
        self.names: list[str] = [""]
        self.plans: list[Made] = [self._make_plan(ROOT_PATH, np.zeros(0, np.int32))[0]]
        self.seen = np.zeros(1024, np.int64)
        self._codes: dict[str, int] = {"": 0}
        self._children: dict[int, int] = {}
        self._sizes: list[int] = [0]
        self._entries = 0
        self._overflow = 0
        self._active: dict[int, Ints] = {}
        self._reached: dict[int, Ints] = {}
        self._cached = 0

    def __len__(self) -> int:
        return len(self.parent)

    # -- a batch

    def of(self, table: NodeTable) -> Ints:
        """The label path of every node; -1 for attributes and texts where no path asks for any."""
        names = np.full(table.nodes, -1, np.int32)
        names[: table.elements] = np.array([self._code(name) for name in table.names], np.int32)[table.name]
        if self._states.has_attributes:
            used, place = np.unique(table.attribute_name, return_inverse=True)
            codes = np.array([self._code("@" + table.names[name]) for name in used.tolist()], np.int32)
            names[table.elements : table.first_text] = codes[place]
        if self._states.has_texts:
            names[table.first_text :] = self._code(TEXT_NAME)
        result = self._walk(table.parent, names)
        if len(self.seen) < len(self):
            self.seen = np.concatenate([self.seen, np.zeros(len(self) * 2, np.int64)])
        self.seen[: len(self)] += np.bincount(result[result >= 0], minlength=len(self))
        return result

    def _walk(self, parents: Ints, names: Ints) -> Ints:
        """The label paths of rows with these names; parents come before their children."""
        labels = np.full(names.size + 1, ROOT_PATH, np.int32)  # the parent of a root is -1, and so the last entry here
        row = 0
        while (row := walk(self._children, parents, names, labels, row)) < names.size:
            labels[row] = self._add(int(labels[parents[row]]), int(names[row]))
            row += 1
        return labels[:-1]

    def finish_batch(self, mark: int) -> None:
        """After a batch that began with `mark` label paths: keep to the bounds."""
        bounds = self._bounds
        if len(self) <= bounds.label_paths and self._entries <= bounds.entries:
            return
        self._overflow += len(self) - mark
        if self._overflow > bounds.label_paths or len(self._codes) > 2 * bounds.label_paths:
            self.clear()  # what is remembered has not helped for long: begin anew
            return
        for path in range(mark, len(self)):
            del self._children[self.parent[path] << 32 | self.name[path]]
            for cache in (self._active, self._reached):
                self._cached -= cache.pop(path, np.zeros(0)).size
        self._entries -= sum(self._sizes[mark:])
        for column in (self.parent, self.name, self.plans, self._sizes):
            del column[mark:]
        self.seen[mark:] = 0

    def grow(self, path: int, size: int) -> None:
        """Something more is remembered for a label path."""
        self._sizes[path] += size
        self._entries += size

    # -- one label path

    def names_of(self, path: int) -> list[str]:
        """The names from the root to the node."""
        return [self.names[self.name[at]] for at in self.chain(path)]

    def chain(self, path: int) -> list[int]:
        """The label paths from the root's to this one."""
        chain = []
        while path != ROOT_PATH:
            chain.append(path)
            path = self.parent[path]
        return chain[::-1]

    def reached(self, path: int) -> Ints:
        """The states that the NFA reaches at a label path."""
        known = self._reached.get(path)
        return self._states.reach(self._active_at(self.parent[path]), self._name(path)) if known is None else known

    def _name(self, path: int) -> str:
        return self.names[self.name[path]]

    def _code(self, name: str) -> int:
        code = self._codes.get(name)
        if code is None:
            code = self._codes[name] = len(self.names)
            self.names.append(name)
        return code

    def _add(self, parent: int, name: int) -> int:
        path = len(self.parent)
        self.parent.append(parent)
        self.name.append(name)
        reached = self._states.reach(self._active_at(parent), self.names[name])
        self._remember(self._reached, path, reached)
        plan, size = self._make_plan(path, reached)
        self.plans.append(plan)
        self._sizes.append(size)
        self._entries += size
        self._children[parent << 32 | name] = path
        return path

    def _active_at(self, path: int) -> Ints:
        """The states that are active below a label path; most label paths have nothing below, so only on demand."""
        missing = []
        while path not in self._active and path != ROOT_PATH:
            missing.append(path)
            path = self.parent[path]
        active = self._active[path] if path in self._active else self._states.start()
        for below in reversed(missing):
            reached = self._reached.get(below)
            if reached is None:
                reached = self._states.reach(active, self._name(below))
            active = self._states.activate(active, reached)
            self._remember(self._active, below, active)
        return active

    def _remember(self, where: dict[int, Ints], path: int, states: Ints) -> None:
        """State sets are only needed where a new child is seen, so they are a cache: they can be made again."""
        if self._cached > self._bounds.states:
            self._active.clear()
            self._reached.clear()
            self._cached = 0
        where[path] = states
        self._cached += states.size
