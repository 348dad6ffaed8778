"""A query in, its prefixes out: what the nodes of a view would have to be to answer it by going on from them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from weft.plans.containment.steps import Stretch, links_of, stretch_of
from weft.plans.formulas import looks_outside
from weft.plans.plan import (
    Among,
    And,
    Combine,
    Derived,
    Link,
    Not,
    Or,
    Path,
    Pattern,
    Rank,
    Selection,
    Step,
    Test,
    conjunction,
    has,
)
from weft.plans.walk import walk
from weft.views.answering.rewriting import Compensation


@dataclass(frozen=True)
class Prefix:
    """The first steps of a query, with their tests, and the links that go on from there to the answer."""

    steps: tuple[tuple[Step, tuple[Test, ...]], ...]
    links: tuple[Link, ...]

    @property
    def first(self) -> Step:
        """The step to the root element, or to wherever the query begins."""
        return self.steps[0][0]

    @property
    def last(self) -> Step:
        """The step to the nodes that a view would have."""
        return self.steps[-1][0]

    @cached_property
    def nodes(self) -> Pattern:
        """The nodes of the prefix, whether or not the query goes on from them."""
        return _pattern([(step, list(tests)) for step, tests in self.steps])

    @cached_property
    def bound(self) -> Pattern:
        """Those that the query goes on from."""
        *before, (last, tests) = [(step, list(tests)) for step, tests in self.steps]
        return _pattern([*before, (last, [*tests, *self._onward])])

    @cached_property
    def path(self) -> Path:
        """What a row's own path has to pass."""
        return tuple(step for step, _ in self.steps)

    @cached_property
    def test(self) -> Test | None:
        """What can be seen in a row's fragment alone; a node's position among its siblings cannot."""
        parts = [part for test in self.steps[-1][1] for part in (test.tests if isinstance(test, And) else (test,))]
        return conjunction([part for part in parts if not _asks_position(part)])

    @cached_property
    def passing_path(self) -> Pattern:
        """All nodes on such paths."""
        return Pattern(None, self.path)

    @cached_property
    def passing(self) -> Pattern:
        """All nodes on such paths that pass what can be seen in a fragment, and that the query could go on from."""
        tests = [*([self.test] if self.test is not None else []), *self._onward]
        return Pattern(None, self.path, conjunction(tests))

    def compensation(self, by_path: bool, by_test: bool) -> Compensation:
        """What makes the answer of rows, if their paths, or their nodes, still have to be looked at."""
        path = self.path if by_path else None
        return Compensation(path, self.test if by_test else None, self.links, self.last.kind)

    @property
    def _onward(self) -> list[Test]:
        return [has(self.links)] if self.links else []


def prefixes(query: Pattern) -> Iterator[Prefix]:
    """All prefixes of a query, the longest first."""
    here, steps = stretch_of(links_of(query))
    if here or any(map(_looks_outside, walk(query))):
        return
    for size in range(len(steps), 0, -1):
        yield Prefix(tuple((step, tuple(tests)) for step, tests in steps[:size]), _links(steps[size:]))


def result_patterns(selection: Selection) -> list[Pattern]:
    """Patterns that together have all nodes of a selection."""
    match selection:
        case Combine("union", parts):
            return [pattern for part in parts for pattern in result_patterns(part)]
        case Combine(_, (first, *_)):
            return result_patterns(first)
        case Pattern():
            return [selection]
    return []


def pattern_of(links: Iterable[Link]) -> Pattern:
    """The pattern that links from the document lead to."""
    return _pattern(stretch_of(links)[1])


def _pattern(steps: Stretch) -> Pattern:
    found: Pattern | None = None
    for link in _links(steps):
        found = Pattern(found, link.path, link.test)
    assert found is not None, "a query has steps"
    return found


def _links(steps: Stretch) -> tuple[Link, ...]:
    """Steps as links, as few as the tests allow."""
    links: list[Link] = []
    path: list[Step] = []
    for at, (step, tests) in enumerate(steps):
        path.append(step)
        if tests or at == len(steps) - 1:
            links.append(Link(tuple(path), conjunction(tests)))
            path = []
    return tuple(links)


def _looks_outside(part: object) -> bool:
    """Whether a part of a plan may look at more than what is in a row's fragment."""
    return isinstance(part, Among) or (isinstance(part, Derived) and looks_outside(part.formula))


def _asks_position(test: Test) -> bool:
    """Whether a test on a node asks for its position."""
    match test:
        case And(tests) | Or(tests):
            return any(map(_asks_position, tests))
        case Not(part):
            return _asks_position(part)
        case _:
            return isinstance(test, Rank)
