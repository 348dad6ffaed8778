"""An XSCL query of two blocks in, its join graph out; and a join graph in, its minor out.

The minor (section 4.2 of the paper) keeps the nodes that take part in value joins and those where paths to them part.
What it removes is not forgotten: it goes into the *links* of the nodes that remain, as steps where a node is contracted
and as `Has` tests where a subtree is removed. So the first stage answers for all of it, and the second need not know.

Nodes for the output (a block's `output`, what SELECT shows) that take part in no value join and where no paths part are
removed too: a result is then two documents and the nodes of the template, and who wants more asks the documents again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from weft.errors import ConfigurationError
from weft.plans.flwr import Variable
from weft.plans.plan import And, Comparison, Has, Link, Pattern, Test, conjunction
from weft.plans.xscl import Block, Derivation, Term, Xscl


@dataclass(frozen=True, slots=True)
class GraphNode:
    """A node of the graph: a variable's place in its block, and how it is reached from its parent, or the root."""

    parent: int | None  # a node further to the front
    links: tuple[Link, ...]
    variable: int


@dataclass(frozen=True, slots=True, order=True)
class ValueJoin:
    """Two nodes, one of each side, whose values stand in this relation."""

    left: int
    operator: Comparison
    right: int


@dataclass(frozen=True, slots=True)
class JoinGraph:
    """The variables of two blocks as two trees, the left one's nodes first, and the value joins between them."""

    streams: tuple[str, str]
    left: int  # how many nodes the left side has
    nodes: tuple[GraphNode, ...]
    joins: tuple[ValueJoin, ...]
    kept: frozenset[int] = frozenset()  # nodes that stay although they take part in no value join

    def joined(self) -> set[int]:
        """The nodes that take part in value joins, and others that stay."""
        return {node for join in self.joins for node in (join.left, join.right)} | self.kept

    def children(self) -> list[list[int]]:
        """The children of each node."""
        children: list[list[int]] = [[] for _ in self.nodes]
        for place, node in enumerate(self.nodes):
            if node.parent is not None:
                children[node.parent].append(place)
        return children


@dataclass(frozen=True, slots=True)
class Definition:
    """What makes a variable: its stream, the variable it starts from, and how it is reached from there.

    Variables with equal definitions are one variable, in whatever query they are.
    """

    stream: str
    parent: Definition | None
    links: tuple[Link, ...]
    derived: tuple[Derivation, ...] = ()  # what the values of its nodes go through
    _hash: int = field(
        init=False, repr=False, compare=False, default=0
    )  # a definition is a key, and so are its parents

    def __post_init__(self) -> None:
        object.__setattr__(self, "_hash", hash((self.stream, self.parent, self.links, self.derived)))

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        """Made anew elsewhere: hashes are not the same in every process."""
        return Definition, (self.stream, self.parent, self.links, self.derived)

    def way(self) -> tuple[Link, ...]:
        """The links from the document's root."""
        return _merged((() if self.parent is None else self.parent.way()) + self.links)

    def pattern(self) -> Pattern:
        """The whole way from the document's root as a pattern."""
        pattern: Pattern | None = None
        for link in self.way():
            pattern = Pattern(pattern, link.path, link.test)
        assert pattern is not None, "a variable has at least one link"
        return pattern


def join_graph(query: Xscl) -> JoinGraph:
    """The join graph of a query with two blocks and one JOIN or FOLLOWED BY; equal predicates are one value join."""
    if len(query.blocks) != 2 or query.joins[0].operator == "NOT FOLLOWED BY":
        found = f"{len(query.blocks)} blocks, {', '.join(join.operator for join in query.joins) or 'no join'}"
        raise ConfigurationError(f"join graph: expected two blocks with JOIN or FOLLOWED BY, found {found}")
    predicates = query.joins[0].predicates
    if any(term.derived for one in predicates for term in (one.left, one.right)):
        raise ConfigurationError("join graph: expected values as they stand in documents, found functions of them")
    if not any(predicate.operator == "=" for predicate in predicates):
        raise ConfigurationError("join graph: expected at least one = among the predicates, found none")
    starts = (0, len(query.blocks[0].variables))
    nodes = tuple(
        _node(variable, place, start)
        for block, start in zip(query.blocks, starts, strict=True)
        for place, variable in enumerate(block.variables)
    )

    def place(term: Term) -> int:
        return starts[term.block] + term.variable

    joins = {ValueJoin(place(one.left), one.operator, place(one.right)) for one in predicates}
    return JoinGraph((query.blocks[0].stream, query.blocks[1].stream), starts[1], nodes, tuple(sorted(joins)))


def core(block: Block, kept: Iterable[int]) -> JoinGraph:
    """The tree of a block alone, with the variables that must stay and those where the ways to them part.

    It is as if all of them took part in value joins; with the others gone, what they asked for is in the links.
    """
    nodes = tuple(_node(variable, place, 0) for place, variable in enumerate(block.variables))
    return minor(JoinGraph((block.stream, block.stream), len(nodes), nodes, (), frozenset(kept)))


def _node(variable: Variable, place: int, start: int) -> GraphNode:
    parent = None if variable.source is None else start + variable.source
    return GraphNode(parent, _also(variable.links, variable.where), place)


