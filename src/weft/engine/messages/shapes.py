"""Buildings in, their shapes as columns out: what queries that differ in constant text alone have in common."""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from itertools import chain

import numpy as np

from weft.columns.integers import Ints
from weft.columns.ragged import Ragged
from weft.columns.runs import GrowingRuns
from weft.engine.messages.building import Building
from weft.engine.shared.nodes import NOTHING, Chain
from weft.plans.plan import Test


@dataclass(frozen=True, slots=True)
class Shapes:
    """What FLWR queries have in common, by shape; a column beside a run has an entry for each of the run's."""

    results: Ints  # whose nodes the first variable binds
    of_result: Ragged
    variables: Ragged  # the chains of all variables but the first
    sources: Ints  # beside these: the variables that they start from
    slots: Ragged  # the chains of the slots
    slot_variables: Ints  # beside these: the variables that they start from
    condition: Ints  # its place among `conditions`, or NOTHING
    checks: Ragged  # the nodes of the shared plan that the condition asks
    check_variables: Ints  # beside these: the variables whose nodes are asked
    conditions: list[Test]
    edges: Ragged  # by chain
    nodes: Ints  # beside these: what must hold below an edge, or NOTHING


class ShapeTable:
    """The shapes of an index. They are only added: to add one costs no more where there are many.

    There are very many, so each is known by bytes: of tuples in tuples the collector would have to find out three times
    that there is nothing in them.
    """

    def __init__(self) -> None:
        self._known: dict[bytes, int] = {}
        self._chain_numbers: dict[Chain, int] = {}
        self._condition_numbers: dict[Test, int] = {}
        self._chains: list[Chain] = []  # by number
        self._conditions: list[Test] = []  # likewise
        self._results, self._condition = array("i"), array("i")
        self._variables, self._sources = GrowingRuns(), GrowingRuns()
        self._slots, self._slot_variables = GrowingRuns(), GrowingRuns()
        self._checks, self._check_variables = GrowingRuns(), GrowingRuns()
        self._edges, self._nodes = GrowingRuns(), GrowingRuns()
        self._frozen: Shapes | None = None

    def __len__(self) -> int:
        return len(self._results)

    def add(self, result: int, building: Building) -> int:
        """The shape of a building from the nodes of a result."""
        condition = NOTHING if building.condition is None else self._numbered(building.condition)
        slots, variables = [*map(self._chain, building.slots)], [*map(self._chain, building.chains)]
        runs = (slots, building.slot_variables, variables, building.sources, *zip(*building.checks, strict=True))
        key = array("i", [result, condition, len(slots), len(variables), *chain.from_iterable(runs)]).tobytes()
        shape = self._known.get(key)
        if shape is None:
            self._frozen = None
            shape = self._known[key] = len(self._results)
            self._results.append(result)
            self._condition.append(condition)
            self._variables.add(variables)
            self._sources.add(building.sources)
            self._slots.add(slots)
            self._slot_variables.add(building.slot_variables)
            self._checks.add(node for _, node in building.checks)
            self._check_variables.add(variable for variable, _ in building.checks)
        return shape

    def building(self, shape: int) -> Building:
        """What a shape was made of, without what the buildings with this shape do not have in common."""
        chains, condition = self._chains, self._condition[shape]
        return Building(
            recipe=None,
            slots=tuple(chains[number] for number in self._slots.of(shape)),
            slot_variables=self._slot_variables.of(shape),
            chains=tuple(chains[number] for number in self._variables.of(shape)),
            sources=self._sources.of(shape),
            condition=None if condition == NOTHING else self._conditions[condition],
            checks=tuple(zip(self._check_variables.of(shape), self._checks.of(shape), strict=True)),
        )

    def chains(self) -> list[Chain]:
        """All chains, by number."""
        return self._chains.copy()

    def frozen(self) -> Shapes:
        """The shapes as they are now."""
        if self._frozen is None:
            results = np.array(self._results, np.int32)
            self._frozen = Shapes(
                results=results,
                of_result=Ragged(results, np.arange(results.size, dtype=np.int32), int(results.max(initial=-1)) + 1),
                variables=self._variables.frozen(),
                sources=self._sources.entries(),
                slots=self._slots.frozen(),
                slot_variables=self._slot_variables.entries(),
                condition=np.array(self._condition, np.int32),
                checks=self._checks.frozen(),
                check_variables=self._check_variables.entries(),
                conditions=self._conditions.copy(),
                edges=self._edges.frozen(),
                nodes=self._nodes.entries(),
            )
        return self._frozen

    def _numbered(self, condition: Test) -> int:
        number = self._condition_numbers.setdefault(condition, len(self._conditions))
        if number == len(self._conditions):
            self._conditions.append(condition)
        return number

    def _chain(self, links: Chain) -> int:
        number = self._chain_numbers.get(links)
        if number is None:
            number = self._chain_numbers[links] = self._edges.add(edge for edge, _ in links)
            self._nodes.add(node for _, node in links)
            self._chains.append(links)
        return number
