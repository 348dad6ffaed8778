"""Subscriptions and documents in, what each document brings to whom out, as columns: what a broker and Spark share."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from sys import maxsize
from typing import TypeVar

import numpy as np

from weft.broker.confinement import Answer, Confined, Registry, confined
from weft.broker.deliveries import Deliveries, deliveries, in_order
from weft.broker.subscriptions import Subscription, load_subscriptions
from weft.columns.integers import Ints
from weft.documents.build import read
from weft.documents.document import Document, Limits
from weft.documents.dtd import Dtd
from weft.documents.moment import Span
from weft.documents.table import NodeTable
from weft.engine.engine import Engine
from weft.engine.paths.labels import Bounds
from weft.engine.profile import Profile
from weft.errors import ConfigurationError, QueryWarning, WeftError
from weft.joins.joins import Joins
from weft.joins.time.arrivals import Clock
from weft.languages import Plan, parse
from weft.languages.reader import OnWarning
from weft.plans.flwr import Flwr
from weft.plans.plan import Selection
from weft.plans.xscl import Xscl
from weft.reference.pathsharing.engine import PathSharingEngine
from weft.reference.pathsharing.optimize import Approach

_CHUNK = 64  # documents that are matched at once: larger is not faster
_CHUNK_BYTES = 8 * 1024 * 1024
Weighed = TypeVar("Weighed")
_NO_LIMITS = Limits(max_query_bytes=maxsize, max_query_nesting=maxsize, max_query_states=maxsize)
_SWEEP = 10_000  # results that nobody wants any more, before the engine is built anew


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
        kind = partial(PathSharingEngine, approach) if approach else Engine
        self._make_engine = partial(kind, bounds, profile=Profile(profile), limits=self.limits)
        # Joins do without the DTD: what they remember of a document outlasts the moment in which it could be checked.
        self._make_joins = partial(Joins, self.limits, lateness, bounds, ahead=ahead, clock=clock)
        self.invalid = 0  # documents that did not keep to the DTD
        self.clear()

    def clear(self) -> None:
        """Forget all subscriptions, and what joins remember."""
        self.engine = self.new_engine()
        self.joins = self._make_joins()
        self.subscriptions: dict[int, Subscription] = {}
        self.numbers: dict[str, int] = {}
        self.suspended: dict[int, str] = {}  # by number the reason
        self.ids = np.empty(1024, object)  # by number
        self._loose: _WithoutDtd | None = None
        self._next = 0

    def add(self, subscription: Subscription, plan: Plan | None = None, from_state: bool = False) -> None:
        """Take a subscription in, under the next number; raises QueryError and changes nothing if it cannot be read.

        XSCL with `from_state` also sees the documents that joins still hold.
        """
        if subscription.id in self.numbers:
            raise ConfigurationError(f"subscription {subscription.id!r} is there already")
        plan = plan or new_plan(subscription, self.limits)
        if isinstance(plan, Xscl):
            self.joins.add(self._next, plan, from_state)
        else:
            self._add(plan)
        self._enter(subscription)

    def _add(self, plan: Selection | Flwr) -> None:
        """A plan that cannot be added leaves nothing behind."""
        try:
            for engine in self._engines():
                engine.add(self._next, plan)
        except BaseException:
            self.suspend({})
            raise

    def _engines(self) -> list[Engine]:
        return [self.engine, *([self._loose.engine] if self._loose is not None else [])]

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
        elif self.suspended.pop(number, None) is None:
            for engine in self._engines():
                engine.remove(number)
        if max(self.engine.dead, self._next - len(self.numbers)) > max(_SWEEP, len(self.numbers)):
            self.rebuild()

    def rebuild(self) -> None:
        """A new engine without what nobody wants any more; joins remember what they do."""
        kept, joins, suspended = list(self.subscriptions.items()), self.joins, self.suspended
        self.clear()
        self.joins = joins
        moved = {}
        for number, subscription in kept:
            if number in joins:
                moved[number] = self._enter(subscription)
            elif number in suspended:
                self.suspended[self._enter(subscription)] = suspended[number]
            else:
                self.add(subscription, plan_of(subscription))
        joins.renumber(moved)

    # -- what confinement needs

    def active(self) -> list[int]:
        """The subscriptions that the engine answers."""
        return [number for number in self.subscriptions if number not in self.joins and number not in self.suspended]

    def plan(self, number: int) -> Selection | Flwr:
        """The plan of one of them."""
        plan = plan_of(self.subscriptions[number])
        assert not isinstance(plan, Xscl), "joins have plans of their own"
        return plan

    def new_engine(self) -> Engine:
        """An engine without subscriptions."""
        return self._make_engine(dtd=self.dtd)

    def suspend(self, reasons: dict[int, str]) -> None:
        """These take part no more, but stay registered; the others have a new engine."""
        self.suspended |= reasons
        self.engine = self.new_engine()
        for number in self.active():
            self.engine.add(number, self.plan(number))
        if self._loose is not None:
            self._loose.renew()

    def without_dtd(self, documents: int) -> _WithoutDtd:
        """The same without the DTD, for so many documents that do not keep to it; built when the first one comes."""
        self.invalid += documents
        if self._loose is None:
            self._loose = _WithoutDtd(self, partial(self._make_engine, dtd=None))
        return self._loose


class _WithoutDtd:
    """All subscriptions once more, in an engine that takes every document."""

    def __init__(self, matcher: Matcher, make_engine: Callable[[], Engine]) -> None:
        self.new_engine = make_engine
        self.active, self.plan, self.suspend = matcher.active, matcher.plan, matcher.suspend
        self.without_dtd = matcher.without_dtd
        self.renew()

    def renew(self) -> None:
        """Begin anew with all that take part."""
        self.engine = self.new_engine()
        for number in self.active():
            self.engine.add(number, self.plan(number))


@dataclass(slots=True)
class Matched:
    """For each document of a batch the subscriptions that match it, in their order; nothing where it is rejected.

    `refused` tells which messages could not be looked for (place of the document, subscription, reason), `rejected`
    which documents could not be matched at all (place, reason).
    """

    subscriptions: list[Ints]
    refused: list[tuple[int, int, str]]
    rejected: list[tuple[int, str]]


def deliver(engine: Engine, table: NodeTable, plans: Registry | None = None) -> Deliveries:
    """What the documents bring: the nodes that XPath selects, the messages that FLWR builds.

    Whatever fails on the way is confined to its document or, if there are plans, to its subscription. A document that
    does not keep to the DTD is matched without it if there are plans, else rejected.
    """
    found = _answers(engine, table, deliveries, plans)
    refused = found.refused + [
        (places[at], number, reason) for places, answer in found.answers for at, number, reason in answer.refused
    ]
    if len(found.answers) == 1:
        places, answer = found.answers[0]
        if len(places) == len(table.documents):
            return replace(answer, refused=sorted(refused), rejected=found.rejected)
    none = np.zeros(0, np.int32)
    document = [np.array(places, np.int32)[answer.document] for places, answer in found.answers]
    subscription = [answer.subscription for _, answer in found.answers]
    text = [each for _, answer in found.answers for each in answer.text]
    made = in_order(np.concatenate([none, *document]), np.concatenate([none, *subscription]), text, refused)
    return replace(made, rejected=sorted(found.rejected))


def match(engine: Engine, table: NodeTable, plans: Registry | None = None) -> Matched:
    """Which subscriptions match each document; what fails is confined as in `deliver`."""
    found = _answers(engine, table, _matches, plans)
    parts: list[list[Ints]] = [[] for _ in table.documents]
    refused = found.refused
    for places, (subscriptions, told) in found.answers:
        for place, numbers in zip(places, subscriptions, strict=True):
            parts[place].append(numbers)
        refused += [(places[at], number, reason) for at, number, reason in told]
    none = np.zeros(0, np.int32)
    return Matched(
        [part[0] if len(part) == 1 else np.sort(np.concatenate([none, *part])) for part in parts],
        sorted(refused),
        sorted(found.rejected),
    )


def _matches(engine: Engine, table: NodeTable) -> tuple[list[Ints], list[tuple[int, int, str]]]:
    matches = engine.match(table)
    return matches.subscriptions(), matches.refused


def _answers(
    engine: Engine, table: NodeTable, answer: Callable[[Engine, NodeTable], Answer], plans: Registry | None
) -> Confined[Answer]:
    """The answers to a batch, those to documents that do not keep to the DTD without it."""
    faults = engine.faults(table)
    if not faults:
        return confined(engine, table, answer, plans)
    parts: list[tuple[list[int], Registry | None]] = [
        ([place for place in range(len(table.documents)) if place not in faults], plans)
    ]
    found: Confined[Answer] = Confined()
    if plans is None:
        found.rejected += faults.items()
    else:
        parts.append((list(faults), plans.without_dtd(len(faults))))
    for places, with_plans in parts:
        documents = [table.documents[place] for place in places]
        part = table if len(places) == len(table.documents) else read(documents, engine.limits)
        made = confined(with_plans.engine if with_plans else engine, part, answer, with_plans)
        found.answers += [([places[at] for at in inside], each) for inside, each in made.answers]
        found.refused += [(places[at], number, reason) for at, number, reason in made.refused]
        found.rejected += [(places[at], reason) for at, reason in made.rejected]
    return found


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


def portions(
    entries: Iterable[Weighed], weigh: Callable[[Weighed], int], most: int, heavy: int
) -> Iterator[list[Weighed]]:
    """Entries in lists of at most so many; one that has become heavy ends."""
    portion: list[Weighed] = []
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
    """The plan of a subscription's query, which was within the limits when it came."""
    return _parse(subscription, _NO_LIMITS)


def new_plan(subscription: Subscription, limits: Limits) -> Plan:
    """The plan of a new subscription; warns of what in it can never be true, or always is."""

    def warn(warning: QueryWarning) -> None:
        place = subscription.place or subscription.id
        told = QueryWarning(warning.language, warning.query, warning.at, warning.reason, place)
        warnings.warn(told, stacklevel=2)

    return _parse(subscription, limits, warn)


def _parse(subscription: Subscription, limits: Limits, on_warning: OnWarning | None = None) -> Plan:
    return parse(
        subscription.query,
        subscription.language,
        subscription.namespaces,
        subscription.ignore_namespaces,
        limits,
        on_warning,
    )
