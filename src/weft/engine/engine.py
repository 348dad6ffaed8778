"""Subscriptions and node tables in, outcomes out. Subscriptions come and go without disturbing the others.

What is added while documents flow goes to a second, small index, which joins the first when it has grown: so adding
costs what the small one costs, and the label paths of the many stay.
"""

from __future__ import annotations

from operator import itemgetter

import numpy as np

from weft.automaton.labels import Bounds
from weft.documents.columns import Ints
from weft.documents.table import NodeTable
from weft.engine.index import Index
from weft.engine.outcome import Outcome
from weft.plans.flwr import Flwr
from weft.plans.plan import Selection

Plan = Selection | Flwr
_RECENT = 1_000  # the small index may have this many, and one more for every 32 of the large one


class Engine:
    """All subscriptions, by number."""

    def __init__(self, bounds: Bounds | None = None) -> None:
        self._bounds = bounds
        self.large, self.small = Index(bounds), Index(bounds)
        self._recent: dict[int, Plan] = {}  # the plans of the small index, until they join the large one

    def __len__(self) -> int:
        return len(self.large) + len(self.small)

    @property
    def dead(self) -> int:
        """How many results nobody wants any more; a new engine would be without them."""
        return self.large.dead + self.small.dead

    def add(self, subscription: int, plan: Plan) -> None:
        """Take a subscription in; numbers only grow."""
        if not self.large.is_warm:
            self.large.add(subscription, plan)
            return
        self.small.add(subscription, plan)
        self._recent[subscription] = plan
        if len(self.small) > _RECENT + len(self.large) // 32:
            for recent, its_plan in self._recent.items():
                self.large.add(recent, its_plan)
            self.small = Index(self._bounds)
            self._recent = {}

    def remove(self, subscription: int) -> None:
        """Let a subscription go. What only it wanted stays, unused, until there is a new engine."""
        index = self.large if subscription in self.large.results else self.small
        index.remove(subscription)
        self._recent.pop(subscription, None)

    def match(self, table: NodeTable) -> Matches:
        """Answer a batch."""
        return Matches([index.match(table) for index in (self.large, self.small) if len(index)], len(table.documents))


class Matches:
    """The outcomes of the indexes as one."""

    def __init__(self, outcomes: list[Outcome], documents: int) -> None:
        self._outcomes, self._documents = outcomes, documents

    def subscriptions(self) -> list[Ints]:
        """For each document the subscriptions that match it, in the order in which they came."""
        if len(self._outcomes) == 1:
            return self._outcomes[0].subscriptions()
        parts = [outcome.subscriptions() for outcome in self._outcomes]
        none = np.zeros(0, np.int32)
        return [np.sort(np.concatenate([none, *(part[at] for part in parts)])) for at in range(self._documents)]

    def messages(self) -> list[tuple[int, int, str]]:
        """(document, subscription, message) of the FLWR queries, sorted by document, then subscription."""
        return sorted((message for outcome in self._outcomes for message in outcome.messages()), key=itemgetter(0, 1))

    def nodes(self) -> tuple[Ints, Ints, Ints]:
        """(document, subscription, node), sorted by document, then subscription, then document order."""
        if len(self._outcomes) == 1:
            return self._outcomes[0].nodes()
        parts = [outcome.nodes() for outcome in self._outcomes]
        none = np.zeros(0, np.int32)
        document, subscription, node = (
            np.concatenate([none, *(part[column] for part in parts)]) for column in range(3)
        )
        order = np.lexsort((subscription, document))  # stable: nodes stay in their order
        return document[order], subscription[order], node[order]
