"""A minor in, its template out: the canonical form of its shape, and which node of the minor each of its nodes is.

Two minors have one template if there is an isomorphism between them that keeps sides, parents and the operators of the
value joins. This is how the paper's table 3 counts, as its numbers show: the left and the right side are told apart (of
the three templates with two value joins, two are mirror images: one left leaf with two right ones, and the opposite); a
leaf may take part in several value joins, but a pair of leaves in one; only leaves take part; and every other node has
at least two children, so a side with one leaf is that leaf alone. For flat schemas that gives 1, 3, 6, 16 for one to
four value joins, for any trees 1, 3, 16, 215. (Section 6 counts otherwise: its 6 and 22 templates for at most three and
four value joins over three levels are what there is if mirror images are one and a leaf takes part in one value join.)
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from weft.joins.compile.graph import JoinGraph, ValueJoin
from weft.plans.plan import Comparison

_SHAPES = 1 << 16  # remembered shapes; a workload has far fewer


@dataclass(frozen=True, slots=True)
class Template:
    """The shape of a minor. Nodes are counted left side first, parents before children; value joins are sorted.

    A side that is one node has no structural edge: its witnesses are unary.
    """

    left: int  # how many nodes the left side has
    parents: tuple[int | None, ...]
    joins: tuple[ValueJoin, ...]

    def is_left(self, node: int) -> bool:
        """Whether a node is on the left side."""
        return node < self.left

    def equated(self) -> set[int]:
        """The nodes that take part in equalities."""
        return {node for join in self.joins if join.operator == "=" for node in (join.left, join.right)}


#: For each node of a template the node of the minor that it is.
Places = tuple[int, ...]
_Colours = tuple[int, ...]
_Neighbourhood = tuple[int, int, tuple[int, ...], tuple[tuple[str, int], ...]]


def template_of(minor: JoinGraph) -> tuple[Template, Places]:
    """The template of a minor, and its nodes; where there are symmetries, what is first in the query comes first."""
    return _canonical(Template(minor.left, tuple(node.parent for node in minor.nodes), tuple(sorted(minor.joins))))


@lru_cache(_SHAPES)
def _canonical(shape: Template) -> tuple[Template, Places]:
    """A shape as it is counted in some query, in its canonical form."""
    return _Labelling(shape).best(_start(shape))


def _start(shape: Template) -> _Colours:
    """Colours that put the left side first, and parents before children."""
    depths: list[int] = []
    for parent in shape.parents:
        depths.append(0 if parent is None else depths[parent] + 1)
    keys = [(node >= shape.left, depth) for node, depth in enumerate(depths)]
    ranks = {key: rank for rank, key in enumerate(sorted(set(keys)))}
    return tuple(ranks[key] for key in keys)


class _Labelling:
    """Canonical labelling by individualization and refinement: colours that no neighbourhood tells apart are split by
    choosing one node after the other, and the least form of all choices is canonical."""

    def __init__(self, shape: Template) -> None:
        self._shape = shape
        self._children: list[list[int]] = [[] for _ in shape.parents]
        self._partners: list[list[tuple[Comparison, int]]] = [[] for _ in shape.parents]
        for node, parent in enumerate(shape.parents):
            if parent is not None:
                self._children[parent].append(node)
        for join in shape.joins:
            self._partners[join.left].append((join.operator, join.right))
            self._partners[join.right].append((join.operator, join.left))

    def best(self, colours: _Colours) -> tuple[Template, Places]:
        """The least form that these colours allow."""
        colours = self._refine(colours)
        cell = _cell(colours)
        if not cell:
            return self._form(colours)
        best: tuple[Template, Places] | None = None
        seen: set[Template] = set()
        for node in cell:
            chosen = _individualize(colours, node)
            sample, _ = self._any(chosen)
            if sample in seen:  # an automorphism: all forms below this choice are below one before it too
                continue
            seen.add(sample)
            found = self.best(chosen)
            if best is None or _key(found[0]) < _key(best[0]):
                best = found
        assert best is not None
        return best

    def _any(self, colours: _Colours) -> tuple[Template, Places]:
        """One of the forms that these colours allow."""
        colours = self._refine(colours)
        while cell := _cell(colours):
            colours = self._refine(_individualize(colours, cell[0]))
        return self._form(colours)

    def _refine(self, colours: _Colours) -> _Colours:
        """Colours split by those of parents, children and partners, until that splits no more."""
        while True:
            keys = [self._neighbourhood(node, colours) for node in range(len(colours))]
            ranks = {key: rank for rank, key in enumerate(sorted(set(keys)))}
            refined = tuple(ranks[key] for key in keys)
            if len(ranks) == len(set(colours)):
                return refined
            colours = refined

    def _neighbourhood(self, node: int, colours: _Colours) -> _Neighbourhood:
        parent = self._shape.parents[node]
        return (
            colours[node],
            -1 if parent is None else colours[parent],
            tuple(sorted(colours[child] for child in self._children[node])),
            tuple(sorted((operator, colours[other]) for operator, other in self._partners[node])),
        )

    def _form(self, colours: _Colours) -> tuple[Template, Places]:
        """The shape with its nodes counted by their colours, which are all different."""
        shape = self._shape
        places = tuple(sorted(range(len(colours)), key=colours.__getitem__))
        above = (shape.parents[place] for place in places)
        parents = tuple(None if parent is None else colours[parent] for parent in above)
        joins = sorted(ValueJoin(colours[join.left], join.operator, colours[join.right]) for join in shape.joins)
        return Template(shape.left, parents, tuple(joins)), places


def _cell(colours: _Colours) -> list[int]:
    """The nodes of the first colour that several have."""
    nodes: dict[int, list[int]] = {}
    for node, colour in enumerate(colours):
        nodes.setdefault(colour, []).append(node)
    return next((nodes[colour] for colour in sorted(nodes) if len(nodes[colour]) > 1), [])


def _individualize(colours: _Colours, node: int) -> _Colours:
    """The colours, with one node before all others of its colour."""
    return tuple(2 * colour + (other != node) for other, colour in enumerate(colours))


def _key(form: Template) -> tuple[tuple[int, ...], tuple[ValueJoin, ...]]:
    return tuple(-1 if parent is None else parent for parent in form.parents), form.joins
