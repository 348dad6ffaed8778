"""Plans in, one shared plan of integers out: every distinct test, condition and pattern of all queries is one *node*.

A node holds at nodes of a document that its *state* of the NFA reaches. Nodes are made bottom-up and have a *height*,
so that a batch is evaluated height by height, all queries at once. Most have a *driver*: the part whose facts bring it
up, chosen so that what the data does not touch is not looked at. `nodes` and the tables of the kinds say the rest.
"""

from __future__ import annotations

from math import isnan

from weft.documents.dtd import Dtd
from weft.engine.paths.states import ROOT, States
from weft.engine.shared.distinct_nodes import DistinctNodes
from weft.engine.shared.edges import Edges
from weft.engine.shared.node_tables import FirstGoal
from weft.engine.shared.nodes import NOTHING, Chain, DriverCost, MeasureKind, NodeKind
from weft.plans.canonical_paths import canonical_path
from weft.plans.comparisons import HOLDS, OPPOSITE
from weft.plans.plan import (
    Always,
    Among,
    And,
    Comparison,
    Count,
    Derived,
    First,
    Has,
    Link,
    Named,
    Not,
    On,
    Or,
    Path,
    Pattern,
    Rank,
    Test,
    Value,
)

_LIFT = NodeKind.LIFT  # an enumeration's members are found slowly in Python 3.11


