"""Counts of an automaton's stack and unit costs in, the cost of operators out: the paper's equations 1 to 3.

`CostCut` of equation 3 is what a plan costs more after a pattern has been pulled out: below zero it is cheaper.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from weft.reference.raindrop.stack_automaton import PatternState


@dataclass(frozen=True, slots=True)
class StackCosts:
    """Nanoseconds: a start tag with states on top of the stack, and with none; an end tag; a node that is visited."""

    non_empty: float
    empty: float
    backtrack: float
    visit: float
    compose: float  # a node that is made part of an element which is extracted


def token_navs(active: Mapping[PatternState, float], starts: float, ends: float, costs: StackCosts) -> float:
    """Equation 1: all TokenNav operators of an automaton, whose states `active` has."""
    with_states = sum(active.values())
    start_tags = with_states * costs.non_empty + (starts - with_states) * costs.empty  # (3.a) and (3.b)
    return start_tags + ends * costs.backtrack  # (4)


def token_nav(active: Mapping[PatternState, float], states: Iterable[PatternState], costs: StackCosts) -> float:
    """Equation 2: one TokenNav, by the states that are its own: those with it, less those of its ancestors alone."""
    return sum(active.get(state, 0.0) for state in states) * (costs.non_empty - costs.empty)


def extract(elements: float, nodes: float, costs: StackCosts) -> float:
    """n_active(q) C_extract(q): the elements whose start tags activate q; each takes what its nodes take."""
    return elements * (nodes * costs.compose)


def node_nav(matched: Sequence[float], children: Sequence[float], costs: StackCosts) -> float:
    """NodeNav, breadth first: at each step all children, so many each, of the nodes that the step before has matched.

    A `//` is a step of its own, which matches a node and all below it.
    """
    return sum(number * width for number, width in zip(matched, children, strict=True)) * costs.visit


@dataclass(frozen=True, slots=True)
class CostCut:
    """Equation 3, term by term, for a pattern $v1/p1 that is pulled out, with what is below it."""

    introduced: float  # of Extract $v1
    is_introduced: bool
    token_nav: float
    node_nav: float
    others: float  # operators outside of the automaton, but for that NodeNav: with the pattern out, less with it in
    gone: float = 0.0  # Extract $v2, which the paper's terms leave out: it has one where $v2 is selected or returned

    @property
    def total(self) -> float:
        """(3.a) and (3.b), (4.a) and (4.b)."""
        introduced = self.introduced * self.is_introduced
        return introduced - self.token_nav - self.gone + self.node_nav + self.others
