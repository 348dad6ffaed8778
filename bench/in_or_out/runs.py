"""A workload and a plan in, seconds of the processor out; and what the searches find from an initial plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from bench.in_or_out.workload import Workload
from bench.measure import timed
from weft import Document, Dtd
from weft.optimizer import ElementMatcher, ElementPlan
from weft.optimizer.cost import CostModel
from weft.optimizer.search import search
from weft.optimizer.unit_costs import unit_costs

Searching = Literal["min-exhaust", "greedy", "fast-prune"]
SEARCHES: tuple[Searching, ...] = ("min-exhaust", "greedy", "fast-prune")
LEARNING = 4_096  # elements that the initial plan runs before a search
_ROUNDS = 5


@dataclass(frozen=True, slots=True)
class SearchRun:
    """One search: the plans it costed, the seconds it took, and those of its plan on the whole stream."""

    explored: int
    searching: float
    plan: ElementPlan
    running: float
    initial: float

    @property
    def effectiveness(self) -> float:
        """The paper's: the search and its plan, as a share of the initial plan."""
        return (self.searching + self.running) / self.initial

    @property
    def gain(self) -> float:
        """How many times as fast as the initial plan the one that was found is."""
        return self.initial / self.running


class Runner:
    """Times plans of one workload; all give the same answers."""

    def __init__(self, workload: Workload, dtd: Dtd | None = None, *, trusted: bool = False) -> None:
        self._workload, self._dtd, self._trusted = workload, dtd, trusted
        self.matcher = self._matcher()
        self.initial = self.matcher.plan
        self._found: list[str] | None = None

    def _matcher(self) -> ElementMatcher:
        dtd, trusted, units = self._dtd, self._trusted, unit_costs()
        return ElementMatcher(self._workload.query, optimizer="fixed", dtd=dtd, trusted=trusted, units=units)

    def learn(self) -> CostModel:
        """What is known after some batches by the initial plan."""
        self.matcher.matches(self._workload.elements[:LEARNING])
        return self.matcher.model()

    def seconds(self, plans: Sequence[ElementPlan]) -> list[float]:
        """The seconds of plans on the whole stream: the best of some rounds, in which they take turns.

        A plan that is there twice is timed twice, so that the ratio of both tells how much is noise.
        """
        times: list[list[float]] = [[] for _ in plans]
        for turn in range(_ROUNDS):
            order = range(len(plans)) if turn % 2 else reversed(range(len(plans)))
            for place in order:
                times[place].append(self.time(plans[place]))
        return list(map(min, times))

    def time(self, plan: ElementPlan) -> float:
        """The seconds of one run of a plan; its answers are those of every other."""
        matcher = self._matcher()
        matcher.plan = plan
        seconds, found = timed(lambda elements: run(matcher, elements), self._workload.elements)
        self._found = self._found or found
        assert found == self._found, "every plan gives the same answers"
        return seconds

    def searches(self, names: tuple[Searching, ...]) -> dict[Searching, SearchRun]:
        """What some searches find."""
        model = self.learn()
        found = {name: timed(lambda name: search(name, model, self.initial.inside), name) for name in names}
        plans = [each.best.plan for _, each in found.values()]
        initial, *running = self.seconds([self.initial, *plans])
        return {
            name: SearchRun(each.explored, taken, each.best.plan, seconds, initial)
            for (name, (taken, each)), seconds in zip(found.items(), running, strict=True)
        }

    def settled(self) -> ElementPlan:
        """What greedy searches come to, one after the other, as they do while a plan runs."""
        model, plan = self.learn(), self.initial
        while (found := search("greedy", model, plan.inside).best.plan) != plan:
            self.matcher.plan = plan = found
            model = self.learn()
        return plan


def run(matcher: ElementMatcher, elements: list[Document]) -> list[str]:
    """The elements that match, as they come in batches."""
    return matcher.matches(elements)
