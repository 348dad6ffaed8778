"""Subscriptions in, engines and joins that answer them out; subscriptions have numbers inside."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from functools import partial

from weft.broker.kept_subscriptions import KeptSubscriptions
from weft.broker.reading import new_plan, plan_of
from weft.broker.subscription_ids import SubscriptionIds
from weft.broker.subscriptions import Subscription
from weft.broker.typed import TypedColumn, columns_of
from weft.documents.document import Limits
from weft.documents.dtd import Dtd
from weft.documents.moment import Span
from weft.engine.engine import Engine
from weft.engine.paths.bounds import Bounds
from weft.engine.profile import Profile
from weft.errors import ConfigurationError
from weft.headers.configuration import Configuration, Configurations, as_configurations
from weft.headers.matcher import HeaderMatcher
from weft.joins.joins import Joins
from weft.joins.time.arrivals import Clock
from weft.languages import Plan
from weft.optimizer.adapting import Adapting, Retrieval, check_retrieval
from weft.plans.flwr import Flwr
from weft.plans.lone_query import LoneQuery
from weft.plans.plan import Selection
from weft.plans.xscl import Xscl
from weft.reference.pathsharing.engine import PathSharingEngine
from weft.reference.pathsharing.optimize import Approach

_LOG = logging.getLogger(__name__)
_SWEEP = 10_000  # results that nobody wants any more, before the large index is made anew without them


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
        headers: Configurations = (),
        optimizer: Retrieval = "greedy",
    ) -> None:
        check_retrieval(optimizer)
        self.limits, self.dtd = limits or Limits(), dtd
        self.adapting = Adapting() if optimizer != "fixed" and not approach else None
        is_counted = self.adapting is not None
        kind = partial(PathSharingEngine, approach) if approach else partial(Engine, is_counted=is_counted)
        self._make_engine = partial(kind, bounds, profile=Profile(profile), limits=self.limits, plan_of=self.plan)
        # Joins do without the DTD: what they remember of a document outlasts the moment in which it could be checked.
        self._make_joins = partial(Joins, self.limits, lateness, bounds, ahead=ahead, clock=clock)
        self._configurations = as_configurations(headers)
        self.invalid = 0  # documents that did not keep to the DTD
        self.clear()

    def clear(self) -> None:
        """Forget all subscriptions, and what joins remember."""
        self.engine = self.new_engine()
        self.joins = self._make_joins()
        self.headers = HeaderMatcher(self._configurations)
        self.subscriptions = KeptSubscriptions(self._id_of)
        self.numbers: dict[str, int] = {}
        self.suspended: dict[int, str] = {}  # by number the reason
        self.typed: dict[int, tuple[TypedColumn, ...]] = {}  # what subscriptions tell of nodes instead of their XML
        self.ids = SubscriptionIds.empty()
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
        if self._configurations:
            self.headers.add(self._next, plan)
        self._enter(subscription)

    def configure(self, configuration: Configuration) -> None:
        """Read the headers of one more configuration from now on."""
        if not self._configurations:  # until now nobody has kept plans for headers
            for number, subscription in self.subscriptions.items():
                if number not in self.suspended:
                    self.headers.add(number, plan_of(subscription))
        self.headers.configure(configuration)
        self._configurations = self.headers.configurations

    def _add(self, plan: Selection | Flwr | LoneQuery) -> None:
        """A plan that cannot be added leaves nothing behind."""
        try:
            for engine in self._engines():
                engine.add(self._next, plan)
        except BaseException:
            self.suspend({})
            raise

    def _engines(self) -> list[Engine]:
        return [self.engine, *([self._loose.engine] if self._loose is not None else [])]

    def free_id(self) -> str:
        """The next number that is nobody's id."""
        number = len(self.numbers) + 1
        while str(number) in self.numbers:
            number += 1
        return str(number)

    def _enter(self, subscription: Subscription) -> None:
        """The next number is this subscription's."""
        number = self._next
        self._next += 1
        self.ids = self.ids.with_name(number, subscription.id)
        self.subscriptions[number] = subscription
        self.numbers[subscription.id] = number
        if subscription.columns:
            self.typed[number] = columns_of(subscription.columns)

    def _id_of(self, number: int) -> str:
        return self.ids.of(number)

    def remove(self, id: str) -> None:
        """Let a subscription go; raises KeyError if there is none with this id."""
        number = self.numbers.pop(id)
        del self.subscriptions[number]
        self.typed.pop(number, None)
        self.headers.remove(number)
        if number in self.joins:
            self.joins.remove(number)
        elif self.suspended.pop(number, None) is None:
            for engine in self._engines():
                engine.remove(number)
        most = max(_SWEEP, len(self.numbers))
        is_many = self._next - self.ids.first - len(self.numbers) > most
        if is_many:
            self.ids = self.ids.without_gone(self.numbers, self._next)
        if any(engine.large.dead > (len(engine.large) // 8 if is_many else most) for engine in self._engines()):
            self.sweep()

    def sweep(self) -> None:
        """Begin to rid the engines of what nobody wants any more, which they do in slices."""
        for engine in self._engines():
            engine.sweep(self.plan)

    @property
    def is_at_rest(self) -> bool:
        """Whether batches can be matched beside each other: nothing that they ask for changes by that."""
        is_due = self.adapting is not None and self.adapting.is_due(self.engine)
        is_one = not self._configurations and self.dtd is None and type(self.engine) is Engine
        return is_one and not is_due and self.engine.is_at_rest

    def is_ready(self, place: int) -> bool:
        """Whether a batch can be matched at a place while others are matched at theirs."""
        return self.is_at_rest and self.engine.has_place(place)

    def keep_up(self) -> None:
        """A slice of what the engines have under way; to be called before a batch is matched."""
        if self.adapting is not None:
            self.adapting.keep_up(self.engine)
        for engine in self._engines():
            engine.keep_up()
            engine.prepare_places()

    @property
    def joining(self) -> dict[str, int]:
        """The numbers of the XSCL subscriptions."""
        return {id: number for id, number in self.numbers.items() if number in self.joins}

    # -- what confinement needs

    def active(self) -> list[int]:
        """The subscriptions that the engine answers."""
        return [number for number in self.subscriptions if number not in self.joins and number not in self.suspended]

    def plan(self, number: int) -> Selection | Flwr | LoneQuery:
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
        for number, reason in reasons.items():
            _LOG.warning("suspended: %s: %s", self.ids.of(number), reason)
            self.headers.remove(number)
        self.engine = self.new_engine()
        for number in self.active():
            self.engine.add(number, self.plan(number))
        if self._loose is not None:
            self._loose.renew()

    def without_dtd(self, documents: int) -> _WithoutDtd:
        """The same without the DTD, for so many documents that do not keep to it; built when the first one comes."""
        self.invalid += documents
        if self._loose is None:
            uncounted = {} if self.adapting is None else {"is_counted": False}
            self._loose = _WithoutDtd(self, partial(self._make_engine, dtd=None, **uncounted))
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
