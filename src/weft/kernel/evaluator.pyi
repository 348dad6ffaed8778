"""The shared plan's nodes over a batch's nodes, as integers: what drivers bring up in, the results that hold out."""

from typing import Any

from weft.columns.integers import Flags, Ints
from weft.kernel.plan_lists import PlanLists
from weft.kernel.plan_tables import PlanTables

class Evaluator:
    """One batch against one shared plan."""

    def __init__(
        self, plan: PlanTables, lists: PlanLists, source: Any, columns: dict[str, Any], steps: int
    ) -> None: ...
    def probe(self) -> tuple[Ints, Ints, Ints, Ints]: ...
    def remember(self, nodes: Ints, rows: Ints) -> None: ...
    def rise(self, nodes: Ints, rows: Ints) -> tuple[Ints, Ints]: ...
    def hold(self, nodes: Ints, rows: Ints) -> Flags: ...
