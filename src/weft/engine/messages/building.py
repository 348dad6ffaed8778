"""A FLWR plan in, what the engine needs to build its messages out: chains for its variables and slots, and a recipe."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from weft.engine.paths.states import ROOT
from weft.engine.shared.nodes import NOTHING, Chain
from weft.engine.shared.plan import SharedPlan
from weft.plans.flwr import Flwr, Variable
from weft.plans.plan import And, Edge, Link, Not, On, Or, Pattern, Test, conjunction, has
from weft.plans.recipe import Recipe, make_recipe


@dataclass(frozen=True, slots=True)
class Building:
    """How the messages of a subscription are built from the bindings of its first variable.

    There are very many of these, so they hold no plan but what is left of it, and share recipes.
    """

    recipe: Recipe | None  # None for an edge, which has no messages
    slots: tuple[Chain, ...]  # for each slot of the recipe, from its variable
    slot_variables: tuple[int, ...]
    stream: str = ""
    chains: tuple[Chain, ...] = ()  # for each variable but the first, from its source
    sources: tuple[int, ...] = ()
    where: Test | None = None  # what needs several variables
    checks: tuple[tuple[On, int], ...] = ()  # the tests in it, and their nodes

    @property
    def is_simple(self) -> bool:
        """One variable, in document order: each of its bindings is a group."""
        return not self.chains and (self.recipe is None or not self.recipe.keys)

    @property
    def nodes(self) -> tuple[int, ...]:
        """The nodes of the shared plan that are asked while messages are built."""
        linked = (node for chain in (*self.slots, *self.chains) for _, node in chain if node != NOTHING)
        return (*linked, *(node for _, node in self.checks))


def binding_pattern(variables: Sequence[Variable]) -> Pattern:
    """The first variable's nodes that have bindings of all others below them."""
    links = _with_test(variables[0].links, _own_test(variables, 0, _variables_below(variables)))
    pattern: Pattern | None = None
    for link in links:
        pattern = Pattern(pattern, link.path, link.test)
    assert pattern is not None
    return pattern


def _own_test(variables: Sequence[Variable], variable: int, below: dict[int | None, list[int]]) -> Test | None:
    """What a variable's own nodes must pass: its conditions, and that those below it have bindings."""
    where = variables[variable].where
    inner = [has(variables[at].links, _own_test(variables, at, below)) for at in below.get(variable, ())]
    return conjunction([*([where] if where else []), *inner])


def _variables_below(variables: Sequence[Variable]) -> dict[int | None, list[int]]:
    """For each variable those that start from it."""
    below: dict[int | None, list[int]] = {}
    for at, variable in enumerate(variables):
        below.setdefault(variable.source, []).append(at)
    return below


def _with_test(links: tuple[Link, ...], test: Test | None) -> tuple[Link, ...]:
    both = conjunction([part for part in (links[-1].test, test) if part is not None])
    return (*links[:-1], Link(links[-1].path, both))


def add_building(shared: SharedPlan, plan: Flwr, recipes: dict[Recipe, Recipe]) -> Building:
    """Merge all that building needs into the shared plan; equal recipes become one."""
    states: list[int] = []
    chains: list[Chain] = []
    below = _variables_below(plan.variables)
    for at, variable in enumerate(plan.variables):
        if variable.source is None:
            state = ROOT
            for link in variable.links:
                state = shared.extend(state, link.path)
        else:
            links = _with_test(variable.links, _own_test(plan.variables, at, below))
            chain, state = shared.add_links(states[variable.source], links)
            chains.append(chain)
        states.append(state)
    recipe, slots = make_recipe(plan)
    return Building(
        recipe=recipes.setdefault(recipe, recipe),
        slots=tuple(shared.add_links(states[slot.variable], slot.links)[0] for slot in slots),
        slot_variables=tuple(slot.variable for slot in slots),
        stream=plan.stream,
        chains=tuple(chains),
        sources=tuple(variable.source or 0 for variable in plan.variables[1:]),
        where=plan.where,
        checks=tuple((check, _node(shared, check, states)) for check in _checks(plan.where)),
    )


def edge_building(shared: SharedPlan, edge: Edge) -> Building:
    """The one list of an edge, from each node of its pattern."""
    state, _ = shared.add_pattern(edge.pattern)
    return Building(None, (shared.add_links(state, edge.links)[0],), (0,))


def _node(shared: SharedPlan, check: On, states: list[int]) -> int:
    return shared.add_test(check.test, states[check.variable])


def _checks(where: Test | None) -> list[On]:
    match where:
        case On():
            return [where]
        case And(tests) | Or(tests):
            return [check for part in tests for check in _checks(part)]
        case Not(inner):
            return _checks(inner)
        case _:
            return []
