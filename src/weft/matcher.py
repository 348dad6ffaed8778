"""Subscriptions and documents in, what each document brings to whom out, as columns: what a broker and Spark share."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

import numpy as np

from weft.automaton.labels import Bounds
from weft.documents.columns import Ints, Longs
from weft.documents.document import Document, Limits
from weft.documents.dtd import Dtd
from weft.documents.fragment import Fragments
from weft.documents.moment import Span
from weft.documents.table import NodeTable
from weft.engine.engine import Engine, Matches
from weft.engine.profile import Profile
from weft.errors import ConfigurationError, WeftError
from weft.joins.arrivals import Clock
from weft.joins.joins import Joins
from weft.languages import Plan, parse
from weft.optimizer import Approach
from weft.plans.xscl import Xscl
from weft.subscriptions import Subscription, load_subscriptions

_CHUNK = 64  # documents that are matched at once: larger is not faster
_CHUNK_BYTES = 8 * 1024 * 1024
Entry = TypeVar("Entry")
_SWEEP = 10_000  # results that nobody wants any more, before the engine is built anew


@dataclass(frozen=True, slots=True)
class Deliveries:
    """One row for each node or message: the document's place in its batch, the subscription's number, the XML.

    Sorted by document, then subscription, then document order.
    """

    document: Ints
    subscription: Ints
    text: list[str]

    @property
    def is_first(self) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Where the rows of one document and subscription begin."""
        if not self.text:
            return np.zeros(0, bool)
        return np.append(True, (np.diff(self.document) != 0) | (np.diff(self.subscription) != 0))

    @property
    def position(self) -> Longs:
        """The place of each row among those of its document and subscription, from 1."""
        starts = np.flatnonzero(self.is_first)
        return np.arange(1, len(self.text) + 1) - np.repeat(starts, np.diff([*starts, len(self.text)]))


class Matcher:
    """All subscriptions, by number, in one engine."""

    def __init__(
        self,
        limits: Limits | None = None,
        bounds: Bounds | None = None,
        dtd: Dtd | None = None,
        approach: Approach | None = None,
        profile: bool = False,
        lateness: Span = 0,
        ahead: Span | None = None,
        clock: Clock = time.time_ns,
    ) -> None:
        self.limits, self.dtd = limits or Limits(), dtd
        self._make_engine = partial(Engine, bounds, dtd, approach, Profile(profile))
        self._make_joins = partial(Joins, self.limits, lateness, bounds, dtd, ahead, clock)
        self.clear()

    def clear(self) -> None:
        """Forget all subscriptions, and what joins remember."""
        self.engine = self._make_engine()
        self.joins = self._make_joins()
        self.subscriptions: dict[int, Subscription] = {}
        self.numbers: dict[str, int] = {}
        self.ids = np.empty(1024, object)  # by number
        self._next = 0

    def add(self, subscription: Subscription, plan: Plan | None = None, from_state: bool = False) -> None:
        """Take a subscription in, under the next number; raises QueryError and changes nothing if it cannot be read.

        XSCL with `from_state` also sees the documents that joins still hold.
        """
        if subscription.id in self.numbers:
            raise ConfigurationError(f"subscription {subscription.id!r} is there already")
        plan = plan or plan_of(subscription)
        if isinstance(plan, Xscl):
            self.joins.add(self._next, plan, from_state)
        else:
            self.engine.add(self._next, plan)
        self._enter(subscription)

    def _enter(self, subscription: Subscription) -> int:
        """The next number is this subscription's."""
        number = self._next
        self._next += 1
        if number == len(self.ids):
            self.ids = np.concatenate([self.ids, np.empty(number, object)])
        self.ids[number] = subscription.id
        self.subscriptions[number] = subscription
        self.numbers[subscription.id] = number
        return number

    def remove(self, id: str) -> None:
        """Let a subscription go; raises KeyError if there is none with this id."""
        number = self.numbers.pop(id)
        del self.subscriptions[number]
        self.ids[number] = None
        if number in self.joins:
            self.joins.remove(number)
        else:
            self.engine.remove(number)
        if max(self.engine.dead, self._next - len(self.numbers)) > max(_SWEEP, len(self.numbers)):
            self.rebuild()

    def rebuild(self) -> None:
        """A new engine without what nobody wants any more; joins remember what they do."""
        kept, joins = list(self.subscriptions.items()), self.joins
        self.clear()
        self.joins = joins
        moved = {}
        for number, subscription in kept:
            if number in joins:
                moved[number] = self._enter(subscription)
            else:
                self.add(subscription)
        joins.renumber(moved)


def deliver(engine: Engine, table: NodeTable) -> Deliveries:
    """What the documents bring: the nodes that XPath selects, the messages that FLWR builds."""
    matches = engine.match(table)
    selected, built = _selected(table, matches), matches.messages()
    if not built:
        return selected
    document, subscription = (np.fromiter((row[at] for row in built), np.int32, len(built)) for at in (0, 1))
    text = selected.text + [row[2] for row in built]
    document = np.concatenate([selected.document, document])
    subscription = np.concatenate([selected.subscription, subscription])
    order = np.lexsort((subscription, document))  # stable: nodes stay in their order
    return Deliveries(document[order], subscription[order], [text[at] for at in order.tolist()])


def add_all(
    add: Callable[[Subscription], object],
    subscriptions: str | Path | Iterable[Subscription],
    change: Callable[[Subscription], Subscription] = lambda subscription: subscription,
) -> list[str]:
    """Add the subscriptions of a file or folder, or given ones, each after a change; all that is wrong comes back."""
    errors: list[str] = []
    if isinstance(subscriptions, str | Path):
        subscriptions = load_subscriptions(subscriptions, on_error=lambda error: errors.append(str(error)))
    for subscription in subscriptions:
        try:
            add(change(subscription))
        except WeftError as error:
            errors.append(f"{subscription.place or subscription.id}: {error}")
    return errors


def chunks(documents: Iterable[Document]) -> Iterator[list[Document]]:
    """Batches as they are matched: few enough documents to stay in the caches, and few enough bytes."""
    return portions(documents, lambda document: len(document.data), _CHUNK, _CHUNK_BYTES)


def portions(entries: Iterable[Entry], weigh: Callable[[Entry], int], most: int, heavy: int) -> Iterator[list[Entry]]:
    """Entries in lists of at most so many; one that has become heavy ends."""
    portion: list[Entry] = []
    weight = 0
    for entry in entries:
        portion.append(entry)
        weight += weigh(entry)
        if len(portion) == most or weight > heavy:
            yield portion
            portion, weight = [], 0
    if portion:
        yield portion


def plan_of(subscription: Subscription) -> Plan:
    """The plan of a subscription's query."""
    return parse(subscription.query, subscription.language, subscription.namespaces, subscription.ignore_namespaces)


def _selected(table: NodeTable, matches: Matches) -> Deliveries:
    """A node that many want is written once."""
    document, subscription, node = matches.nodes()
    fragments = Fragments(table)
    distinct, place = np.unique(node, return_inverse=True)
    written = [fragments.text(at) for at in distinct.tolist()]
    return Deliveries(document, subscription, [written[at] for at in place.tolist()])
