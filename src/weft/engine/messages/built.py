"""FLWR subscriptions in, their shapes out: what those that differ in constant tags alone have in common."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from weft.columns.ragged import Ragged
from weft.engine.messages.building import Building
from weft.engine.messages.groups import Shapes
from weft.engine.shared.nodes import Chain

_ShapeKey = tuple[int, tuple[Chain, ...]]


class BuiltQueries:
    """The FLWR subscriptions of an index. Simple ones share shapes; the others are worked out one by one."""

    def __init__(self) -> None:
        self._buildings: dict[int, tuple[int, Building]] = {}
        self._shapes: dict[_ShapeKey, int] = {}
        self._of_shape: dict[int, dict[int, Building]] = {}
        self.streams: dict[int, str] = {}  # of the subscriptions that name one
        self.others: dict[int, tuple[int, Building]] = {}  # by subscription: result and building

    def __len__(self) -> int:
        return len(self._buildings)

    def __contains__(self, subscription: object) -> bool:
        return subscription in self._buildings

    def add(self, subscription: int, result: int, building: Building) -> None:
        """Take a subscription in."""
        self._buildings[subscription] = (result, building)
        if building.stream:
            self.streams[subscription] = building.stream
        if not building.is_simple:
            self.others[subscription] = (result, building)
            return
        shape = self._shapes.setdefault((result, building.slots), len(self._shapes))
        self._of_shape.setdefault(shape, {})[subscription] = building
        self.__dict__.pop("shapes", None)

    def remove(self, subscription: int) -> Building:
        """Let a subscription go; a shape without any stays."""
        result, building = self._buildings.pop(subscription)
        self.streams.pop(subscription, None)
        if self.others.pop(subscription, None) is None:
            del self._of_shape[self._shapes[result, building.slots]][subscription]
        return building

    def building(self, subscription: int) -> Building:
        """How a subscription's messages are built."""
        return self._buildings[subscription][1]

    def sharing(self, subscription: int) -> int:
        """How many subscriptions have this one's shape."""
        result, building = self._buildings[subscription]
        shape = self._shapes.get((result, building.slots))
        return len(self._of_shape[shape]) if shape is not None and subscription not in self.others else 1

    def subscriptions_of(self, shape: int) -> dict[int, Building]:
        """The subscriptions with a shape."""
        return self._of_shape[shape]

    def numbers(self) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
        """All FLWR subscriptions."""
        return np.fromiter(self._buildings, np.int32, len(self._buildings))

    @cached_property
    def shapes(self) -> Shapes:
        """The shapes as columns."""
        chains: dict[Chain, int] = {}
        slots = [
            (shape, chains.setdefault(chain, len(chains)))
            for (_, of_shape), shape in self._shapes.items()
            for chain in of_shape
        ]
        results = [result for result, _ in self._shapes]
        largest = max(results, default=-1) + 1
        return Shapes(
            results=np.array(results, np.int32),
            of_result=Ragged.of_pairs(((result, shape) for shape, result in enumerate(results)), largest),
            chains=list(chains),
            slots=Ragged.of_pairs(slots, len(results)),
        )
