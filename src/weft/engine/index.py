"""Plans of many subscriptions in, one index over them out that answers batches: NFA, label paths, shared plan."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from weft.columns.integers import Ints
from weft.columns.steps import let_go
from weft.documents.document import Limits
from weft.documents.dtd import Dtd
from weft.documents.scan import DocumentPaths
from weft.documents.table import NodeTable
from weft.engine.evaluation.evaluate import Evaluation
from weft.engine.evaluation.thorough import ThoroughEvaluation
from weft.engine.messages.budget import Budget
from weft.engine.messages.building import Building, add_building, binding_pattern, edge_building
from weft.engine.messages.built import BuiltQueries
from weft.engine.messages.outcome import Compound, Outcome, told
from weft.engine.paths.bounds import Bounds
from weft.engine.profile import Profile
from weft.engine.selections import is_union, patterns
from weft.engine.shared.frozen import Frozen
from weft.engine.shared.label_plans import LabelPlans
from weft.engine.shared.plan import SharedPlan
from weft.engine.shared.results import Results
from weft.engine.subscribed import SubscribedResults
from weft.kernel.subscribers import Subscribers
from weft.plans.flwr import Flwr
from weft.plans.plan import Edge, Pattern, Selection
from weft.plans.recipe import Recipe

EnginePlan = Selection | Flwr | Edge


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """What a subscription is in an index: its results, or an operation on several, and how its messages are built."""

    results: tuple[int, ...]
    compound: Compound | None = None
    building: Building | None = None

    @property
    def targets(self) -> tuple[int, ...]:
        """The results whose nodes are its answer."""
        return () if self.building is not None and self.building.where is not None else self.results


_OF_THOROUGH = 4  # of 16 parts, beside all of them: what the thorough evaluation may keep of documents
#: Held while something is made that batches share which are answered beside each other.
_ONE_BY_ONE = threading.RLock()


class Index:
    """Subscriptions that are answered together.

    Its plan only grows: what is answered from are arrays made of it at some moment, which stay as they are until `add`
    drops them or `renew` has made others.
    """

    def __init__(self, bounds: Bounds | None = None, profile: Profile | None = None, dtd: Dtd | None = None) -> None:
        self._profile, self._bounds = profile or Profile(), bounds or Bounds()
        self.shared = SharedPlan(dtd)
        self.plans = LabelPlans(self.shared, bounds)
        self._plans_beside: list[LabelPlans] = []  # for batches that are answered beside others
        self.subscribers = Subscribers()
        self.results = SubscribedResults()
        self.origins = Results()
        self.compounds: dict[int, Compound] = {}  # by subscription
        self.built: BuiltQueries = BuiltQueries()
        self.dead = 0
        self._recipes: dict[Recipe, Recipe] = {}
        self._frozen: Frozen | None = None
        self._thorough: tuple[Frozen, LabelPlans] | None = None

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
            results = (self._result(binding_pattern(plan.variables)),)
            entry = IndexEntry(results, building=add_building(self.shared, plan, self._recipes))
        elif isinstance(plan, Edge):
            results = (self._result(plan.pattern),)
            entry = IndexEntry(results, building=edge_building(self.shared, plan))
        elif is_union(plan):
            entry = IndexEntry(tuple(dict.fromkeys(self._result(pattern) for pattern in patterns(plan))))
        else:
            entry = IndexEntry((), self._compound(plan))
        self.shared.begin()
        return entry

    def enter(self, subscription: int, entry: IndexEntry) -> None:
        """A subscription, with a number above all others, wants what was appended for it."""
        if entry.building is not None:
            self.built.add(subscription, entry.results[0], entry.building)
        if entry.compound is not None:
            self.compounds[subscription] = entry.compound
        for result in entry.targets:
            self.subscribers.add(result, subscription)
        self.results.add(subscription, entry.results)

    def remove(self, subscription: int) -> None:
        """Forget a subscription; what only it wanted stays, unused, until the index is built anew."""
        results = self.results.pop(subscription)
        if subscription in self.built and self.built.remove(subscription).where is not None:
            results = ()
        for result in results:
            self.dead += self.subscribers.remove(result, subscription)
        if self.compounds.pop(subscription, None) is not None:
            self.dead += 1

    def renew(self, known: LabelPlans | None = None) -> Iterator[None]:
        """Make what is answered from anew, in steps, beside what there is; meanwhile nothing may be appended.

        With `known` label paths these are known from the beginning; else they come again with the documents.
        """
        plans = LabelPlans(self.shared, self._bounds)
        frozen = yield from Frozen.in_steps(self.shared, self.origins)
        yield from plans.freeze_in_steps(frozen)
        if known is not None:
            yield from plans.learn(known)
        gone = [self._frozen, self.plans, self.plans.paths]
        self._frozen, self.plans, self._thorough, self._plans_beside = frozen, plans, None, []
        yield from let_go(gone)

    # -- for people

    def origin(self, result: int) -> tuple[int, int]:
        """The state that a result's nodes are at, and the node of the shared plan that must hold, if any."""
        return self.origins.state[result], self.origins.node[result]

    def results_below(self, subscription: int) -> tuple[int, ...]:
        """The results that a subscription is made of."""
        compound = self.compounds.get(subscription)
        return self.results[subscription] if compound is None else tuple(_results_in(compound))

    @property
    def memory(self) -> int:
        """How many bytes are kept of what documents have brought."""
        thorough = [self._thorough[1]] if self._thorough is not None else []
        return sum(plans.memory for plans in (self.plans, *self._plans_beside, *thorough))

    @property
    def is_frozen(self) -> bool:
        """Whether a batch can be answered without anything to be made first; adding to it would lose that."""
        return self._frozen is not None

    @property
    def asks_only_paths(self) -> bool:
        """Whether the label paths of a document tell all that is asked of it, if nobody asks for nodes."""
        return self._frozen is not None and self._frozen.tallest < 0 and not self.compounds and not len(self.built)

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
        if place is None or self._frozen is None:
            self.forget()
        else:
            self._plans_at(place).freeze(self._frozen)

    def match(
        self, table: NodeTable, budget: Budget | None = None, whether: bool = False, place: int | None = None
    ) -> Outcome:
        """Answer a batch; with `whether` nobody will ask for nodes, and less is looked at.

        What comes back is to be read before the next batch: then label paths may be forgotten. Whatever ends a batch
        too soon leaves no half-made label path: the next one begins anew. With a `place` others are answered meanwhile,
        at places of their own.
        """
        try:
            return self._match(table, budget or Budget(table, Limits()), whether, place)
        except BaseException:
            self._begin_anew(place)
            raise

    def _plans_at(self, place: int) -> LabelPlans:
        """The label paths that serve one place."""
        if not place:
            return self.plans
        assert self._frozen is not None, "others are answered only where all is frozen"
        with _ONE_BY_ONE:
            while len(self._plans_beside) < place:
                plans = LabelPlans(self.shared, self._bounds)
                plans.freeze(self._frozen)
                self._plans_beside.append(plans)
        return self._plans_beside[place - 1]

    def _match(self, table: NodeTable, budget: Budget, whether: bool, place: int | None) -> Outcome:
        if self._frozen is None:
            self._frozen, self._thorough, self._plans_beside = Frozen(self.shared, self.origins), None, []
            self.plans.freeze(self._frozen)
        plans = self._plans_at(place or 0)
        plans.begin_batch()
        evaluation = Evaluation(table, plans, self._frozen, self._profile, partial(self._do_thoroughly, table))
        asks_for_nodes = not whether or bool(self.compounds) or bool(self.built.others)
        _ = evaluation.found if asks_for_nodes else evaluation.matched
        self._refuse(self._frozen, evaluation.refusals.reasons, budget)
        return Outcome(evaluation, self.subscribers, dict(self.compounds), self.built, budget)

    def _do_thoroughly(self, table: NodeTable) -> ThoroughEvaluation:
        """The batch in the other way, whose tables are made when the first batch asks for it; one batch at a time."""
        with _ONE_BY_ONE:
            return self._evaluate_thoroughly(table)

    def _evaluate_thoroughly(self, table: NodeTable) -> ThoroughEvaluation:
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

    def _refuse(self, frozen: Frozen, reasons: dict[int, dict[int, str]], budget: Budget) -> None:
        """Tell whose answers are not known, because nodes that they depend on were not worked out."""
        for document, by_node in reasons.items():
            by_reason: dict[str, list[int]] = {}
            for node, reason in by_node.items():
                by_reason.setdefault(reason, []).append(node)
            for reason, nodes in by_reason.items():
                for subscription in self._depending_on(frozen, nodes):
                    budget.refuse_unknown(document, subscription, reason)

    def _depending_on(self, frozen: Frozen, nodes: list[int]) -> Iterator[int]:
        """The subscriptions whose answers depend on nodes of the shared plan."""
        marks = frozen.depending_on(nodes)
        results = set(frozen.result_of_node[marks].tolist())
        for subscription in self.results:
            used = self.built.building(subscription).nodes if subscription in self.built else ()
            if not results.isdisjoint(self.results_below(subscription)) or any(marks[node] for node in used):
                yield subscription

    def _result(self, pattern: Pattern) -> int:
        """The result that a pattern's nodes are."""
        state, node = self.shared.add_pattern(pattern)
        result = self.origins.find(state, node)
        if result is None:
            result = self.origins.add(state, node)
            self.subscribers.new()  # has the same number
        return result

    def _compound(self, selection: Selection) -> Compound:
        if isinstance(selection, Pattern):
            return self._result(selection)
        return selection.operator, tuple(self._compound(part) for part in selection.parts)


def _results_in(compound: Compound) -> Iterator[int]:
    if isinstance(compound, int):
        yield compound
    else:
        for part in compound[1]:
            yield from _results_in(part)
