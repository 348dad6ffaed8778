"""A FLWR plan in, what the engine needs to build its messages out: chains for its variables and slots, and a recipe."""

from __future__ import annotations

from dataclasses import dataclass

from weft.engine.messages.first_bindings import binds_exactly, own_test, variables_below, with_test
from weft.engine.paths.states import ROOT
from weft.engine.shared.nodes import NOTHING, Chain
from weft.engine.shared.plan import SharedPlan
from weft.plans.flwr import Flwr
from weft.plans.plan import Always, And, Edge, Not, On, Or, Test
from weft.plans.recipe import Recipe, make_recipe

_ASKED = Always(True)  # stands for a check in a condition: what it asks is a node of the shared plan


@dataclass(frozen=True, slots=True)
class Building:
    """How the messages of a subscription are built from the bindings of its first variable.

    There are very many of these, so they hold no plan but what is left of it, and share recipes and conditions.
    """

    recipe: Recipe | None  # None for an edge, which has no messages
    slots: tuple[Chain, ...]  # for each slot of the recipe, from its variable
    slot_variables: tuple[int, ...]
    stream: str = ""
    chains: tuple[Chain, ...] = ()  # for each variable but the first, from its source
    sources: tuple[int, ...] = ()
    condition: Test | None = None  # what needs several variables; `On` has the place of a check, not of a variable
    checks: tuple[tuple[int, int], ...] = ()  # the variables that are asked, and the nodes of the shared plan
    is_exact: bool = True  # each node of the result has a binding of all variables that passes

    @property
    def nodes(self) -> tuple[int, ...]:
        """The nodes of the shared plan that are asked while messages are built."""
        linked = (node for chain in (*self.slots, *self.chains) for _, node in chain if node != NOTHING)
        return (*linked, *(node for _, node in self.checks))


class BuildingMaker:
    """Makes the buildings of one shared plan; equal recipes and equal conditions become one."""

    def __init__(self, shared: SharedPlan) -> None:
        self._shared = shared
        self._recipes: dict[Recipe, Recipe] = {}
        self._conditions: dict[Test, Test] = {}

    def add(self, plan: Flwr) -> Building:
        """Merge all that building needs into the shared plan."""
        shared, variables = self._shared, plan.variables
        states: list[int] = []
        chains: list[Chain] = []
        below = variables_below(variables)
        for at, variable in enumerate(variables):
            if variable.source is None:
                state = ROOT
                for link in variable.links:
                    state = shared.extend(state, link.path)
            else:
                links = with_test(variable.links, own_test(variables, at, below))
                chain, state = shared.add_links(states[variable.source], links)
                chains.append(chain)
            states.append(state)
        recipe, slots = make_recipe(plan)
        checks: list[On] = []
        condition = None if plan.where is None else _condition(plan.where, checks)
        return Building(
            recipe=self._recipes.setdefault(recipe, recipe),
            slots=tuple(shared.add_links(states[slot.variable], slot.links)[0] for slot in slots),
            slot_variables=tuple(slot.variable for slot in slots),
            stream=plan.stream,
            chains=tuple(chains),
            sources=tuple(variable.source or 0 for variable in variables[1:]),
            condition=None if condition is None else self._conditions.setdefault(condition, condition),
            checks=tuple((each.variable, shared.add_test(each.test, states[each.variable])) for each in checks),
            is_exact=binds_exactly(plan.where),
        )

    def add_edge(self, edge: Edge) -> Building:
        """The one list of an edge, from each node of its pattern."""
        state, _ = self._shared.add_pattern(edge.pattern)
        return Building(None, (self._shared.add_links(state, edge.links)[0],), (0,))


def _condition(where: Test, checks: list[On]) -> Test:
    """A where clause with the places of its checks, which are put down, in their place."""
    match where:
        case On():
            checks.append(where)
            return On(len(checks) - 1, _ASKED)
        case And(tests):
            return And(tuple(_condition(part, checks) for part in tests))
        case Or(tests):
            return Or(tuple(_condition(part, checks) for part in tests))
        case Not(inner):
            return Not(_condition(inner, checks))
        case _:
            return where
