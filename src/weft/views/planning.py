"""A workload and sources in, what to store of their answers out: parts, a problem of choosing, a choice among them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from random import Random

import pyarrow as pa

from weft.errors import ConfigurationError
from weft.views.answerer import question_of
from weft.views.asides import plan, plan_with_asides
from weft.views.selection.candidates import Estimates, problem_of_parts
from weft.views.selection.costs import LOCAL_BYTE_SECONDS, Explained, Seconds, costs_of
from weft.views.selection.greedy import choose_greedy, choose_random
from weft.views.selection.minimal import Parts, definition_text
from weft.views.selection.optimum import choose_optimum
from weft.views.selection.ours import choose
from weft.views.selection.problem import SpaceChoice, SpaceProblem
from weft.views.sizes import on_disk
from weft.views.sources.asking import ask, ask_to_explain
from weft.views.sources.registry import SourceEntry
from weft.views.sources.source import Answer, Question, Source, SourceError
from weft.views.workload import Workload

Explanations = Mapping[tuple[str, str], Explained]  # by the names of query and source


class SelectionMethod(StrEnum):
    """How parts are chosen."""

    OURS = "ours"
    GREEDY = "greedy"
    OPTIMUM = "optimum"
    RANDOM = "random"


@dataclass(frozen=True, slots=True)
class Recommendation:
    """The parts that are worth storing for a workload within a budget, and what that saves, in seconds."""

    workload: Workload
    parts: Parts
    problem: SpaceProblem
    choice: SpaceChoice
    budget: float
    method: SelectionMethod = SelectionMethod.OURS
    missing: tuple[SourceError, ...] = ()  # sources that did not answer: what is stored of them is not weighed

    def within(self, budget: float) -> Recommendation:
        """The same for another budget."""
        return replace(self, choice=_choose(self.problem, budget, self.method), budget=budget)

    def keeping(self, parts: Collection[str]) -> Recommendation:
        """The same with these of the parts only."""
        numbers = (at for at in self.choice.numbers if self.problem.candidates[at].key in parts)
        return replace(self, choice=self.problem.chosen(numbers))

    def among(self, sizes: Mapping[str, int]) -> Recommendation:
        """The best of these parts, whose sizes on disk are known, for the same budget."""
        known = tuple(each for each in self.problem.candidates if each.key in sizes)
        candidates = tuple(replace(each, size=max(sizes[each.key], 1)) for each in known)
        problem = replace(self.problem, candidates=candidates)
        return replace(self, problem=problem, choice=_choose(problem, self.budget, self.method))

    @property
    def time_before(self) -> float:
        """The estimated time of the workload without views."""
        return self.problem.time(())

    def definitions(self) -> dict[str, str]:
        """What each chosen part is, for people, by its id."""
        homes = {piece.part: piece.home for piece in self.parts.pieces}
        return {key: definition_text(homes[key], self.workload, self.parts) for key in self.choice.keys}

    def answered(self) -> dict[str, float]:
        """By query the share of the parts that it needs which are chosen; all or none for one that is left aside."""
        chosen = frozenset(self.choice.keys)
        found = {}
        for query in self.workload.queries:
            required = self.parts.required(query.name)
            found[query.name] = len(required & chosen) / len(required) if required else 1.0
        held = {piece for at in self.choice.numbers for piece in self.problem.candidates[at].pieces}
        for load in self.problem.queries:
            asked = (piece for request in load.requests for piece in request.pieces)
            found.setdefault(load.name, float(held.issuperset(asked)))
        return found


def ask_workload(workload: Workload, sources: Mapping[str, Source], timeout: float) -> dict[str, Answer | SourceError]:
    """The answers of sources to all queries of a workload; one that a query is not for gives it no nodes."""
    return ask(sources, dict.fromkeys(sources, _questions(workload)), timeout)


def explain_workload(workload: Workload, sources: Mapping[str, Source], timeout: float) -> Explanations:
    """What sources that explain themselves expect to take for the queries of a workload, by query and source."""
    told = ask_to_explain(sources, _questions(workload), timeout)
    return {
        (query.name, source): Explained(Seconds(seconds))
        for source, each in told.items()
        for query, seconds in zip(workload.queries, each, strict=True)
        if seconds is not None
    }


def _questions(workload: Workload) -> list[Question]:
    return [question_of(query.selection) for query in workload.queries]


def estimates_of(
    entries: Sequence[SourceEntry],
    risk: float = 0.0,
    unit: float = 0.0,
    memory: float = 0.0,
    explained: Explanations | None = None,
) -> Estimates:
    """The costs of sources by their rates, by what they expect themselves, and by how often they were seen to change.

    `unit` is the seconds in which queries are asked as often as their frequencies say; with 0, which is unknown, it
    costs nothing to keep views up to date. `memory` is the seconds over which these queries are counted: changes are
    too, however short a source was watched. A processing rate that was given counts before what a source expects.
    """
    costs = {}
    for entry in entries:
        rates, changes = entry.rates(), entry.changes
        often, share = unit * changes.rate_over(memory), 1.0 if changes.share is None else changes.share
        costs[entry.name] = costs_of(rates.processing, rates.transmission, rates.latency, often, share)
    own = {entry.name for entry in entries if entry.given.processing is None}
    believed = {key: each for key, each in (explained or {}).items() if key[1] in own}
    return Estimates(costs, LOCAL_BYTE_SECONDS, believed, risk)


def recommend(
    workload: Workload,
    answers: Mapping[str, Sequence[pa.Table]],
    estimates: Estimates,
    budget: float,
    method: SelectionMethod,
    is_whole: bool = False,
) -> Recommendation:
    """What to store for a workload, given the rows that sources answer to its queries.

    Our own method may leave queries to the sources (see weft.views.asides), unless all are to be known to the store.
    """
    if method is SelectionMethod.OURS and not is_whole:
        planned, choice = plan_with_asides(workload, answers, estimates, lambda problem: choose(problem, budget))
    else:
        planned = plan(workload, answers, estimates)
        choice = _choose(planned.problem, budget, method)
    return Recommendation(planned.workload, planned.parts, planned.problem, choice, budget, method)


def recommend_parts(
    workload: Workload,
    parts: Parts,
    sizes: Mapping[str, int],
    estimates: Estimates,
    budget: float,
    method: SelectionMethod,
) -> Recommendation:
    """What to store of parts, given the size of each on disk, where nobody is asked for the rest of a query."""
    problem = on_disk(problem_of_parts(parts, workload, estimates, has_rests=False), sizes)
    return Recommendation(workload, parts, problem, _choose(problem, budget, method), budget, method)


def _choose(problem: SpaceProblem, budget: float, method: SelectionMethod) -> SpaceChoice:
    match method:
        case SelectionMethod.OURS:
            return choose(problem, budget)
        case SelectionMethod.GREEDY:
            return choose_greedy(problem, budget)
        case SelectionMethod.OPTIMUM:
            return choose_optimum(problem, budget).choice
        case SelectionMethod.RANDOM:
            return choose_random(problem, budget, Random(1), draws=1).choices[0]
    raise ConfigurationError(f"expected a method, found {method}")
