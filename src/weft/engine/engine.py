"""Subscriptions and node tables in, outcomes out. Subscriptions come and go without disturbing the others.

What is added while documents flow goes to a second, small index, which joins the first when it has grown: so adding
costs what the small one costs, and the label paths of the many stay.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import itemgetter
from typing import Protocol

import numpy as np

from weft.columns.integers import MOST, Ints
from weft.documents.document import Limits
from weft.documents.dtd import Dtd
from weft.documents.table import NodeTable
from weft.engine.index import Index
from weft.engine.messages.budget import Budget
from weft.engine.messages.outcome import Outcome
from weft.engine.paths.labels import Bounds
from weft.engine.profile import Profile
from weft.engine.validity import Validity
from weft.plans.flwr import Flwr
from weft.plans.plan import Edge, Selection

EnginePlan = Selection | Flwr | Edge
_RECENT = 1_000  # the small index may have this many, and one more for every 32 of the large one


class Engine:
    """All subscriptions, by number.

    With a DTD their paths are made canonical, so that more of them are the same.
    """

    def __init__(
        self,
        bounds: Bounds | None = None,
        dtd: Dtd | None = None,
        profile: Profile | None = None,
        limits: Limits | None = None,
    ) -> None:
        self._bounds, self._dtd = bounds, dtd
        self.limits = limits or Limits()
        self.profile = profile or Profile()
        self.large, self.small = self._new_index(), self._new_index()
        self._validity = Validity(dtd) if dtd is not None else None
        self._recent: dict[int, EnginePlan] = {}  # the plans of the small index, until they join the large one

    def _new_index(self) -> Index:
        return Index(self._bounds, self.profile, self._dtd)

    def __len__(self) -> int:
        return len(self.large) + len(self.small)

    @property
    def dead(self) -> int:
        """How many results nobody wants any more; a new engine would be without them."""
        return self.large.dead + self.small.dead

    def add(self, subscription: int, plan: EnginePlan) -> None:
        """Take a subscription in; numbers only grow."""
        if not self.large.is_warm:
            self.large.add(subscription, plan)
            return
        self.small.add(subscription, plan)
        self._recent[subscription] = plan
        if len(self.small) > _RECENT + len(self.large) // 32:
            for recent, its_plan in self._recent.items():
                self.large.add(recent, its_plan)
            self.small = self._new_index()
            self._recent = {}

    def remove(self, subscription: int) -> None:
        """Let a subscription go. What only it wanted stays, unused, until there is a new engine."""
        index = self.large if subscription in self.large.results else self.small
        index.remove(subscription)
        self._recent.pop(subscription, None)

    def faults(self, table: NodeTable) -> dict[int, str]:
        """The documents, by place, that do not keep to the DTD, if there is one: they must not be matched with it."""
        return self._validity.faults(table) if self._validity is not None else {}

    def match(self, table: NodeTable, whether: bool = False) -> Matches:
        """Answer a batch; with `whether` nobody will ask for nodes, and less is looked at."""
        budget = Budget(table, self.limits)
        outcomes = [index.match(table, budget, whether) for index in (self.large, self.small) if len(index)]
        return Matches(outcomes, len(table.documents), budget)


class Answers(Protocol):
    """What a batch brings to FLWR queries that are answered in another way."""

    def subscriptions(self) -> list[Ints]:
        """For each document the queries that have a message for it."""

    def messages(self) -> Iterable[tuple[int, int, str]]:
        """(document, query, message)."""


class Matches:
    """The outcomes of the indexes as one, with what is answered in other ways."""

    def __init__(
        self, outcomes: Sequence[Outcome], documents: int, budget: Budget, others: Sequence[Answers] = ()
    ) -> None:
        self._outcomes, self._documents, self.budget, self._others = outcomes, documents, budget, others

    def beside(self, other: Answers) -> Matches:
        """The same, and the answers of another way."""
        return Matches(self._outcomes, self._documents, self.budget, (*self._others, other))

    @property
    def refused(self) -> list[tuple[int, int, str]]:
        """(document, subscription, reason) of what was asked for so far and is not made."""
        return [(*key, reason) for key, reason in sorted(self.budget.refused.items())]

    def subscriptions(self) -> list[Ints]:
        """For each document the subscriptions that match it, each once, in no order."""
        parts = [outcome.subscriptions() for outcome in self._outcomes]
        parts += [other.subscriptions() for other in self._others]
        if len(parts) == 1:
            return parts[0]
        none = np.zeros(0, np.int32)
        return [np.concatenate([none, *(part[at] for part in parts)]) for at in range(self._documents)]

    def messages(self) -> list[tuple[int, int, str]]:
        """(document, subscription, message) of the FLWR queries, sorted by document, then subscription."""
        made = [message for outcome in self._outcomes for message in outcome.messages()]
        made += [message for other in self._others for message in other.messages()]
        return sorted(made, key=itemgetter(0, 1))

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

    def edges(self, most: int = MOST) -> tuple[Ints, Ints, Ints]:
        """(subscription, node, node) of edges: each node of the pattern with those that the links lead to.

        Raises MemoryError, before they are made, where there would be more than `most` in an index.
        """
        parts = [outcome.edges(most) for outcome in self._outcomes]
        none = np.zeros(0, np.int32)
        subscription, above, below = (np.concatenate([none, *(part[column] for part in parts)]) for column in range(3))
        return subscription, above, below
