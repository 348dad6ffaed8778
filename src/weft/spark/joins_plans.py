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
from weft.documents.dtd import Dtd
from weft.joins.joins import Joins
from weft.joins.pairs import PairJoins
from weft.joins.time.arrivals import ANY_TIME, Arrivals
from weft.plans.xscl import Xscl

_CASCADES = 0  # the shard of all that publishes, or reads what is published
_TOLD = 10  # ids in an error


@dataclass(frozen=True, slots=True)
class CompiledJoins:
    """The plans of all XSCL subscriptions, pickled, and what must be known before they are unpacked."""

    payload: bytes = field(repr=False)
    digest: str
    pairwise: int  # how many queries two documents alone decide
    gathered: int  # how many need all documents in their order
    needs_all: bool  # whether one of these counts documents, or waits for the last of them
    publishes: bool  # whether messages become documents, which the other languages may ask for
    cascades: frozenset[str]  # the identities of those that publish, or read what is published
    identity: str  # of the subscriptions: equal ones are joined in the same way
    told: str  # their ids, if they are not too many


@dataclass(frozen=True, slots=True)
class JoinPlans:
    """What a worker joins with: both kinds, and the id and destination of each subscription number."""

    pairs: PairJoins
    pairwise: bytes = field(repr=False)  # the same, pickled
    gathered: bytes = field(repr=False)  # pickled: whoever joins needs a state of his own
    plans: Mapping[int, Xscl]  # of the gathered queries
    homes: Mapping[int, int]  # of these: a number that decides in which shard they are
    limits: Limits
    dtd: Dtd | None
    ids: pa.StringArray
    destinations: pa.StringArray
    identities: Mapping[int, str]  # what tells subscriptions apart when they change

    @classmethod
    def unpack(cls, payload: bytes) -> Self:
        """The plans of compiled joins."""
        pairwise, *others = pickle.loads(payload)
        return cls(PairJoins(pickle.loads(pairwise)), pairwise, *others)

    def joins(self) -> Joins:
        """The queries that need all documents, before the first one."""
        return _fresh(self.gathered)

    def together(self) -> list[Joins]:
        """All queries, before the first document."""
        return [joins for each in (self.pairwise, self.gathered) if len(joins := _fresh(each))]

    def in_shard(self, shard: int, shards: int) -> list[int]:
        """The gathered queries of one of so many shards."""
        return [number for number, home in self.homes.items() if home % shards == shard]

    def joins_of(self, shard: int, shards: int, lateness: int) -> Joins:
        """These, before the first document."""
        numbers = self.in_shard(shard, shards)
        if len(numbers) == len(self.plans):
            fresh = self.joins()
        else:
            fresh = Joins(self.limits, dtd=self.dtd)
            for number in numbers:
                fresh.add(number, self.plans[number])
        fresh.arrivals = Arrivals(lateness, ANY_TIME)
        return fresh

    def needs_all(self, shard: int, shards: int) -> bool:
        """Whether a shard must know of documents that nobody in it asks for."""
        return any(_needs_all(self.plans[number]) for number in self.in_shard(shard, shards))


def _fresh(pickled: bytes) -> Joins:
    fresh: Joins = pickle.loads(pickled)
    fresh.arrivals = Arrivals(ahead=ANY_TIME)  # whatever the clock says, a frame has the same messages
    return fresh


def compile_joins(matcher: Matcher, ids: pa.StringArray, destinations: pa.StringArray) -> CompiledJoins | None:
    """The XSCL subscriptions of a matcher, if it has any."""
    xscl = {number: each for number, each in matcher.subscriptions.items() if number in matcher.joins}
    return _compiled(matcher, xscl, ids, destinations) if xscl else None


def no_joins() -> CompiledJoins:
    """No subscriptions any more, where there were some: a stream keeps its place for them."""
    return _compiled(Matcher(), {}, pa.nulls(0, pa.string()), pa.nulls(0, pa.string()))


# Long: one value after the other, each from those before.
def _compiled(
    matcher: Matcher, xscl: Mapping[int, Subscription], ids: pa.StringArray, destinations: pa.StringArray
) -> CompiledJoins:
    plans: dict[int, Xscl] = {}
    for number, subscription in xscl.items():
        plan = plan_of(subscription)
        assert isinstance(plan, Xscl)
        plans[number] = plan
    published = {plan.publish for plan in plans.values() if plan.publish is not None}
    reasons = {number: why for number, plan in plans.items() if (why := why_gathered(plan, published)) is not None}
    pairwise = _joins(matcher, {number: plan for number, plan in plans.items() if number not in reasons})
    gathered = _joins(matcher, {number: plans[number] for number in reasons})
    identities = {number: _identity([each]) for number, each in xscl.items()}
    homes = {
        number: _CASCADES if _is_of_cascade(plans[number], published) else int(_identity([xscl[number]], False)[:8], 16)
        for number in reasons
    }
    payload = pickle.dumps(
        (
            pickle.dumps(pairwise, protocol=5),
            pickle.dumps(gathered, protocol=5),
            {number: plans[number] for number in reasons},
            homes,
            matcher.limits,
            matcher.dtd,
            ids,
            destinations,
            identities,
        ),
        protocol=5,
    )
    return CompiledJoins(
        payload,
        blake2b(payload, digest_size=16).hexdigest(),
        len(pairwise),
        len(gathered),
        any(_needs_all(plans[number]) for number in reasons),
        bool(published),
        frozenset(identities[number] for number in plans if _is_of_cascade(plans[number], published)),
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
    if _is_of_cascade(plan, published):
        return "reading what another query publishes"
    if "NOT FOLLOWED BY" in operators:
        return "NOT FOLLOWED BY"
    if any(join.window.documents is not None for join in plan.joins):
        return "a window in documents"
    if len(plan.blocks) > 2:
        return f"a chain of {len(plan.blocks)} blocks"
    return None if len(plan.blocks) == 2 else "a query of one block"


def _is_of_cascade(plan: Xscl, published: Collection[str]) -> bool:
    """Whether a query publishes, or reads what is published."""
    if plan.publish is not None:
        return True
    return bool(published) and any(not block.stream or block.stream in published for block in plan.blocks)


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


def _identity(subscriptions: Collection[Subscription], with_ids: bool = True) -> str:
    told = [
        (each.id if with_ids else "", each.query, sorted(each.namespaces.items()), each.ignore_namespaces, each.to)
        for each in subscriptions
    ]
    return blake2b(repr(told).encode(), digest_size=16).hexdigest()
