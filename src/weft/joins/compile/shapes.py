"""An XSCL plan in, its shape in numbers out: queries that ask the same of the same documents have equal shapes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from weft.joins.compile.graph import Definition, JoinGraph, core, definitions
from weft.joins.match.witness import FirstStage
from weft.plans.flwr import Slot
from weft.plans.plan import Comparison, Link
from weft.plans.walk import walk
from weft.plans.xscl import Block, Derivation, Join, JoinOperator, Term, Window, Xscl


@dataclass(frozen=True, slots=True)
class Side:
    """A block as a tree of variables, parents first: the variable of each place, its parent's place, and the edge."""

    stream: str
    variables: tuple[int, ...]
    parents: tuple[int, ...]  # -1 at the top
    edges: tuple[int, ...]  # from the parent; -1 at the top
    output: tuple[int, ...]  # the places whose nodes are part of the message

    @property
    def top(self) -> int:
        """The variable at the top."""
        return self.variables[0]


@dataclass(frozen=True, slots=True)
class Condition:
    """Two places of two blocks whose values stand in a relation.

    `values` has the variables whose values those are: other ones than those of the places where values are derived.
    """

    left: tuple[int, int]
    operator: Comparison
    right: tuple[int, int]
    values: tuple[int, int]
    derived: tuple[tuple[Derivation, ...], tuple[Derivation, ...]] = ((), ())

    def value(self, end: tuple[int, int]) -> int:
        """The variable whose value is compared at one of the ends."""
        return self.values[end != self.left]


@dataclass(frozen=True, slots=True)
class Joined:
    """How a block is joined to those before it."""

    operator: JoinOperator
    window: Window
    conditions: tuple[Condition, ...]
    span: tuple[int, int] | None = None  # the first block before it and the last one behind, if not its neighbours


#: A window, and the stream whose documents it counts if it counts any.
Hop = tuple[Window, str]


@dataclass(frozen=True, slots=True)
class Shape:
    """A query in numbers. `joins[i]` joins `sides[i + 1]` to the sides before it."""

    sides: tuple[Side, ...]
    joins: tuple[Joined, ...]

    @property
    def is_absence(self) -> bool:
        """Whether the last block must not follow."""
        return bool(self.joins) and self.joins[-1].operator == "NOT FOLLOWED BY"

    @property
    def present(self) -> int:
        """How many of the blocks a match has documents for."""
        return len(self.sides) - self.is_absence

    @property
    def is_pairwise(self) -> bool:
        """Whether two documents alone tell if they match, whatever other documents there are."""
        return self.present == len(self.sides) == 2 and self.joins[0].window.documents is None

    def conditions(self, blocks: int) -> list[Condition]:
        """All conditions among the first blocks."""
        return [condition for join in self.joins[: blocks - 1] for condition in join.conditions]

    @property
    def has_spans(self) -> bool:
        """Whether some join has more than its neighbours at a side."""
        return any(join.span is not None for join in self.joins)

    def ends(self, join: int) -> tuple[range, range]:
        """The blocks before a join, and those behind it, whose latest documents its window lies between."""
        first, last = self.joins[join].span or (join, join + 1)
        return range(first, join + 1), range(join + 1, last + 1)

    def ways(self) -> Iterator[tuple[str, tuple[Hop, ...]]]:
        """For each block its stream, and the windows from it to each end of the chain, nearest first."""
        if self.has_spans:  # whatever comes first: all windows together lead from each block to each other one
            hops = tuple((join.window, self.sides[at].stream) for at, join in enumerate(self.joins))
            yield from ((side.stream, hops) for side in self.sides)
            return
        for block, side in enumerate(self.sides):
            behind = [(self.joins[at].window, self.sides[at].stream) for at in range(block, len(self.joins))]
            before = [(self.joins[at - 1].window, self._counted_back(at)) for at in range(block, 0, -1)]
            yield side.stream, tuple(behind)
            yield side.stream, tuple(before)

    def _counted_back(self, block: int) -> str:
        """The stream whose documents close the window before a block: its own, for what is joined with may still come.

        What must not follow is needed as long as a match before it waits, and that counts its own documents.
        """
        return self.sides[block - 1 if self.joins[block - 1].operator == "NOT FOLLOWED BY" else block].stream


def output_terms(plan: Xscl) -> list[Term]:
    """The variables whose nodes make one message differ from another: those of SELECT, or each block's output."""
    blocks = plan.present
    if plan.select is None:
        return [Term(at, block.output) for at, block in enumerate(blocks)]
    places = [Term(at, place) for at, block in enumerate(blocks) for place in range(len(block.variables))]
    shown = {part.variable for part in walk(plan.select) if isinstance(part, Slot)}
    return [places[variable] for variable in sorted(shown)]