def minor(graph: JoinGraph) -> JoinGraph:
    """The graph with all reduction rules applied."""
    for rule in RULES:
        graph = rule(graph)
    return graph


def remove_leaves(graph: JoinGraph) -> JoinGraph:
    """Rule 1: leaves without value joins go, and what become leaves by that; their parents test that they exist.

    `S//a->x[b->y][c->z]` with `y = …` alone keeps `S//a[c]->x[b->y]`.
    """
    nodes, children, joined = list(graph.nodes), graph.children(), graph.joined()
    kept = set(range(len(nodes)))
    for place in reversed(range(len(nodes))):  # children stand behind their parents
        node = nodes[place]
        if place in joined or node.parent is None or kept.intersection(children[place]):
            continue
        kept.remove(place)
        parent = nodes[node.parent]
        nodes[node.parent] = GraphNode(parent.parent, _also(parent.links, _exists(node.links)), parent.variable)
    return _compact(graph, nodes, kept)


def remove_above(graph: JoinGraph) -> JoinGraph:
    """Rule 2: the nodes above the least common ancestor of a side's leaves go; the path through them stays.

    `S//a->x/b->y[c->z][d->w]` with `z = … AND w = …` keeps `S//a/b->y[c->z][d->w]`. A node that takes part in a value
    join counts like a leaf: the value of `x` is asked for, whatever is below it.
    """
    children, joined = graph.children(), graph.joined()
    removed: set[int] = set()
    for place, node in enumerate(graph.nodes):
        is_top = node.parent is None or node.parent in removed
        if is_top and place not in joined and len(children[place]) == 1:
            removed.add(place)
    return _contract(graph, removed)


def contract(graph: JoinGraph) -> JoinGraph:
    """Rule 3: nodes with one child that take part in no value join go; the path through them stays."""
    children, joined = graph.children(), graph.joined()
    return _contract(graph, {place for place, below in enumerate(children) if len(below) == 1} - joined)


#: In the paper's order: the ancestors of leaves are known when the leaves are.
RULES: tuple[Callable[[JoinGraph], JoinGraph], ...] = (remove_leaves, remove_above, contract)


def definitions(graph: JoinGraph) -> tuple[Definition, ...]:
    """The definition of each node's variable."""
    made: list[Definition] = []
    for place, node in enumerate(graph.nodes):
        parent = None if node.parent is None else made[node.parent]
        made.append(Definition(graph.streams[place >= graph.left], parent, _merged(node.links)))
    return tuple(made)


def _contract(graph: JoinGraph, removed: set[int]) -> JoinGraph:
    """The graph without these nodes, each of which has one child; the child starts with their links."""
    if not removed:
        return graph
    nodes = list(graph.nodes)
    for place, node in enumerate(nodes):  # parents first, so that a chain of them adds up
        if node.parent in removed:
            above = nodes[node.parent]
            nodes[place] = GraphNode(above.parent, above.links + node.links, node.variable)
    return _compact(graph, nodes, set(range(len(nodes))) - removed)


def _compact(graph: JoinGraph, nodes: list[GraphNode], kept: set[int]) -> JoinGraph:
    """The graph of the kept nodes, counted anew."""
    if len(kept) == len(graph.nodes):
        return graph
    order = sorted(kept)
    places = {old: new for new, old in enumerate(order)}
    parents = [nodes[old].parent for old in order]
    return JoinGraph(
        graph.streams,
        sum(place < graph.left for place in order),
        tuple(
            GraphNode(None if parent is None else places[parent], nodes[old].links, nodes[old].variable)
            for old, parent in zip(order, parents, strict=True)
        ),
        tuple(ValueJoin(places[one.left], one.operator, places[one.right]) for one in graph.joins),
        frozenset(places[old] for old in graph.kept),
    )


def _exists(links: tuple[Link, ...]) -> Test | None:
    """The test that the links lead to some node; `[a[b]]` is `[a/b]`."""
    test: Test | None = None
    for link in reversed(links):
        below = _both(link.test, test)
        test = Has(link.path + below.path, below.test) if isinstance(below, Has) else Has(link.path, below)
    return test


def _also(links: tuple[Link, ...], test: Test | None) -> tuple[Link, ...]:
    """The links, whose last nodes pass this test too."""
    return links if test is None else (*links[:-1], Link(links[-1].path, _both(links[-1].test, test)))


def _both(one: Test | None, other: Test | None) -> Test | None:
    """Both tests; each once and in one order, so that definitions that say the same in another order are equal."""
    test = conjunction([part for part in (one, other) if part is not None])
    if not isinstance(test, And):
        return test
    return conjunction(sorted(set(test.tests), key=repr))


def _merged(links: tuple[Link, ...]) -> tuple[Link, ...]:
    """The links, one stretch where there is no test between two, and tests in one order: equal ways look equal."""
    merged: list[Link] = []
    for link in links:
        test = _both(link.test, None)
        if merged and merged[-1].test is None:
            merged[-1] = Link(merged[-1].path + link.path, test)
        else:
            merged.append(Link(link.path, test))
    return tuple(merged)
