"""An index in, how each of its subscriptions is answered and which of them are alike out."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator

import numpy as np

from weft.columns.ragged import Ragged
from weft.engine.index import Index
from weft.engine.shared.closure import closure
from weft.engine.shared.nodes import NOTHING
from weft.engine.shared.parts import part_pairs
from weft.engine.shared.templates import Templates


def ways(index: Index, subscriptions: Iterable[int]) -> Iterator[str]:
    """How subscriptions are answered."""
    alone = _worked_out_alone(index)
    conditional = {result for result, node in enumerate(index.origins.node) if node != NOTHING}
    for subscription in subscriptions:
        if not alone.isdisjoint(index.results_below(subscription)):
            yield "one by one: label paths do not tell its nodes; they are worked out where a document may have some"
        elif subscription in index.compounds:
            yield "one by one: from the results of its parts, node by node"
        elif subscription in index.built and not index.built.building(subscription).is_exact:
            yield "by shared conditions, then by the bindings of several variables, all queries together"
        elif subscription in index.lone:
            program = index.lone.program(subscription)
            yield f"alone, in Python, in documents that pass the shared conditions below: {program.why}"
        elif conditional.isdisjoint(index.results[subscription]):
            yield "by label paths alone"
        else:
            yield "by shared conditions"


def _worked_out_alone(index: Index) -> set[int]:
    """The results whose nodes are those that a formula selects in a document."""
    shared = index.shared
    derived = shared.derivations
    members = [node for node, is_member in zip(derived.node, derived.is_member, strict=True) if is_member]
    if not members:
        return set()
    node, part = part_pairs(shared)
    marks = closure(Ragged(part, node, len(shared)), np.array(members, np.int32), len(shared))
    return {result for result, node in enumerate(index.origins.node) if node != NOTHING and marks[node]}


def templates(index: Index) -> dict[int, Hashable]:
    """By subscription its plan, constants aside."""
    known = Templates(index.shared)
    of_result = [(state, known.of(node)) for state, node in zip(index.origins.state, index.origins.node, strict=True)]

    def of(subscription: int) -> Hashable:
        results = tuple(of_result[result] for result in index.results_below(subscription))
        if subscription in index.lone:
            return results, index.lone.number(subscription)
        if subscription not in index.built:
            return results
        building = index.built.building(subscription)
        chains = (*building.slots, *building.chains)
        linked = tuple(tuple((edge, known.of(node)) for edge, node in chain) for chain in chains)
        return results, linked, building.condition, tuple((at, known.of(node)) for at, node in building.checks)

    return {subscription: of(subscription) for subscription in index.results}
