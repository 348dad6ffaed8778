"""Indexes in, the same subscriptions in fewer and cleaner indexes out, in steps that leave every answer as it is.

A step takes far less than a millisecond, but for those that make arrays of a large plan, which take a few. At any
moment between two steps each subscription is in exactly one of the indexes that answer.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Sequence

from weft.engine.access import can_be_in
from weft.engine.carried_access import carried_access
from weft.engine.index import Index
from weft.engine.index_entry import EnginePlan, IndexEntry
from weft.engine.shared.label_plans import LabelPlans

NOBODY = -1


def join(
    target: Index, sources: Sequence[Index], plan_of: Callable[[int], EnginePlan], known: LabelPlans | None = None
) -> Iterator[int]:
    """Move all subscriptions of some indexes to one whose numbers are all below; those that have moved come back.

    Plans are appended first, which no answer shows. Then the target learns to answer them, beside its old answers, and
    only then subscriptions move, one by one; those that go meanwhile do not. A step in which none moves gives NOBODY.
    With `known` label paths the target knows these when it begins to answer.
    """
    appended = [_Appended() for _ in sources]
    for source, entries in zip(sources, appended, strict=True):
        for subscription in source.results:
            entries.add(subscription, target.append(plan_of(subscription)))
            yield NOBODY
    for _ in target.renew(known):
        yield NOBODY
    for source, entries in zip(sources, appended, strict=True):
        for subscription, entry in entries:
            if subscription in source.results:
                source.remove(subscription)
                target.enter(subscription, entry)
                yield subscription
            else:
                target.dead += 1
                yield NOBODY


class _Appended:
    """Subscriptions with what they are in an index, in columns: as objects they would be many for a short while."""

    def __init__(self) -> None:
        self._subscriptions, self._results = array("i"), array("i")  # beside each its one result, or NOBODY
        self._others: dict[int, IndexEntry] = {}

    def add(self, subscription: int, entry: IndexEntry) -> None:
        """One more."""
        self._subscriptions.append(subscription)
        if entry == IndexEntry(entry.results[:1]) and entry.results:
            self._results.append(entry.results[0])
        else:
            self._results.append(NOBODY)
            self._others[subscription] = entry

    def __iter__(self) -> Iterator[tuple[int, IndexEntry]]:
        for subscription, result in zip(self._subscriptions, self._results, strict=True):
            yield subscription, self._others[subscription] if result == NOBODY else IndexEntry((result,))


def sweep(source: Index, target: Index, plan_of: Callable[[int], EnginePlan]) -> Iterator[None]:
    """Build a new index with the subscriptions of another one, without what nobody there wants any more.

    It does not answer before it is complete; whoever removes subscriptions meanwhile removes them from both. How the
    parts of conditions are retrieved is carried over.
    """
    for subscription in source.results:
        target.enter(subscription, target.append(plan_of(subscription)))
        yield
    access = None
    if source.access is not None:
        can = can_be_in(target.shared, target.result_marks)
        access = yield from carried_access(source.shared, source.access, target.shared, can)
    yield from target.renew(source.plans, access)
