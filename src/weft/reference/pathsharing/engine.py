"""Subscriptions and node tables in, outcomes out, with FLWR answered as the paper does before it shares plans."""

from __future__ import annotations

from collections.abc import Callable

from weft.documents.document import Limits
from weft.documents.dtd import Dtd
from weft.documents.table import NodeTable
from weft.engine.engine import Engine
from weft.engine.index_entry import EnginePlan
from weft.engine.matches import Matches
from weft.engine.paths.bounds import Bounds
from weft.engine.profile import Profile
from weft.plans.flwr import Flwr
from weft.reference.pathsharing.optimize import Approach
from weft.reference.pathsharing.pathsharing import PathSharing
from weft.reference.pathsharing.plan_sharing import PlanSharing


class PathSharingEngine(Engine):
    """An engine whose FLWR queries have each a plan of their own and share path matching alone: to compare."""

    def __init__(
        self,
        approach: Approach,
        bounds: Bounds | None = None,
        dtd: Dtd | None = None,
        profile: Profile | None = None,
        limits: Limits | None = None,
        plan_of: Callable[[int], EnginePlan] | None = None,
    ) -> None:
        super().__init__(bounds, dtd, profile, limits, plan_of=plan_of)
        if approach == "PlanSharing":
            self.single: PathSharing = PlanSharing(dtd, True, bounds, self.profile)
        else:
            self.single = PathSharing(approach, dtd, True, bounds, self.profile)

    def __len__(self) -> int:
        return super().__len__() + len(self.single.queries)

    def add(self, subscription: int, plan: EnginePlan) -> None:
        """Take a subscription in."""
        if isinstance(plan, Flwr):
            self.single.add(subscription, plan)
        else:
            super().add(subscription, plan)

    def remove(self, subscription: int) -> None:
        """Let a subscription go."""
        if subscription in self.single.queries:
            self.single.remove(subscription)
        else:
            super().remove(subscription)

    @property
    def asks_only_paths(self) -> bool:
        """Whether label paths tell all that is asked of a document: no plan of its own asks for nodes."""
        return not self.single.queries and super().asks_only_paths

    def match(self, table: NodeTable, whether: bool = False, place: int | None = None) -> Matches:
        """Answer a batch."""
        matches = super().match(table, whether, place)
        return matches.beside(self.single.match(table, matches.budget))
