"""The answers of several indexes and ways to one batch in, one answer out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

import numpy as np

from weft.columns.integers import MOST, Ints
from weft.engine.messages.budget import Budget
from weft.engine.messages.messages import Messages
from weft.engine.messages.outcome import Outcome


def joined(parts: list[list[Ints]], documents: int) -> list[Ints]:
    """What several ways found for each document."""
    if len(parts) == 1:
        return parts[0]
    none = np.zeros(0, np.int32)
    return [np.concatenate([none, *(part[at] for part in parts)]) for at in range(documents)]


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
        return joined(parts, self._documents)

    def messages(self) -> Messages:
        """The messages of the FLWR queries, sorted by document, then subscription; their texts are made when read."""
        made = [outcome.messages() for outcome in self._outcomes]
        made += [Messages.listed(other.messages()) for other in self._others]
        return made[0] if len(made) == 1 else Messages.together(made)

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
