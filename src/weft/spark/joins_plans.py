"""XSCL subscriptions in, their plans pickled out, in two kinds: what two documents decide, and the rest."""

from __future__ import annotations

import pickle
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Self

import pyarrow as pa

from weft.broker.matcher import Matcher
from weft.broker.reading import plan_of
from weft.broker.subscriptions import Subscription
from weft.documents.document import Limits
from weft.errors import UnsupportedError
from weft.joins.joins import Joins
from weft.joins.pairs import PairJoins
from weft.joins.time.arrivals import ANY_TIME, Arrivals
from weft.plans.xscl import Xscl

_TOLD = 10  # ids in an error
_INSTEAD = "run it with weft run, as a batch, or in a Broker"


@dataclass(frozen=True, slots=True)
class CompiledJoins:
    """The plans of all XSCL subscriptions, pickled, and what must be known before they are unpacked."""

    payload: bytes = field(repr=False)
    digest: str
    pairwise: int  # how many queries two documents alone decide
    gathered: int  # how many need all documents in their order
    needs_all: bool  # whether one of these counts documents, or waits for the last of them
    refused: tuple[str, ...]  # for each of these: why it cannot be in a stream
    identity: str  # of the subscriptions: equal ones are joined in the same way
    told: str  # their ids, if they are not too many


@dataclass(frozen=True, slots=True)
class JoinPlans:
    """What a worker joins with: both kinds, and the id and destination of each subscription number."""

    pairs: PairJoins
    gathered: bytes = field(repr=False)  # pickled: whoever joins needs a state of his own
    limits: Limits
    ids: pa.StringArray
    destinations: pa.StringArray

    @classmethod
    def unpack(cls, payload: bytes) -> Self:
        """The plans of compiled joins."""
        pairwise, *others = pickle.loads(payload)
        return cls(PairJoins(pairwise), *others)

    def joins(self) -> Joins:
        """The queries that need all documents, before the first one."""
        fresh: Joins = pickle.loads(self.gathered)
        fresh.arrivals = Arrivals(ahead=ANY_TIME)  # whatever the clock says, a frame has the same messages
        return fresh


def compile_joins(matcher: Matcher, ids: pa.StringArray, destinations: pa.StringArray) -> CompiledJoins | None:
    """The XSCL subscriptions of a matcher, if it has any."""
    xscl = {number: each for number, each in matcher.subscriptions.items() if number in matcher.joins}
    if not xscl:
        return None
    plans: dict[int, Xscl] = {}
    for number, subscription in xscl.items():
        plan = plan_of(subscription)
        assert isinstance(plan, Xscl)
        plans[number] = plan
    published = {plan.publish for plan in plans.values() if plan.publish is not None}
    reasons = {number: why for number, plan in plans.items() if (why := why_gathered(plan, published)) is not None}
    pairwise = _joins(matcher, {number: plan for number, plan in plans.items() if number not in reasons})
    gathered = _joins(matcher, {number: plans[number] for number in reasons})
    payload = pickle.dumps(
        (pairwise, pickle.dumps(gathered, protocol=5), matcher.limits, ids, destinations), protocol=5
    )
    return CompiledJoins(
        payload,
        blake2b(payload, digest_size=16).hexdigest(),
        len(pairwise),
        len(gathered),
        any(_needs_all(plans[number]) for number in reasons),
        tuple(_refusal(xscl[number], why) for number, why in reasons.items()),
        _identity(xscl.values()),
        _told([each.id for each in xscl.values()]),
    )


def _told(ids: list[str]) -> str:
    more = f" and {len(ids) - _TOLD} more" if len(ids) > _TOLD else ""
    return ", ".join(ids[:_TOLD]) + more


def why_gathered(plan: Xscl, published: Collection[str]) -> str | None:
    """What in a query needs more than two documents at a time; nothing if two documents alone decide it.

    A block that names no stream also reads what is published.
    """
    operators = [join.operator for join in plan.joins]
    if plan.publish is not None:
        return f"PUBLISH {plan.publish}"
    if published and any(not block.stream or block.stream in published for block in plan.blocks):
        return "reading what another query publishes"
    if "NOT FOLLOWED BY" in operators:
        return "NOT FOLLOWED BY"
    if any(join.window.documents is not None for join in plan.joins):
        return "a window in documents"
    if len(plan.blocks) > 2:
        return f"a chain of {len(plan.blocks)} blocks"
    return None if len(plan.blocks) == 2 else "a query of one block"


def _needs_all(plan: Xscl) -> bool:
    """Whether documents matter that have nothing that the query asks for."""
    return any(join.window.documents is not None or join.operator == "NOT FOLLOWED BY" for join in plan.joins)


def _joins(matcher: Matcher, plans: Mapping[int, Xscl]) -> Joins:
    if len(plans) == len(matcher.joins):
        return matcher.joins
    joins = Joins(matcher.limits, dtd=matcher.dtd)
    for number, plan in plans.items():
        joins.add(number, plan)
    return joins


def _refusal(subscription: Subscription, why: str) -> str:
    error = UnsupportedError("XSCL", subscription.query, 0, f"in a stream on Spark {why}", _INSTEAD)
    return f"{subscription.id}: {error}"


def _identity(subscriptions: Collection[Subscription]) -> str:
    told = [
        (each.id, each.query, sorted(each.namespaces.items()), each.ignore_namespaces, each.to)
        for each in subscriptions
    ]
    return blake2b(repr(told).encode(), digest_size=16).hexdigest()
