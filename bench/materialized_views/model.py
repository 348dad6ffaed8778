"""A setting and rates in; out by the cost model how long its workload takes, whatever is stored and how it was chosen.

With transformations candidates are the parts of the minimal view set, without them whole answers. Sizes are those on
disk, as the store would write them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from random import Random

import pyarrow as pa

from bench.materialized_views.workload import Setting
from weft.views.asides import plan_with_asides
from weft.views.nodes import select
from weft.views.planning import Recommendation
from weft.views.selection.candidates import Estimates, problem_of_parts
from weft.views.selection.costs import costs_of
from weft.views.selection.greedy import choose_greedy, choose_random
from weft.views.selection.minimal import Parts, find_parts
from weft.views.selection.optimum import choose_optimum
from weft.views.selection.ours import choose
from weft.views.selection.problem import SpaceChoice, SpaceProblem
from weft.views.sizes import on_disk, part_sizes
from weft.views.sources.rates import Rates
from weft.views.sources.source import size_of
from weft.views.store.files import encoded
from weft.views.whole_answers import contained_queries, problem_of_answers
from weft.views.workload import Workload

_LOCAL_BYTE_SECONDS = 5e-9
_DRAWS = 50


@dataclass(frozen=True)
class Weighed:
    """The two problems of a setting, and what each whole answer takes in a cache: on disk, and as plain text."""

    workload: Workload
    parts: Parts
    transformed: SpaceProblem
    whole: SpaceProblem
    answer_bytes: Mapping[str, int]
    plain_bytes: Mapping[str, int]
    rows: Mapping[str, Sequence[pa.Table]]
    estimates: Estimates

    @property
    def full(self) -> int:
        """The bytes that all parts take."""
        return self.transformed.size(range(len(self.transformed.candidates)))

    def recommend(self, limit: float) -> Recommendation:
        """What Weft stores for a space limit: with queries left to the sources where that makes room for others."""
        planned, choice = plan_with_asides(
            self.workload, self.rows, self.estimates, lambda problem: choose(problem, limit)
        )
        return Recommendation(planned.workload, planned.parts, planned.problem, choice, limit)

    def fixed(self, choice: SpaceChoice, limit: float) -> Recommendation:
        """A choice among all parts."""
        return Recommendation(self.workload, self.parts, self.transformed, choice, limit)

    @cached_property
    def matches(self) -> Mapping[str, frozenset[str]]:
        """By query those that its whole answer contains for certain."""
        return contained_queries(self.workload, self.rows)


def weigh(setting: Setting, rates: Mapping[str, Rates]) -> Weighed:
    """Evaluate the workload here, and make the problems of it."""
    selections = [query.selection for query in setting.workload.queries]
    rows = {name: select(name, [document], selections).rows for name, document in setting.documents.items()}
    costs = {name: costs_of(each.processing, each.transmission, each.latency) for name, each in rates.items()}
    estimates = Estimates(costs, _LOCAL_BYTE_SECONDS)
    parts = find_parts(setting.workload, rows)
    transformed = on_disk(problem_of_parts(parts, setting.workload, estimates), part_sizes(setting.workload, rows))
    written, plain = _answer_bytes(setting.workload, rows)
    whole = problem_of_answers(setting.workload, rows, parts, estimates)
    return Weighed(setting.workload, parts, transformed, whole, written, plain, rows, estimates)


def _answer_bytes(workload: Workload, rows: Mapping[str, Sequence[pa.Table]]) -> tuple[dict[str, int], dict[str, int]]:
    written, plain = {}, {}
    for at, query in enumerate(workload.queries):
        tables = [each[at] for each in rows.values() if each[at].num_rows]
        written[query.name] = sum(encoded(table).size for table in tables)
        plain[query.name] = sum(size_of(table) for table in tables)
    return written, plain


@dataclass(frozen=True, slots=True)
class Choices:
    """What each way of choosing stores for a space limit; of random ones the average and the least of the times."""

    ours: SpaceChoice
    greedy: SpaceChoice
    optimum: SpaceChoice
    random: tuple[SpaceChoice, ...]
    random_average: float
    random_minimum: float


def choose_all(problem: SpaceProblem, limit: float, seed: int) -> Choices:
    """Choose in all ways."""
    draws = choose_random(problem, limit, Random(seed), _DRAWS)
    optimum = choose_optimum(problem, limit, seconds=20.0).choice
    ours, greedy = choose(problem, limit), choose_greedy(problem, limit)
    return Choices(ours, greedy, optimum, draws.choices, draws.average, draws.minimum)


@dataclass(frozen=True, slots=True)
class Share:
    """What choices save for half of the space, as a share of what the optimum saves; of one instance."""

    ours: float
    greedy: float
    random: float
    transformed_greedy: float  # times as long without transformations, both by the paper's greedy choice
    transformed_ours: float  # the same by ours


def compare(weighed: Weighed, seed: int) -> Share:
    """The ways of choosing on one instance at half of the space."""
    problem, half = weighed.transformed, weighed.full / 2
    found, before = choose_all(problem, half, seed), problem.time(())
    most = before - found.optimum.time
    without = choose_greedy(weighed.whole, half).time
    return Share(
        (before - found.ours.time) / most,
        (before - found.greedy.time) / most,
        (before - found.random_average) / most,
        without / found.greedy.time,
        choose(weighed.whole, half).time / weighed.recommend(half).choice.time,
    )
