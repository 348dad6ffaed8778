"""The plan of a query in, its pattern tree below the bottom input element out.

A *bottom input element* is a document of the stream: the root that a query begins with. What the query requires of it
as a conjunction of paths and values becomes patterns, each a path from its parent pattern's bindings; all else (`or`,
`not`, counts, positions) is left to the engine, which sees only the elements that the patterns let through.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

from weft.documents.kind import Kind
from weft.plans.flwr import Flwr, Slot
from weft.plans.lone_query import LoneQuery
from weft.plans.plan import (
    Always,
    And,
    Combine,
    First,
    Has,
    Label,
    Link,
    On,
    Path,
    Pattern,
    Selection,
    Test,
    Value,
)
from weft.plans.recipe import make_recipe
from weft.plans.walk import walk


@dataclass(frozen=True, slots=True)
class TreePattern:
    """Nodes that a path leads to from the bindings of the parent pattern; None is the bottom input element.

    Only the first step of its path may be deep. With `is_first` only the first node below each binding counts. What is
    not required is returned only.
    """

    parent: int | None
    path: Path
    tests: tuple[Value, ...] = ()
    is_first: bool = False
    is_required: bool = True


@dataclass(frozen=True)
class PatternTree:
    """The patterns of one query, parents before their children.

    `has_rest` tells that the query asks for more than the patterns do, `returns_element` that it selects, or copies
    alone, the bottom input element.
    """

    label: Label | None  # of the bottom input element; None: the query does not begin with it, and has no patterns
    patterns: tuple[TreePattern, ...]
    has_rest: bool = False
    returns_element: bool = False

    @cached_property
    def required(self) -> tuple[int, ...]:
        """The patterns that have a place: in, or out."""
        return tuple(at for at, pattern in enumerate(self.patterns) if pattern.is_required)

    def ancestors(self, number: int) -> list[int]:
        """The patterns above one, the nearest first."""
        found = []
        above = self.patterns[number].parent
        while above is not None:
            found.append(above)
            above = self.patterns[above].parent
        return found

    def descendants(self, number: int) -> list[int]:
        """The required patterns below one, parents first."""
        below = {number}
        for at in self.required:
            if self.patterns[at].parent in below:
                below.add(at)
        return sorted(below - {number})

    def children(self, number: int | None) -> list[int]:
        """The required patterns right below one, or right below the element."""
        return self._children.get(number, [])

    @cached_property
    def _children(self) -> dict[int | None, list[int]]:
        found: dict[int | None, list[int]] = {}
        for at in self.required:
            found.setdefault(self.patterns[at].parent, []).append(at)
        return found

    def full_path(self, number: int) -> Path:
        """The path from the element, which is not on it."""
        path: Path = ()
        for at in (number, *self.ancestors(number)):
            path = self.patterns[at].path + path
        return path


def pattern_tree(plan: Selection | Flwr | LoneQuery) -> PatternTree:
    """The patterns of a query; one that does not begin with its element by name has none, and is all rest."""
    growing = _Growing()
    match plan:
        case Pattern():
            growing.add_chain(plan)
        case Flwr():
            growing.add_flwr(plan)
        case Combine() | LoneQuery():
            growing.has_rest = True
    if not growing.is_begun:
        return PatternTree(None, (), has_rest=True)
    return PatternTree(growing.label, tuple(growing.patterns), growing.has_rest, growing.returns_element)


class _Growing:
    """A tree while patterns are added."""

    def __init__(self) -> None:
        self.patterns: list[TreePattern] = []
        self.label: Label = ""
        self.is_begun = self.has_rest = self.returns_element = False

    def add_chain(self, last: Pattern) -> None:
        chain = [last]
        while (above := chain[-1].parent) is not None:
            chain.append(above)
        at = self._begin(chain[-1].path)
        if not self.is_begun:
            return
        self.add_test(at, chain[-1].test)
        for pattern in reversed(chain[:-1]):
            at = self.add_path(at, pattern.path)
            self.add_test(at, pattern.test)
        self.returns_element = at is None

    def add_flwr(self, plan: Flwr) -> None:
        bound: list[int | None] = []
        for variable in plan.variables:
            links = list(variable.links)
            if variable.source is None:
                if bound:  # another document's element: the engine pairs them
                    self.has_rest = True
                    bound.append(None)
                    continue
                at = self._begin(links[0].path)
                if not self.is_begun:
                    return
                self.add_test(at, links.pop(0).test)
            else:
                at = bound[variable.source]
            at = self._add_links(at, links)
            self.add_test(at, variable.where)
            bound.append(at)
        self._add_where(plan.where, bound)
        for slot in dict.fromkeys(part for part in walk(plan.returned) if isinstance(part, Slot)):
            if slot.links:
                self._add_links(bound[slot.variable], list(slot.links), is_required=False)
        self.returns_element = len(plan.variables) == 1 and bound == [None] and _copies_element(plan)

    def _begin(self, path: Path) -> int | None:
        """The bottom input element is what the first step is for."""
        first = path[0]
        if first.deep or first.kind is not Kind.ELEMENT:
            return None
        self.is_begun, self.label = True, first.label
        return self.add_path(None, path[1:])

    def _add_links(self, at: int | None, links: list[Link], *, is_required: bool = True) -> int | None:
        for link in links:
            at = self.add_path(at, link.path, is_required=is_required)
            if is_required:  # what is asked of returned nodes is the message's own
                self.add_test(at, link.test)
        return at

    def add_path(self, at: int | None, path: Path, *, is_required: bool = True) -> int | None:
        """Patterns for the stretches of a path, each with a deep step at its begin at most."""
        cuts = [0, *(place for place, step in enumerate(path) if step.deep and place), len(path)]
        for start, end in pairwise(cuts if path else [0]):
            self.patterns.append(TreePattern(at, path[start:end], is_required=is_required))
            at = len(self.patterns) - 1
        return at

    def add_test(self, at: int | None, test: Test | None) -> None:
        """What a conjunction asks of a pattern's nodes, or of the element."""
        match test:
            case None | Always(True):
                pass
            case And(tests):
                for part in tests:
                    self.add_test(at, part)
            case Has(path, inner):
                self.add_test(self.add_path(at, path), inner)
            case First((Link(path, None),), value, False) if not any(step.deep for step in path[1:]):
                number = self.add_path(at, path)
                assert number is not None, "a first node is behind a path"
                self.patterns[number] = replace(self.patterns[number], tests=(value,), is_first=True)
            case Value() if at is not None:
                pattern = self.patterns[at]
                self.patterns[at] = replace(pattern, tests=(*pattern.tests, test))
            case _:
                self.has_rest = True

    def _add_where(self, test: Test | None, bound: list[int | None]) -> None:
        for part in test.tests if isinstance(test, And) else [test] if test is not None else []:
            if isinstance(part, On):
                self.add_test(bound[part.variable], part.test)
            else:
                self.has_rest = True


def _copies_element(plan: Flwr) -> bool:
    """Whether all that is returned is constants and copies of what the variables bind."""
    recipe, slots = make_recipe(plan)
    return recipe.is_plain and not recipe.keys and not any(slot.links for slot in slots)