class SharedPlan(DistinctNodes):
    """The nodes of all queries of an index."""

    def __init__(self, dtd: Dtd | None = None) -> None:
        super().__init__()
        self._dtd = dtd
        self._names: dict[int, str] = {ROOT: ""}  # with a DTD, the element that a state is for
        self._canonical: dict[tuple[str | None, Path], Path] = {}
        self.states = States()
        self.edges = Edges()
        self._walks: dict[Path, int] = {}
        self._added: dict[tuple[int, int], tuple[Test, int]] = {}  # tests of the plan being added, and their nodes
        self._edge_numbers: dict[int, int] | None = None

    def __getstate__(self) -> dict[str, object]:
        return super().__getstate__() | {"_edge_numbers": None, "_canonical": {}, "_added": {}}

    def begin(self) -> None:
        """A plan is about to be added, or has been."""
        self._added.clear()

    def extend(self, state: int, path: Path) -> int:
        """The state behind a path, which is in its canonical form if there is a DTD to tell."""
        if self._dtd is None:
            return self.states.extend(state, path)
        key = (self._names.get(state), path)
        canonical = self._canonical.get(key)
        if canonical is None:
            canonical = self._canonical[key] = canonical_path(path, key[0], self._dtd)
        below = self.states.extend(state, canonical)
        label = canonical[-1].label
        if isinstance(label, str) and label in self._dtd:
            self._names[below] = label
        return below

    def add_pattern(self, pattern: Pattern) -> tuple[int, int]:
        """The state of a pattern and its node; no node where the state is all there is to it."""
        if pattern.parent is None:
            state = self.extend(ROOT, pattern.path)
            return state, NOTHING if pattern.test is None else self.add_test(pattern.test, state)
        above, parent = self.add_pattern(pattern.parent)
        state = self.extend(above, pattern.path)
        test = NOTHING if pattern.test is None else self.add_test(pattern.test, state)
        return state, self.down(state, self.add_edge(above, state), parent, test)

    # -- tests

    def add_test(self, test: Test, state: int) -> int:
        """The node of a test on what a state reaches; one that stands in the plan several times is looked at once."""
        kind = type(test)  # by far the most are of two kinds
        if kind is Has:
            return self._add_has(state, test.path, test.test)  # type: ignore[union-attr]
        if kind is Value:
            return self.value(state, test)  # type: ignore[arg-type]
        if not isinstance(test, And | Or):
            return self._add_test(test, state)
        key = id(test), state
        if key not in self._added:
            self._added[key] = test, self._add_test(test, state)  # the test is kept, so that its id stays its own
        return self._added[key][1]

    def _add_test(self, test: Test, state: int) -> int:
        match test:
            case Has(path, inner):
                return self._add_has(state, path, inner)
            case Value():
                return self.value(state, test)
            case And(tests):
                return self._add_and(state, tests)
            case Not():
                return self._add_and(state, (test,))
            case Or(tests):
                return self.disjunction(state, sorted({self.add_test(part, state) for part in tests}))
            case Rank():
                return self._add_rank(state, test)
            case Named(label):
                return self.named(state, label)
            case First():
                return self._add_first(state, test)
            case Count(links, operator, number):
                chain, _ = self.add_links(state, links)
                return self._compare_count(state, chain, self._leading(chain), operator, number)
            case Derived(formula, goal):
                return self.derived(state, formula, goal)
            case Among(formula):
                return self.derived(state, formula, None, is_member=True)
            case Always(value):
                return self._add_and(state, ()) if value else self.never(state)
            case On():
                raise TypeError("a test on a variable is worked out with its bindings, not here")

    def _add_has(self, state: int, path: Path, inner: Test | None) -> int:
        below = self.extend(state, path)
        edge = self.add_edge(state, below)
        if inner is None:
            return self.exists(state, edge)
        return self.lift(_LIFT, state, edge, self.add_test(inner, below))

    def _add_and(self, state: int, tests: tuple[Test, ...]) -> int:
        positive, negated = set(), set()
        for test in tests:
            if not isinstance(test, Not):
                positive.add(self.add_test(test, state))
            elif (opposite := self._add_opposite(state, test.test, tests)) is not None:
                positive.add(opposite)
            else:
                negated.add(self.add_test(test.test, state))
        is_led = any(self.nodes.cost[part] < DriverCost.EVERYTHING for part in positive)
        if negated and len(positive) + len(negated) > 1 and not is_led:
            oldest = min(negated)  # many may share it: where it holds, none of them comes up
            negated.remove(oldest)
            positive.add(self.conjunction(state, [], [oldest]))
        return self.conjunction(state, sorted(positive), sorted(negated))

    def _add_opposite(self, state: int, test: Test, beside: tuple[Test, ...]) -> int | None:
        """What holds where a test does not, if that can drive; `beside` holds too."""
        match test:
            case Count(links, operator, number) if not (isnan(number) or HOLDS[operator](0, number)):
                chain, _ = self.add_links(state, links)
                return self._compare_count(state, chain, NOTHING, OPPOSITE[operator], number)
            case Rank(before, operator, number) if _has_position(before, beside) and not isnan(number or 0.0):
                return self._add_rank(state, Rank(before, OPPOSITE[operator], number))
            case Value("!=", str(constant)):
                return self.value(state, Value("=", constant))
            case Has(path, Value("!=", str(constant)) as unequal):  # all are equal: one is, and none is not
                equal, other = self._add_has(state, path, Value("=", constant)), self._add_has(state, path, unequal)
                equal = self.conjunction(state, [equal], [other])
                if any(isinstance(part, Has) and part.path == path for part in beside):
                    return equal
                absent = self.conjunction(state, [], [self._add_has(state, path, None)])
                return self.disjunction(state, sorted((absent, equal)))
            case _:
                return None

    def _compare_count(self, state: int, chain: Chain, driver: int, operator: Comparison, number: float) -> int:
        return self.compare(state, self.measure(state, MeasureKind.COUNT, driver, chain), operator, number)

    def _add_first(self, state: int, first: First) -> int:
        links = first.links
        if len(links) > 1 or links[0].test is not None or first.fails:
            chain, end = self.add_links(state, links)
            driver = self._leading(chain, NOTHING if first.fails else self.value(end, first.test))
            return self.linked_path(state, driver, chain, FirstGoal(first.test, first.fails))
        below = self.extend(state, links[0].path)
        return self.lift(NodeKind.FIRST, state, self.add_edge(state, below), self.add_test(first.test, below))

    def _add_rank(self, state: int, rank: Rank) -> int:
        inner = NOTHING if rank.before is None else self.add_test(rank.before, state)
        kind = MeasureKind.FROM_END if rank.number is None else MeasureKind.POSITION
        return self.compare(state, self.measure(state, kind, inner), rank.operator, rank.number or 0.0)

    def _leading(self, chain: Chain, last: int = NOTHING) -> int:
        """A chain leads to anything, at which `last` holds too: it is so wherever something is found out of its end."""
        found = last
        for edge, below in reversed(chain):
            parts = sorted({part for part in (below, found) if part != NOTHING})
            above, end = self.edges.above[edge], self.edges.below[edge]
            if parts:
                found = self.lift(_LIFT, above, edge, self.conjunction(end, parts, []))
            else:
                found = self.exists(above, edge)
        return found

    def add_links(self, state: int, links: tuple[Link, ...]) -> tuple[Chain, int]:
        """Links from a state as a chain, from the top down, and the state that they lead to."""
        chain = []
        for link in links:
            below = self.extend(state, link.path)
            node = NOTHING if link.test is None else self.add_test(link.test, below)
            chain.append((self.add_edge(state, below), node))
            state = below
        return tuple(chain), state

    # -- edges

    def add_edge(self, above: int, below: int) -> int:
        """The edge between two states."""
        numbers = self._edge_numbers
        if numbers is None:
            ends = enumerate(zip(self.edges.above, self.edges.below, strict=True))
            numbers = self._edge_numbers = {up << 32 | down: edge for edge, (up, down) in ends if up != NOTHING}
        key = above << 32 | below
        edge = numbers.get(key)
        if edge is None:
            edge = numbers[key] = self.edges.add(above, below)
        return edge

    def add_walk(self, path: Path) -> int:
        """An edge that is only ever walked down: its path is not in the NFA."""
        walk = self._walks.get(path)
        if walk is None:
            walk = self._walks[path] = self.edges.add_walk(tuple(map(self.states.code, path)))
        return walk

    def path_of(self, edge: int) -> Path:
        """The path of an edge."""
        if edge in self.edges.walks:
            return tuple(map(self.states.step_of, self.edges.walks[edge]))
        return self.states.path(self.edges.below[edge], self.edges.above[edge])


def _has_position(before: Test | None, tests: tuple[Test, ...]) -> bool:
    """Whether what passes all of these tests has a position among what passes those before it."""
    return before is None or set(before.tests if isinstance(before, And) else (before,)) <= set(tests)
