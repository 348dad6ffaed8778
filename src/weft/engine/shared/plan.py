"""Plans in, one shared plan of integers out: every distinct test, condition and pattern of all queries is one *node*.

A node holds at nodes of a document that its *state* of the NFA reaches. Nodes are made bottom-up and have a *height*,
so that a batch is evaluated height by height, all queries at once. Each has one *driver*: the part whose facts bring
it up, chosen so that what the data does not touch is not looked at.
"""

from __future__ import annotations

from enum import IntEnum

from weft.columns.ragged import Pairs
from weft.documents.dtd import Dtd
from weft.documents.kind import Kind
from weft.engine.paths.states import ROOT, States
from weft.engine.shared.comparisons import reading_of
from weft.engine.shared.edges import Edges, code_step, decode_step
from weft.plans.canonical_paths import canonical_path
from weft.plans.plan import (
    Always,
    And,
    Count,
    First,
    Has,
    Label,
    Link,
    Named,
    Not,
    On,
    Or,
    Path,
    Pattern,
    Rank,
    Step,
    Test,
    Value,
)

NOTHING = -1
#: Links from the top down: an edge, and the node that must hold below it (NOTHING: any will do).
Chain = tuple[tuple[int, int], ...]


class NodeKind(IntEnum):
    """How a node comes to hold."""

    NEVER = 0  # never
    TEST = 1  # a value and a constant
    NAMED = 2  # a name
    EXISTS = 3  # an edge leads to anything
    LIFT = 4  # an edge leads to where another node holds
    FIRST = 5  # an edge leads first to where a test holds
    LINKED = 6  # links lead to so many nodes, or first to where a test holds
    AND = 7
    OR = 8
    RANK = 9  # the so-many-th sibling
    DOWN = 10  # a pattern: an edge leads here from where the parent pattern holds


