"""Subscriptions and node tables in, outcomes out. Subscriptions come and go without disturbing the others.

There are three indexes. What is added while documents flow goes to the *latest*, which is so small that it is made anew
for the next document. When it has grown it joins the *small* one, and that, in its turn, the *large* one. This, and
sweeping out of the large one what nobody wants any more, is done in slices, one a call, while the indexes as they were
go on answering.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from enum import IntEnum

from weft.columns.integers import Ints
from weft.columns.steps import let_go
from weft.documents.document import Limits
from weft.documents.dtd import Dtd
from weft.documents.scan import DocumentPaths
from weft.documents.table import NodeTable
from weft.engine.access import Access
from weft.engine.index import Index
from weft.engine.index_entry import EnginePlan
from weft.engine.matches import Matches, joined
from weft.engine.messages.budget import Budget
from weft.engine.paths.bounds import Bounds
from weft.engine.profile import Profile
from weft.engine.upkeep import join, sweep
from weft.engine.validity import Validity

_LATEST = 32  # subscriptions that the latest index may have when it is made anew for a document
_SMALL = 1_000  # that the small one may have, and one more for every 32 of the large one
_OF_LARGE = 11  # of 16 parts of what may be kept of documents; the other five indexes that there can be have one each
_SLICE = 0.001  # seconds of the processor for upkeep in a call; a step may take some more
_CALLS = 16  # that do some upkeep after each batch: whoever loads very many at once is not slowed down


class Engine:
    """All subscriptions, by number.

    With a DTD their paths are made canonical, so that more of them are the same.
    """

    def __init__(
        self,
        bounds: Bounds | None = None,
        dtd: Dtd | None = None,
        profile: Profile | None = None,
        limits: Limits | None = None,
        clock: Callable[[], float] = time.thread_time,
        plan_of: Callable[[int], EnginePlan] | None = None,
        is_counted: bool = False,
    ) -> None:
        """`plan_of` gives the plan of a subscription again; without it those of recent ones are kept.

        Plans are many small objects, and whoever keeps thousands of them pays the garbage collector for it. With
        `is_counted` the large index has statistics, by which parts of conditions can be retrieved in other ways.
        """
        self._is_counted = is_counted
        self._bounds, self._dtd, self._clock, self._plan_of = bounds or Bounds(), dtd, clock, plan_of
        self.limits = limits or Limits()
        self.profile = profile or Profile()
        self._validity = Validity(dtd) if dtd is not None else None
        self.large, self.small, self.latest = self._new_index(_OF_LARGE), self._new_index(), self._new_index()
        self._joining_large: list[Index] = []  # former small ones, whose subscriptions are about to be in the large one
        self._joining_small: list[Index] = []  # former latest ones, likewise
        self._swept: Index | None = None  # the next large one, while it is made
        self._recent: dict[int, EnginePlan | None] = {}  # all that are not in the large one, and their plans if kept
        self._tasks: dict[_Task, Iterator[None]] = {}
        self._calls = 0
        self._wanted_place = 0  # by a batch that could not be answered there

    def __getstate__(self) -> dict[str, object]:
        """What is under way is not taken along: it is begun anew where it is needed."""
        recent = {subscription: self._plan(subscription) for subscription in self._recent}
        return self.__dict__ | {"_tasks": {}, "_swept": None, "_recent": recent, "_plan_of": None}

    def _new_index(self, share: int = 1) -> Index:
        is_counted = self._is_counted and share == _OF_LARGE
        return Index(self._bounds.share(share), self.profile, self._dtd, is_counted)

    def __len__(self) -> int:
        return sum(map(len, self.indexes))

    @property
    def indexes(self) -> list[Index]:
        """All that answer; the numbers of each are above those of the one before."""
        return [self.large, *self._joining_large, self.small, *self._joining_small, self.latest]

    @property
    def dead(self) -> int:
        """How many results nobody wants any more; a new engine would be without them."""
        return sum(index.dead for index in self.indexes)

    @property
    def memory(self) -> int:
        """How many bytes are kept of what documents have brought."""
        return sum(index.memory for index in self.indexes)

    def index_of(self, subscription: int) -> Index:
        """The index that answers a subscription."""
        for index in self.indexes:
            if subscription in index.results:
                return index
        raise KeyError(subscription)

    def add(self, subscription: int, plan: EnginePlan) -> None:
        """Take a subscription in; numbers only grow."""
        if not self.large.is_frozen and not self._recent and _Task.LARGE not in self._tasks:
            self.large.add(subscription, plan)
            return
        self.keep_up()  # before: what is under way may ask for the plans of those that are in, not of this one
        self.latest.add(subscription, plan)
        self._recent[subscription] = plan if self._plan_of is None else None

    def _plan(self, subscription: int) -> EnginePlan:
        """The plan of a subscription that is not in the large index."""
        plan = self._recent[subscription]
        if plan is None:
            assert self._plan_of is not None, "who does not keep plans can have them again"
            plan = self._plan_of(subscription)
        return plan

    def remove(self, subscription: int) -> None:
        """Let a subscription go. What only it wanted stays, unused, until the index joins another or is swept."""
        self.index_of(subscription).remove(subscription)
        self._recent.pop(subscription, None)
        if self._swept is not None and subscription in self._swept.results:
            self._swept.remove(subscription)
        self._calls = max(self._calls, 1)  # or what is dead would grow where no document comes
        self.keep_up()

    def faults(self, table: NodeTable) -> dict[int, str]:
        """The documents, by place, that do not keep to the DTD, if there is one: they must not be matched with it."""
        return self._validity.faults(table) if self._validity is not None else {}

    @property
    def is_at_rest(self) -> bool:
        """Whether batches can be answered beside each other: nothing is under way or due, and all is frozen."""
        indexes = [index for index in self.indexes if len(index)]
        is_due = _size(self.latest) > _LATEST or _size(self.small) > _SMALL + len(self.large) // 32
        is_frozen = all(index.is_frozen for index in indexes)
        return (
            not (self._tasks or is_due or self.profile.enabled or self._joining_small or self._joining_large)
            and is_frozen
        )

    def has_place(self, place: int) -> bool:
        """Whether a place knows enough to answer batches; else it is to be `prepared`."""
        if all(index.places.has(place, index.plans) for index in self.indexes if len(index)):
            return True
        self._wanted_place = max(self._wanted_place, place)
        return False

    def prepare_places(self) -> None:
        """Make ready the places that were asked for and knew too little, if all is frozen; nobody is answered now."""
        if self._wanted_place and self.is_at_rest:
            for index in self.indexes:
                index.prepare(self._wanted_place)
            self._wanted_place = 0

    def match(self, table: NodeTable, whether: bool = False, place: int | None = None) -> Matches:
        """Answer a batch; with `whether` nobody will ask for nodes, and less is looked at.

        What it brings is to be read before anything changes. Batches are answered one after the other, or beside each
        other where everything `is_at_rest`: then each has a `place` of its own.
        """
        budget = Budget(table, self.limits)
        self._calls = _CALLS
        outcomes = [index.match(table, budget, whether, place) for index in self.indexes if len(index)]
        return Matches(outcomes, len(table.documents), budget)

    @property
    def asks_only_paths(self) -> bool:
        """Whether `match_paths` can answer a batch now: no subscription asks for more than label paths."""
        return self._validity is None and all(index.asks_only_paths for index in self.indexes if len(index))

    @property
    def kinds_in_paths(self) -> dict[str, bool]:
        """Whether some path leads to attributes, and to texts."""
        states = [index.shared.states for index in self.indexes if len(index)]
        return {
            "attributes": any(each.has_attributes for each in states),
            "texts": any(each.has_texts for each in states),
        }

    def match_paths(self, documents: DocumentPaths, place: int | None = None) -> list[Ints]:
        """For each document the subscriptions that match it, by its label paths alone; in other things as `match`."""
        self._calls = _CALLS
        parts = [index.match_paths(documents, place) for index in self.indexes if len(index)]
        return joined(parts, len(documents.documents))

    # -- upkeep

    def sweep(self, plan_of: Callable[[int], EnginePlan]) -> None:
        """Begin to make the large index anew, without what nobody wants any more; plans are asked for one by one."""
        if _Task.LARGE not in self._tasks:
            self._tasks[_Task.LARGE] = self._sweep_large(plan_of)

    @property
    def can_retrieve(self) -> bool:
        """Whether the large index can be told now to retrieve parts of conditions in another way."""
        return self.large.is_frozen and _Task.LARGE not in self._tasks and not self._joining_large

    def retrieve(self, access: Access) -> None:
        """Begin to answer from another access to the large index; until that is made, the one that there is answers."""
        assert self.can_retrieve, "who chooses an access asks before"
        self._tasks[_Task.LARGE] = self._retrieve(self.large, access)
        self._calls = max(self._calls, 1)

    def _retrieve(self, index: Index, access: Access) -> Iterator[None]:
        """Change the access; the time of each step is counted where what was counted of documents stands."""
        steps, is_left = index.renew(index.plans, access), True
        while is_left:
            start = self._clock()
            is_left = next(steps, index) is None
            if index.statistics is not None:
                index.statistics.migrating += self._clock() - start
            if is_left:
                yield

    def settle(self) -> None:
        """Do all that is left of what is under way."""
        while self._tasks:
            self._step()

    def keep_up(self) -> None:
        """A slice of what is under way, at least a step. It changes no answer, yet no batch may be answered meanwhile.

        The time that it takes tells when it ends, so that it is short on a slow machine too; on a busy one it waits as
        all do, and falls behind less than if it gave up what was its turn.
        """
        if not self._calls:
            return
        self._calls -= 1
        end = self._clock() + _SLICE
        self._plan_upkeep()
        while self._tasks:
            self._step()
            if self._clock() >= end:
                break

    def _step(self) -> None:
        """A step of the task that is sooner done; one that fails is dropped, and the next batch shows what is wrong."""
        which = min(self._tasks)
        task = self._tasks.pop(which)
        try:
            for _ in task:
                self._tasks[which] = task
                break
        except Exception:
            for index in self.indexes:
                index.forget()
            self._swept = None

    def _plan_upkeep(self) -> None:
        """Begin what is due."""
        if _Task.SMALL not in self._tasks:
            if _size(self.latest) > _LATEST:
                self._joining_small += [self.latest] if len(self.latest) else []
                self.latest = self._new_index()
            most = _SMALL + len(self.large) // 32
            if not self._joining_large and _size(self.small, *self._joining_small) > most:
                self._joining_large = [self.small, *self._joining_small]
                self.small, self._joining_small = self._new_index(), []
            if self._joining_small:
                self._tasks[_Task.SMALL] = self._join_small()
        if self._joining_large and _Task.LARGE not in self._tasks:
            self._tasks[_Task.LARGE] = self._join_large()

    def _join_small(self) -> Iterator[None]:
        for _ in join(self.small, self._joining_small, self._plan):
            yield
        self._joining_small = []

    def _join_large(self) -> Iterator[None]:
        for moved in join(self.large, self._joining_large, self._plan, self.large.plans):
            self._recent.pop(moved, None)
            yield
        self._joining_large = []

    def _sweep_large(self, plan_of: Callable[[int], EnginePlan]) -> Iterator[None]:
        self._swept = self._new_index(_OF_LARGE)
        yield from sweep(self.large, self._swept, plan_of)
        old, self.large, self._swept = self.large, self._swept, None
        built = old.built
        yield from let_go([old.shared, old.plans, old.plans.paths, built.shapes, built.recipes, built, old])


class _Task(IntEnum):
    """What can be under way at the same time; what is sooner done comes first."""

    SMALL = 0
    LARGE = 1


def _size(*indexes: Index) -> int:
    """Subscriptions, with those that went."""
    return sum(len(index) + index.dead for index in indexes)
