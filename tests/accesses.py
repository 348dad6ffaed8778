"""Ways to retrieve the parts of conditions, to be forced on an engine: none in, all in, as chance has it."""

from __future__ import annotations

import numpy as np

from weft.columns.integers import Ints
from weft.documents.table import NodeTable
from weft.engine import Engine
from weft.engine.access import Access, fixed_access
from weft.engine.shared.nodes import NOTHING
from weft.engine.shared.plan import SharedPlan


def all_out(shared: SharedPlan) -> Access:
    """As the plan has it."""
    return fixed_access(shared)


def all_in(shared: SharedPlan) -> Access:
    """Everything that can come up by itself does."""
    access = fixed_access(shared)
    access.is_in[:] = True
    return access


def by_chance(shared: SharedPlan, seed: int) -> Access:
    """Any part drives, checks stand in any order, and some are in."""
    access, ands, chance = fixed_access(shared), shared.conjunctions, np.random.default_rng(seed)
    for row, (first, end) in enumerate(zip(ands.start, ands.start[1:], strict=False)):
        checks = [(int(access.check[at]), int(access.is_negated[at])) for at in range(first, end)]
        if access.driver[row] != NOTHING:
            drivers = [part for part, is_negated in checks if not is_negated] + [int(access.driver[row])]
            driver = drivers[chance.integers(len(drivers))]
            checks = [(part, negated) for part, negated in checks if negated or part != driver]
            checks += [(int(access.driver[row]), 0)] * int(driver != access.driver[row])
            access.driver[row] = driver
        chance.shuffle(checks)
        access.check[first:end] = [part for part, _ in checks]
        access.is_negated[first:end] = [negated for _, negated in checks]
    access.is_in[:] = chance.random(access.is_in.size) < chance.random()
    return access


def retrieve(engine: Engine, access: Access) -> None:
    """Change at once."""
    engine.retrieve(access)
    engine.settle()


def matched(engine: Engine, table: NodeTable) -> list[Ints]:
    """For each document who has it, where nobody asks for nodes."""
    return [np.sort(some) for some in engine.match(table, whether=True).subscriptions()]
