"""A shape in, the order in which its places are given nodes out: pivots one by one, all others by sets.

A place that has others below it, or that several conditions hold in a circle, is a *pivot*: its nodes are tried. What
is left falls into *stars*: a center and the places that are compared with it alone. Whether a star has nodes is a
matter of sets of values, whatever other stars have; so what is tried are pivots, never products of nodes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from weft.joins.compile.shapes import Condition, Side
from weft.plans.comparisons import FLIPPED
from weft.plans.plan import Comparison

#: A block, and a place of its side.
At = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Half:
    """A condition as one of its ends sees it: the variable that has its values, the relation, and the other end."""

    variable: int
    operator: Comparison
    other: At
    other_variable: int


@dataclass(frozen=True, slots=True)
class StarMember:
    """A place of a star: where it lies, and what it is compared with."""

    at: At
    variable: int  # whose nodes it has
    edge: int  # from the pivot above; -1 where it is at the top
    above: int  # the number of that pivot
    filters: tuple[Half, ...]  # conditions with pivots
    link: Half | None  # the condition with the center; the center has none


@dataclass(frozen=True, slots=True)
class Star:
    """A center, and those that are compared with it alone."""

    members: tuple[StarMember, ...]  # the center first


@dataclass(frozen=True, slots=True)
class Pivot:
    """A place whose nodes are tried, and what can be decided when it has one."""

    at: At
    variable: int
    edge: int
    above: int
    filters: tuple[Half, ...]  # conditions with pivots before
    stars: tuple[Star, ...]


@dataclass(frozen=True, slots=True)
class NodeLayout:
    """All pivots in order, by their places their numbers, and the stars; some of these wait for no pivot."""

    pivots: tuple[Pivot, ...]
    numbers: dict[At, int]
    first: tuple[Star, ...]
    stars: tuple[Star, ...]


def lay_out(sides: Sequence[tuple[int, Side]], conditions: Sequence[Condition], also: Iterable[At] = ()) -> NodeLayout:
    """The layout of some blocks, each with its number, under their conditions; some places are pivots anyway."""
    halves = _halves(sides, conditions)
    inner = {(block, parent) for block, side in sides for parent in side.parents if parent >= 0} | set(also)
    stars = _stars(halves, inner)
    numbers = {at: number for number, at in enumerate(at for at in halves if at in inner)}
    side_of = dict(sides)

    def place(at: At) -> tuple[int, int, int]:
        """The variable of a place, the edge to it, and the pivot above."""
        side, place = side_of[at[0]], at[1]
        parent = side.parents[place]
        return side.variables[place], side.edges[place], numbers[at[0], parent] if parent >= 0 else -1

    made, ready = [], []
    for star in stars:
        members = []
        for at in star:
            links = [half for half in halves[at] if half.other == star[0] and at != star[0]]
            filters = tuple(half for half in halves[at] if half.other in numbers)
            members.append(StarMember(at, *place(at), filters, links[0] if links else None))
        made.append(Star(tuple(members)))
        needed = [each.above for each in members] + [numbers[half.other] for each in members for half in each.filters]
        ready.append(max(needed))
    pivots = [
        Pivot(
            at,
            *place(at),
            tuple(half for half in halves[at] if numbers.get(half.other, number) < number),
            tuple(star for star, when in zip(made, ready, strict=True) if when == number),
        )
        for at, number in numbers.items()
    ]
    first = tuple(star for star, when in zip(made, ready, strict=True) if when < 0)
    return NodeLayout(tuple(pivots), numbers, first, tuple(made))


def _halves(sides: Sequence[tuple[int, Side]], conditions: Sequence[Condition]) -> dict[At, list[Half]]:
    """The conditions by each of their ends; every place is there, parents first."""
    halves: dict[At, list[Half]] = {(block, place): [] for block, side in sides for place in range(len(side.variables))}
    for each in dict.fromkeys(conditions):
        left, right = each.values
        halves[each.left].append(Half(left, each.operator, each.right, right))
        halves[each.right].append(Half(right, FLIPPED[each.operator], each.left, left))
    return halves


def _stars(halves: dict[At, list[Half]], inner: set[At]) -> list[list[At]]:
    """The stars, each with its center first; places that are in none become inner ones."""
    for together in _components(halves, inner):
        busy = [at for at in together if sum(half.other not in inner for half in halves[at]) > 1]
        if len(busy) > 1:
            inner.update(busy)
    stars = []
    for together in _components(halves, inner):
        stars.append(sorted(together, key=lambda at: -sum(half.other not in inner for half in halves[at])))
    return stars


def _components(halves: dict[At, list[Half]], inner: set[At]) -> list[list[At]]:
    """The places that are no pivots, those together that are compared with each other."""
    seen: set[At] = set()
    found = []
    for start in halves:
        if start in inner or start in seen:
            continue
        seen.add(start)
        together = [start]
        for at in together:
            for half in halves[at]:
                if half.other not in inner and half.other not in seen:
                    seen.add(half.other)
                    together.append(half.other)
        found.append(together)
    return found
