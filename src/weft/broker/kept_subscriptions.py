"""Subscriptions by number. One that is nothing but a query and an id is kept as its query, and made again when asked.

There are very many of these: so they take a third less memory, and cost the garbage collector nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, MutableMapping
from typing import Any

from weft.broker.subscriptions import Subscription


class KeptSubscriptions(MutableMapping[int, Subscription]):
    """Subscriptions in the order of their numbers; `id_of` tells the id of a number."""

    def __init__(self, id_of: Callable[[int], str]) -> None:
        self._id_of = id_of
        self._queries: dict[int, str] = {}
        self._others: dict[int, Subscription] = {}
        self.destinations: dict[int, Any] = {}  # of those that have one

    def __getitem__(self, number: int) -> Subscription:
        query = self._queries[number]
        return self._others.get(number) or Subscription(self._id_of(number), query)

    def __setitem__(self, number: int, subscription: Subscription) -> None:
        self._queries[number] = subscription.query
        if (
            subscription.language is not None
            or subscription.namespaces
            or subscription.to is not None
            or not subscription.enabled
            or subscription.ignore_namespaces
            or subscription.columns
            or subscription.place
        ):
            self._others[number] = subscription
        if subscription.to is not None:
            self.destinations[number] = subscription.to

    def __delitem__(self, number: int) -> None:
        del self._queries[number]
        self._others.pop(number, None)
        self.destinations.pop(number, None)

    def __iter__(self) -> Iterator[int]:
        return iter(self._queries)

    def __len__(self) -> int:
        return len(self._queries)
