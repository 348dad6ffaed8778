"""A FLWR plan in, what the engine needs to build its messages out: chains for its variables and slots, and a recipe."""

from __future__ import annotations

from dataclasses import dataclass

from weft.automaton.states import ROOT
from weft.engine.shared import Chain, SharedPlan
from weft.languages.xpath.predicates import has
from weft.plans.flwr import Flwr
from weft.plans.plan import And, Link, Not, On, Or, Pattern, Test, conjunction
from weft.plans.recipe import Recipe, make_recipe


@dataclass(frozen=True, slots=True)
class Building:
    """How the messages of a subscription are built from the bindings of its first variable."""

    plan: Flwr
    chains: tuple[Chain, ...]  # for each variable but the first, from its source
    slots: tuple[Chain, ...]  # for each slot of the recipe, from its variable
    checks: tuple[tuple[On, int], ...]  # the tests in `where` that need several variables, and their nodes
    recipe: Recipe

    @property
    def is_simple(self) -> bool:
        """One variable, in document order: each of its bindings is a group."""
        return not self.chains and not self.plan.order


def binding_pattern(plan: Flwr) -> Pattern:
    """The first variable's nodes that have bindings of all others below them."""
    links = _with_test(plan.variables[0].links, _own_test(plan, 0))
    pattern: Pattern | None = None
    for link in links:
        pattern = Pattern(pattern, link.path, link.test)
    assert pattern is not None
    return pattern


def _own_test(plan: Flwr, variable: int) -> Test | None:
    below = [
        has(other.links, _own_test(plan, at)) for at, other in enumerate(plan.variables) if other.source == variable
    ]
    where = plan.variables[variable].where
    return conjunction([*([where] if where else []), *below])


def _with_test(links: tuple[Link, ...], test: Test | None) -> tuple[Link, ...]:
    both = conjunction([part for part in (links[-1].test, test) if part is not None])
    return (*links[:-1], Link(links[-1].path, both))


def add_building(shared: SharedPlan, plan: Flwr) -> Building:
    """Merge all that building needs into the shared plan."""
    states: list[int] = []
    chains: list[Chain] = []
    for at, variable in enumerate(plan.variables):
        if variable.source is None:
            state = ROOT
            for link in variable.links:
                state = shared.states.extend(state, link.path)
        else:
            links = _with_test(variable.links, _own_test(plan, at))
            chain, state = shared.add_links(states[variable.source], links)
            chains.append(chain)
        states.append(state)
    recipe = make_recipe(plan)
    slots = tuple(shared.add_links(states[slot.variable], slot.links)[0] for slot in recipe.slots)
    checks = tuple((check, _node(shared, check, states)) for check in _checks(plan.where))
    return Building(plan, tuple(chains), slots, checks, recipe)


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
