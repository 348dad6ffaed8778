"""Plans of many subscriptions in, one index over them out that answers batches: NFA, label paths, shared plan."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from time import thread_time

import numpy as np

from weft.columns.integers import Flags, Ints
from weft.columns.steps import let_go
from weft.documents.document import Limits
from weft.documents.dtd import Dtd
from weft.documents.scan import DocumentPaths
from weft.documents.table import NodeTable
from weft.engine.access import Access
from weft.engine.compounds import compound_of, results_in
from weft.engine.evaluation.evaluate import Evaluation
from weft.engine.evaluation.thorough import NotBesideError, ThoroughEvaluation
from weft.engine.index_entry import EnginePlan, IndexEntry
from weft.engine.messages.alone import LonePrograms, LoneWork
from weft.engine.messages.budget import Budget
from weft.engine.messages.building import BuildingMaker
from weft.engine.messages.built import BuiltQueries
from weft.engine.messages.first_bindings import binding_pattern
from weft.engine.messages.outcome import Compound, Outcome, told
from weft.engine.paths.bounds import Bounds
from weft.engine.places import ONE_BY_ONE, LabelPlaces
from weft.engine.profile import Profile
from weft.engine.selections import is_union, patterns
from weft.engine.shared.frozen import Frozen
from weft.engine.shared.label_plans import LabelPlans
from weft.engine.shared.plan import SharedPlan
from weft.engine.shared.results import Results
from weft.engine.statistics import GroupStatistics
from weft.engine.subscribed import SubscribedResults
from weft.engine.unknown import refuse_unknown
from weft.kernel.subscribers import Subscribers
from weft.plans.flwr import Flwr
from weft.plans.lone_query import LoneQuery
from weft.plans.plan import Edge, Pattern, Selection

_OF_THOROUGH = 4  # of 16 parts, beside all of them: what the thorough evaluation may keep of documents


class Index:
    """Subscriptions that are answered together.

    Its plan only grows: what is answered from are arrays made of it at some moment, which stay as they are until `add`
    drops them or `renew` has made others.
    """

    def __init__(
        self,
        bounds: Bounds | None = None,
        profile: Profile | None = None,
        dtd: Dtd | None = None,
        is_counted: bool = False,
    ) -> None:
        """With `is_counted` there are statistics of what documents bring to each test group."""
        self._profile, self._bounds = profile or Profile(), bounds or Bounds()
        self.shared = SharedPlan(dtd)
        self.plans = LabelPlans(self.shared, bounds)
        self.places = LabelPlaces(self.shared, self._bounds)  # for batches that are answered beside others
        self.subscribers = Subscribers()
        self.results = SubscribedResults()
        self.origins = Results()
        self.compounds: dict[int, Compound] = {}  # by subscription
        self.built: BuiltQueries = BuiltQueries()
        self.lone = LonePrograms()
        self.dead = 0
        self._builder = BuildingMaker(self.shared)
        self._frozen: Frozen | None = None
        self._thorough: tuple[Frozen, LabelPlans] | None = None
        self.access: Access | None = None  # that was chosen; None: by kind alone
        self.statistics = GroupStatistics(self.shared, self._bounds, self._profile.enabled) if is_counted else None

    def __len__(self) -> int:
        return len(self.results)

    def forget(self) -> None:
        """Make what is answered from anew when the next batch comes."""
        self._frozen = None

    def add(self, subscription: int, plan: EnginePlan) -> None:
        """Take a subscription in; label paths are forgotten."""
        self._frozen = None
        if not isinstance(plan, Pattern):
            self.enter(subscription, self.append(plan))
            return
        self.shared.begin()  # what is right for all is too much for the many
        result = self._result(plan)
        self.subscribers.add(result, subscription)
        self.results.add(subscription, (result,))

    def append(self, plan: EnginePlan) -> IndexEntry:
        """Merge a plan into the shared one; what is answered now stays as it is."""
        self.shared.begin()
        if isinstance(plan, Pattern):
            entry = IndexEntry((self._result(plan),))
        elif isinstance(plan, Flwr):
            results = (self._result(binding_pattern(plan.variables, plan.where)),)
            entry = IndexEntry(results, building=self._builder.add(plan))
        elif isinstance(plan, Edge):
            results = (self._result(plan.pattern),)
            entry = IndexEntry(results, building=self._builder.add_edge(plan))
        elif isinstance(plan, LoneQuery):
            entry = IndexEntry(self._results(plan.required), program=plan)
        elif is_union(plan):
            entry = IndexEntry(self._results(plan))
        else:
            entry = IndexEntry((), compound_of(plan, self._result))
        self.shared.begin()
        return entry

    def enter(self, subscription: int, entry: IndexEntry) -> None:
        """A subscription, with a number above all others, wants what was appended for it."""
        if entry.building is not None:
            self.built.add(subscription, entry.results[0], entry.building)
        if entry.compound is not None:
            self.compounds[subscription] = entry.compound
        if entry.program is not None:
            self.lone.add(subscription, entry.program, entry.results)
        for result in entry.targets:
            self.subscribers.add(result, subscription)
        self.results.add(subscription, entry.results)

    def remove(self, subscription: int) -> None:
        """Forget a subscription; what only it wanted stays, unused, until the index is built anew."""
        results = self.results.pop(subscription)
        if subscription in self.built and not self.built.remove(subscription):
            results = ()
        self.lone.discard(subscription)
        for result in results:
            self.dead += self.subscribers.remove(result, subscription)
        if self.compounds.pop(subscription, None) is not None:
            self.dead += 1

    def renew(self, known: LabelPlans | None = None, access: Access | None = None) -> Iterator[None]:
        """Make what is answered from anew, in steps, beside what there is; meanwhile nothing may be appended.

        With `known` label paths these are known from the beginning; else they come again with the documents. With an
        `access` parts of conditions are retrieved in another way from then on.
        """
        access = access or self.access
        plans = LabelPlans(self.shared, self._bounds)
        frozen = yield from Frozen.in_steps(self.shared, self.origins, access)
        yield from plans.freeze_in_steps(frozen)
        if known is not None:
            yield from plans.learn(known)
        gone = [self._frozen, self.plans, self.plans.paths]
        self._frozen, self.plans, self._thorough = frozen, plans, None
        self.places.forget()
        self.access = access
        self.statistics = self.statistics and self.statistics.anew()
        yield from let_go(gone)

    # -- for people

    def origin(self, result: int) -> tuple[int, int]:
        """The state that a result's nodes are at, and the node of the shared plan that must hold, if any."""
        return self.origins.state[result], self.origins.node[result]

    def results_below(self, subscription: int) -> tuple[int, ...]:
        """The results that a subscription is made of."""
        compound = self.compounds.get(subscription)
        return self.results[subscription] if compound is None else tuple(results_in(compound))

    @property
    def memory(self) -> int:
        """How many bytes are kept of what documents have brought."""
        thorough = 0 if self._thorough is None else self._thorough[1].memory
        return self.places.memory + self.plans.memory + thorough

    @property
    def result_marks(self) -> Flags:
        """Marks on the nodes of the shared plan that are results."""
        return self.origins.by_node(len(self.shared)) >= 0

    @property
    def is_frozen(self) -> bool:
        """Whether a batch can be answered without anything to be made first; adding to it would lose that."""
        return self._frozen is not None

    @property
    def asks_only_paths(self) -> bool:
        """Whether the label paths of a document tell all that is asked of it, if nobody asks for nodes."""
        needs_nodes = self.compounds or len(self.built) or len(self.lone)
        return self._frozen is not None and self._frozen.tallest < 0 and not needs_nodes

    def match_paths(self, documents: DocumentPaths, place: int | None = None) -> list[Ints]:
        """For each document the subscriptions that match it, by its paths alone; in other things as `match`."""
        try:
            plans = self._plans_at(place or 0)
            plans.begin_batch()
            labels = plans.paths.of_paths(documents)
            none = np.zeros(0, np.int32)
            ranges, subscribers = documents.begins[None, :], self.subscribers
            found = plans.paths.kernel.results(labels, ranges, none, none, subscribers)
            return told(*found, subscribers.is_wanted_twice)
        except BaseException:
            self._begin_anew(place)
            raise

    def _begin_anew(self, place: int | None) -> None:
        if place is not None and self._frozen is not None:
            return self._plans_at(place).freeze(self._frozen)
        return self.forget()

    def match(
        self, table: NodeTable, budget: Budget | None = None, whether: bool = False, place: int | None = None
    ) -> Outcome:
        """Answer a batch; with `whether` nobody will ask for nodes, and less is looked at.

        What comes back is to be read before the next batch: then label paths may be forgotten. Whatever ends a batch
        too soon leaves no half-made label path: the next one begins anew. With a `place` others are answered meanwhile,
        at places of their own.
        """
        start = thread_time()
        try:
            return self._match(table, budget or Budget(table, Limits()), whether, place)
        except BaseException:
            self._begin_anew(place)
            raise
        finally:
            if self.statistics is not None and not place:
                self.statistics.took(thread_time() - start, len(table.documents))

    def _plans_at(self, place: int) -> LabelPlans:
        if not place:
            return self.plans
        assert self._frozen is not None, "others are answered only where all is frozen"
        return self.places.at(place, self.plans, self._frozen)

    def prepare(self, place: int) -> None:
        """Make places up to one ready to answer batches beside the first; nobody is answered meanwhile."""
        if self._frozen is not None:
            self.places.prepare(place, self.plans, self._frozen)

    def _match(self, table: NodeTable, budget: Budget, whether: bool, place: int | None) -> Outcome:
        if self._frozen is None:
            self._frozen = Frozen(self.shared, self.origins, access=self.access)
            self._thorough = None
            self.places.forget()
            self.statistics = self.statistics and self.statistics.anew()
            self.plans.freeze(self._frozen)
        plans = self._plans_at(place or 0)
        plans.begin_batch()
        thorough = partial(self._do_thoroughly, table, whether or place is None)
        evaluation = Evaluation(table, plans, self._frozen, self._profile, thorough)
        asks_for_nodes = not whether or bool(self.compounds) or bool(self.built.inexact)
        with self._counting(evaluation, table, place):
            _ = evaluation.found if asks_for_nodes else evaluation.matched
        refuse_unknown(self._frozen, evaluation.refusals.reasons, budget, self)
        selects = len(self.results) > len(self.compounds) + len(self.built) + len(self.lone)
        lone = LoneWork.of(table, self.lone, budget)
        return Outcome(evaluation, self.subscribers, dict(self.compounds), self.built, budget, selects, lone)

    def _counting(self, evaluation: Evaluation, table: NodeTable, place: int | None) -> AbstractContextManager[None]:
        """Count what the evaluation of a batch does, if that is due; of batches beside each other only the first."""
        is_asked = not place and table.documents and self._frozen is not None and self._frozen.tallest >= 0
        statistics = self.statistics if is_asked else None
        if statistics is None or not statistics.is_due(table):
            return nullcontext()
        return statistics.counting(evaluation.evaluator, table)

    def _do_thoroughly(self, table: NodeTable, can_be_beside: bool) -> ThoroughEvaluation:
        """The batch in the other way, whose tables are made when the first one asks; one at a time until it is read."""
        if not can_be_beside:
            raise NotBesideError
        with ONE_BY_ONE:
            if self._thorough is None:
                self._thorough = (
                    Frozen(self.shared, self.origins, is_thorough=True),
                    LabelPlans(self.shared, self._bounds.share(_OF_THOROUGH)),
                )
                self._thorough[1].freeze(self._thorough[0])
            frozen, plans = self._thorough
            plans.begin_batch()
            evaluation = ThoroughEvaluation(table, plans, frozen, self._profile)
            evaluation.run()
            return evaluation

    def _results(self, union: Selection) -> tuple[int, ...]:
        """The results that the nodes of patterns are, each once."""
        return tuple(dict.fromkeys(self._result(pattern) for pattern in patterns(union)))

    def _result(self, pattern: Pattern) -> int:
        """The result that a pattern's nodes are."""
        state, node = self.shared.add_pattern(pattern)
        result = self.origins.find(state, node)
        if result is None:
            result = self.origins.add(state, node)
            self.subscribers.new()  # has the same number
        return result