class SharedPlan:
    """The nodes of all queries of an index."""

    def __init__(self, dtd: Dtd | None = None) -> None:
        self._dtd = dtd
        self._names: dict[int, str] = {ROOT: ""}  # with a DTD, the element that a state is for
        self._canonical: dict[tuple[str | None, Path], Path] = {}
        self.states = States()
        self.kind: list[NodeKind] = []
        self.height: list[int] = []
        self.state: list[int] = []
        self.edge: list[int] = []
        self.cost: list[int] = []
        self.detail: list[object] = []  # what else the kind needs
        self.driver: list[int] = []  # the node that drives, or NOTHING: all nodes that the state reaches
        self.dependents = Pairs()  # driver, node
        self.eager: set[int] = set()  # EXISTS nodes that drive something
        self.named = Pairs()  # state, NAMED node
        self.every = Pairs()  # state, node that the state itself drives
        self.edges = Edges()
        self.contexts: set[int] = set()  # states above deep edges
        self.shape: list[object] = []  # the plan being added, without its constants
        self._added: dict[tuple[int, int], tuple[Test, int]] = {}  # its tests at their states, and their nodes
        self._edge_ids: dict[int, int] = {}
        self._walks: dict[Path, int] = {}
        self._ids: dict[tuple[object, ...], int] = {}

    def __len__(self) -> int:
        return len(self.kind)

    def extend(self, state: int, path: Path) -> tuple[int, Path]:
        """The state behind a path, and the path in its canonical form if there is a DTD to tell."""
        if self._dtd is None:
            return self.states.extend(state, path), path
        key = (self._names.get(state), path)
        canonical = self._canonical.get(key)
        if canonical is None:
            canonical = self._canonical[key] = canonical_path(path, key[0], self._dtd)
        below = self.states.extend(state, canonical)
        label = canonical[-1].label
        if isinstance(label, str) and label in self._dtd:
            self._names[below] = label
        return below, canonical

    def begin(self) -> None:
        """A plan is about to be added, or has been."""
        self.shape.clear()
        self._added.clear()

    # -- patterns and tests

    def add_pattern(self, pattern: Pattern) -> tuple[int, int]:
        """The state of a pattern and its node; no node where the state is all there is to it."""
        if pattern.parent is None:
            state, _ = self.extend(ROOT, pattern.path)
            self.shape.append(state)
            return state, self.add_test(pattern.test, state) if pattern.test else NOTHING
        above, parent = self.add_pattern(pattern.parent)
        state, path = self.extend(above, pattern.path)
        self.shape.append(state)
        test = self.add_test(pattern.test, state) if pattern.test else NOTHING
        edge = self.add_edge(above, state, path)
        return state, self._add_down(state, edge, parent, test)

    def _add_down(self, state: int, edge: int, parent: int, test: int) -> int:
        by_test = test != NOTHING and self.cost[test] <= self.cost[parent]
        driver = test if by_test else parent
        height = 1 + max(self.height[parent], self.height[test] if test != NOTHING else 0)
        cost = min(self.cost[parent], self.cost[test]) if test != NOTHING else self.cost[parent]
        return self._node(NodeKind.DOWN, state, height, cost, edge, (parent, test, by_test), driver)

    def add_test(self, test: Test, state: int) -> int:
        """The node of a test on what a state reaches; one that stands in the plan several times is looked at once."""
        if not isinstance(test, And | Or):
            return self._add_test(test, state)
        key = id(test), state
        if key not in self._added:
            self._added[key] = test, self._add_test(test, state)  # the test is kept, so that its id stays its own
        return self._added[key][1]

    def _add_test(self, test: Test, state: int) -> int:
        match test:
            case Value():
                return self._add_value(state, test)
            case Has(path, inner):
                return self._add_has(state, path, inner)
            case And(tests):
                return self._add_and(state, tests)
            case Not(_):
                return self._add_and(state, (test,))
            case Or(tests):
                parts = tuple(sorted({self.add_test(part, state) for part in tests}))
                return self._add_or(state, parts)
            case Rank(before, operator, number):
                inner_node = self.add_test(before, state) if before else NOTHING
                height = 1 + (self.height[inner_node] if before else 0)
                cost = self.cost[inner_node] if before else 9
                detail = (operator, number)
                return self._node(NodeKind.RANK, state, height, cost, NOTHING, (inner_node, *detail), inner_node)
            case Named(label):
                return self._add_named(state, label)
            case First():
                return self._add_first(state, test)
            case Count(links, operator, number):
                return self._add_linked(state, links, (operator, number))
            case Always(value):
                if value:
                    return self._add_and(state, ())
                return self._node(NodeKind.NEVER, state, 0, 0, NOTHING, None, None)
            case On():
                raise TypeError("a test on a variable is worked out with its bindings, not here")

    def _add_value(self, state: int, value: Value) -> int:
        self.shape.append((state, value.operator))
        cost = 0 if value.operator == "=" else 9 if value.operator == "!=" else 2
        detail = (value.operator, value.constant, int(reading_of(value)))
        return self._node(NodeKind.TEST, state, 0, cost, NOTHING, detail, None)

    def _add_has(self, state: int, path: Path, inner: Test | None) -> int:
        below, path = self.extend(state, path)
        self.shape.append(below)
        edge = self.add_edge(state, below, path)
        if inner is None:
            return self._node(NodeKind.EXISTS, state, 0, 5, edge, None, None)
        child = self.add_test(inner, below)
        return self._node(NodeKind.LIFT, state, self.height[child] + 1, self.cost[child], edge, child, child)

    def _add_first(self, state: int, first: First) -> int:
        links = first.links
        if len(links) > 1 or links[0].test is not None or first.fails:
            return self._add_linked(state, links, (first.test, first.fails))
        below, path = self.extend(state, links[0].path)
        self.shape.append(below)
        edge = self.add_edge(state, below, path)
        child = self.add_test(first.test, below)
        return self._node(NodeKind.FIRST, state, 1, self.cost[child], edge, child, child)

    def _add_linked(self, state: int, links: tuple[Link, ...], goal: object) -> int:
        chain, _ = self.add_links(state, links)
        height = max((self.height[node] for _, node in chain if node != NOTHING), default=0)
        return self._node(NodeKind.LINKED, state, height + 1, 7, NOTHING, (chain, goal), NOTHING)

    def add_links(self, state: int, links: tuple[Link, ...]) -> tuple[Chain, int]:
        """Links from a state as a chain, from the top down, and the state that they lead to."""
        chain = []
        for link in links:
            below, path = self.extend(state, link.path)
            self.shape.append(below)
            node = self.add_test(link.test, below) if link.test else NOTHING
            chain.append((self.add_edge(state, below, path), node))
            state = below
        return tuple(chain), state

    def _add_and(self, state: int, tests: tuple[Test, ...]) -> int:
        positive = {self.add_test(test, state) for test in tests if not isinstance(test, Not)}
        negative = {self.add_test(test.test, state) for test in tests if isinstance(test, Not)}
        if len(positive) == 1 and not negative:
            return positive.pop()
        driver = min(positive, key=lambda node: (self.cost[node], node), default=NOTHING)
        checks = (*sorted(positive - {driver}), *(~node for node in sorted(negative)))
        height = 1 + max((self.height[node] for node in positive | negative), default=0)
        cost = self.cost[driver] if driver != NOTHING else 9
        return self._node(NodeKind.AND, state, height, cost, NOTHING, (driver, checks), driver)

    def _add_or(self, state: int, parts: tuple[int, ...]) -> int:
        if len(parts) == 1:
            return parts[0]
        height = 1 + max(self.height[part] for part in parts)
        cost = max(self.cost[part] for part in parts)
        size = len(self)
        node = self._node(NodeKind.OR, state, height, cost, NOTHING, parts, None)
        if node == size:
            for part in parts:
                self._drive(part, node)
        return node

    def _add_named(self, state: int, label: Label) -> int:
        size = len(self)
        node = self._node(NodeKind.NAMED, state, 0, 4, NOTHING, label, None)
        if node == size:
            self.named.add(state, node)
        return node

    # -- the tables

    def add_edge(self, above: int, below: int, path: Path) -> int:
        """The edge between two states; as a state has one way in, there is one path between two."""
        key = above << 32 | below
        edge = self._edge_ids.get(key)
        if edge is None:
            is_deep = any(step.deep for step in path)
            edge = self._edge_ids[key] = self.edges.add(above, below, 0 if is_deep else len(path), self._steps(path))
            if is_deep:
                self.contexts.add(above)
        return edge

    def add_walk(self, path: Path) -> int:
        """An edge that is only ever walked down: its path is not in the NFA."""
        walk = self._walks.get(path)
        if walk is None:
            walk = self._walks[path] = self.edges.add(NOTHING, NOTHING, 0, self._steps(path))
        return walk

    def _steps(self, path: Path) -> tuple[int, ...]:
        return tuple(code_step(self._symbol(step), step.kind, step.deep) for step in path)

    def path_of(self, edge: int) -> Path:
        """The path of an edge."""
        steps = map(decode_step, self.edges.steps[edge])
        return tuple(Step(self.states.label(symbol), deep, kind) for symbol, kind, deep in steps)

    def _symbol(self, step: Step) -> int:
        is_star = step.label == "*" and step.kind is Kind.ELEMENT
        return NOTHING if is_star else self.states.symbol(step.label, step.kind)

    def _node(
        self, kind: NodeKind, state: int, height: int, cost: int, edge: int, detail: object, driver: int | None
    ) -> int:
        """The node with this meaning. Driver None: it is brought up another way; NOTHING: by its state."""
        self.shape.append(kind)
        key = (int(kind), state, edge, detail)  # plain numbers: a tuple of them is nothing to the garbage collector
        node = self._ids.get(key)
        if node is None:
            node = self._ids[key] = len(self.kind)
            self.kind.append(kind)
            self.state.append(state)
            self.height.append(height)
            self.cost.append(cost)
            self.edge.append(edge)
            self.detail.append(detail)
            if driver == NOTHING:
                self.every.add(state, node)
            elif driver is not None:
                self._drive(driver, node)
        return node

    def _drive(self, driver: int, node: int) -> None:
        self.dependents.add(driver, node)
        if self.kind[driver] is NodeKind.EXISTS:
            self.eager.add(driver)