@dataclass(frozen=True, slots=True)
class CompiledJoin:
    """A plan's shape, where its variables are in it, and all that it asked the first stage for."""

    shape: Shape
    places: tuple[dict[int, int], ...]  # for each block: variable of the plan -> place of the side
    definitions: tuple[tuple[Definition, ...], ...]  # for each block and place
    asked: tuple[tuple[int, bool], ...]  # numbers of the first stage, and whether values were asked for


class _Asking:
    """Asks the first stage, and remembers what for."""

    def __init__(self, stage: FirstStage) -> None:
        self._stage = stage
        self.asked: list[tuple[int, bool]] = []

    def variable(self, definition: Definition, valued: bool) -> int:
        self.asked.append((self._stage.add_variable(definition, valued), valued))
        return self.asked[-1][0]

    def edge(self, definition: Definition, links: tuple[Link, ...]) -> int:
        self.asked.append((self._stage.add_edge(definition, links), False))
        return self.asked[-1][0]


def compile_plan(plan: Xscl, stage: FirstStage) -> CompiledJoin:
    """Ask the first stage for all that a plan needs; for nothing if it does not take all of it."""
    asking = _Asking(stage)
    try:
        return _compile(plan, asking)
    except BaseException:
        for number, valued in asking.asked:
            stage.remove(number, valued)
        raise


def _compile(plan: Xscl, asking: _Asking) -> CompiledJoin:
    outputs = output_terms(plan)
    predicates = [predicate for join in plan.joins for predicate in join.predicates]
    compared = [term for predicate in predicates for term in (predicate.left, predicate.right)]
    sides, places, defined = [], [], []
    values: dict[Term, int] = {}  # the variable of each value that is compared
    for at, block in enumerate(plan.blocks):
        here = [term for term in compared if term.block == at]
        kept = {term.variable for term in (*outputs, *here) if term.block == at}
        graph, made = _core(block, frozenset(kept or {block.output}))
        where = {node.variable: place for place, node in enumerate(graph.nodes)}
        for term in here:
            if term not in values:
                values[term] = asking.variable(replace(made[where[term.variable]], derived=term.derived), True)
        variables = tuple(
            _variable_of_place(asking, each, [values[term] for term in here if where[term.variable] == place])
            for place, each in enumerate(made)
        )
        edges = tuple(
            -1 if node.parent is None else asking.edge(made[node.parent], each.links)
            for each, node in zip(made, graph.nodes, strict=True)
        )
        shown = tuple(sorted(where[term.variable] for term in outputs if term.block == at))
        parents = tuple(-1 if node.parent is None else node.parent for node in graph.nodes)
        sides.append(Side(block.stream, variables, parents, edges, shown))
        places.append(where)
        defined.append(made)
    joins = tuple(_joined(join, places, values) for join in plan.joins)
    return CompiledJoin(Shape(tuple(sides), joins), tuple(places), tuple(defined), tuple(asking.asked))


_CORES: dict[tuple[int, frozenset[int]], tuple[Block, JoinGraph, tuple[Definition, ...]]] = {}
_MOST_CORES = 1_024


def _core(block: Block, kept: frozenset[int]) -> tuple[JoinGraph, tuple[Definition, ...]]:
    """The core of a block and its definitions: queries that differ in one block have the other one in common."""
    known = _CORES.get((id(block), kept))
    if known is None or known[0] is not block:
        if len(_CORES) >= _MOST_CORES:
            _CORES.clear()
        graph = core(block, kept)
        known = _CORES[id(block), kept] = block, graph, definitions(graph)
    return known[1], known[2]


def _variable_of_place(asking: _Asking, definition: Definition, values: list[int]) -> int:
    """The variable with the nodes of a place: one of those whose values are compared, or one for the nodes alone."""
    return values[0] if values else asking.variable(definition, False)


def _joined(join: Join, places: Sequence[dict[int, int]], values: dict[Term, int]) -> Joined:
    def place(term: Term) -> tuple[int, int]:
        return term.block, places[term.block][term.variable]

    conditions = tuple(
        Condition(
            place(one.left),
            one.operator,
            place(one.right),
            (values[one.left], values[one.right]),
            (one.left.derived, one.right.derived),
        )
        for one in join.predicates
    )
    return Joined(join.operator, join.window, conditions, join.span)
