"""Indexes in, the same subscriptions in fewer and cleaner indexes out, in steps that leave every answer as it is.

A step takes far less than a millisecond, but for those that make arrays of a large plan, which take a few. At any
moment between two steps each subscription is in exactly one of the indexes that answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from weft.engine.index import EnginePlan, Index, IndexEntry

NOBODY = -1


def join(target: Index, sources: Sequence[Index], plans: Mapping[int, EnginePlan]) -> Iterator[int]:
    """Move all subscriptions of some indexes to one whose numbers are all below; those that have moved come back.

    Plans are appended first, which no answer shows. Then the target learns to answer them, beside its old answers, and
    only then subscriptions move, one by one; those that go meanwhile do not. A step in which none moves gives NOBODY.
    """
    appended: list[tuple[Index, int, IndexEntry]] = []
    for source in sources:
        for subscription in source.results:
            appended.append((source, subscription, target.append(plans[subscription])))
            yield NOBODY
    for _ in target.renew():
        yield NOBODY
    for source, subscription, entry in appended:
        if subscription in source.results:
            source.remove(subscription)
            target.enter(subscription, entry)
            yield subscription
        else:
            target.dead += 1
            yield NOBODY


def sweep(source: Index, target: Index, plan_of: Callable[[int], EnginePlan]) -> Iterator[None]:
    """Build a new index with the subscriptions of another one, without what nobody there wants any more.

    It does not answer before it is complete; whoever removes subscriptions meanwhile removes them from both.
    """
    for subscription in source.results:
        target.enter(subscription, target.append(plan_of(subscription)))
        yield
    yield from target.renew()
