"""Rules that make plans better, in one order; claims; the three approaches."""

from __future__ import annotations

from collections.abc import Callable

from weft.documents.dtd import Dtd
from weft.plans.canonical_paths import canonical_paths
from weft.plans.flwr import Flwr
from weft.reference.pathsharing.approaches import Approach, plan_by
from weft.reference.pathsharing.drop_distinct import drop_distinct
from weft.reference.pathsharing.operators import ReturnSelect
from weft.reference.pathsharing.use_order import use_order

RULES: tuple[Callable[[ReturnSelect, Dtd | None], ReturnSelect], ...] = (
    drop_distinct,  # first: what is gone need not be ordered
    use_order,  # chooses scan or hash for the DupElims that are left, and the joins
)


def optimize(plan: Flwr, approach: Approach, dtd: Dtd | None = None, optimized: bool = True) -> ReturnSelect:
    """A FLWR plan's own plan; with a DTD its paths are made canonical first, so that claims see them so."""
    if not optimized:
        return plan_by(approach, plan)
    return improve(plan_by(approach, canonical_paths(plan, dtd)), dtd)


def improve(physical: ReturnSelect, dtd: Dtd | None) -> ReturnSelect:
    """All rules, in their order."""
    for rule in RULES:
        physical = rule(physical, dtd)
    return physical


__all__ = ["RULES", "Approach", "canonical_paths", "improve", "optimize", "plan_by"]
