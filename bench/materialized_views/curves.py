"""A setting and the characteristics of its sources in; out how long the workload takes, by the space that views have.

A time is *run* if all queries were asked over HTTP with the choice stored; *replayed* if it is put together of times
that were measured so, where each answer is held as a whole or not at all; or *modelled*.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random

from bench.materialized_views.arena import CHARACTERISTICS, Arena, serving_setting
from bench.materialized_views.cache import replay_lru
from bench.materialized_views.model import Choices, Weighed, choose_all, weigh
from bench.materialized_views.workload import Overlap, Setting, make_setting
from weft.views.planning import Recommendation
from weft.views.selection.greedy import choose_greedy, choose_random
from weft.views.selection.ours import choose
from weft.views.selection.problem import SpaceChoice
from weft.views.workload import Workload

_DRAWS = 50


@dataclass(frozen=True, slots=True)
class Times:
    """Mean seconds of a query for one space limit: run, replayed and modelled."""

    share: float  # of what all parts take
    limit: float
    stored: int | None  # bytes on disk with what is kept to refresh; None if nothing was stored
    ours: float
    greedy: float
    optimum: float
    random: float  # of a few draws, the average
    random_minimum: float
    whole_ours: float  # replayed: whole answers, without transformations
    whole_greedy: float
    whole_random: float
    whole_random_minimum: float
    lru: float  # replayed: on disk, as views are
    lru_plain: float  # the same in memory, with answers as plain text, which take no time
    ours_model: float
    model: Choices
    model_without: float  # by the paper's greedy choice


@dataclass(frozen=True, slots=True)
class Curves:
    """One setting: its name, and the times for each space limit, none first and all last."""

    overlap: Overlap
    kind: str
    queries: int
    full: int
    points: tuple[Times, ...]
    cold: float  # mean seconds of a query with everything stored, at a server that was just opened

    def at(self, share: float) -> Times:
        """The times for a share of the full space."""
        return next(point for point in self.points if point.share == share)


def draw_curves(
    seed: int, overlap: Overlap, kind: str, size: int, queries: int, shares: tuple[float, ...], rounds: int, drawn: int
) -> Curves:
    """Run one setting; of the random choices as many as are `drawn`."""
    setting = make_setting(seed, overlap, (size,) * 5, queries)
    rates = CHARACTERISTICS[kind]
    with serving_setting(setting, rates) as arena:
        workload = arena.found.workload  # with the names under which the server stores
        weighed = weigh(Setting(setting.documents, workload), rates)
        runs = _Runs(arena, weighed, rounds, seed, drawn)
        points = tuple(runs.point(share) for share in shares)
    return Curves(overlap, kind, len(workload.queries), weighed.full, points, runs.cold)


class _Runs:
    """The points of a setting, one after the other; a choice that was run before is not run again."""

    def __init__(self, arena: Arena, weighed: Weighed, rounds: int, seed: int, drawn: int) -> None:
        self._arena, self._weighed, self._rounds, self._seed, self._drawn = arena, weighed, rounds, seed, drawn
        self._known: dict[tuple[str, ...], tuple[int | None, float]] = {}
        everything = weighed.transformed.chosen(range(len(weighed.transformed.candidates)))
        at_sources = arena.times(rounds)
        self._at_sources = at_sources
        self._known[()] = None, _mean(weighed.workload, at_sources)
        stored = arena.store(weighed.fixed(everything, weighed.full))
        self.cold = _mean(weighed.workload, arena.cold_times(rounds))
        self._from_views = arena.times(rounds)
        self._known[everything.keys] = stored, _mean(weighed.workload, self._from_views)

    def point(self, share: float) -> Times:
        """All times for a share of the full space."""
        weighed, limit = self._weighed, share * self._weighed.full
        model = choose_all(weighed.transformed, limit, self._seed)
        found = weighed.recommend(limit)
        (stored, ours), (_, greedy) = self._run(found), self._run(weighed.fixed(model.greedy, limit))
        _, optimum = self._run(weighed.fixed(model.optimum, limit))
        random = [self._run(weighed.fixed(each, limit), 1)[1] for each in model.random[: self._drawn]]
        without = choose_greedy(weighed.whole, limit)
        draws = choose_random(weighed.whole, limit, Random(self._seed), _DRAWS)
        whole_random = list(map(self._replayed, draws.choices))
        return Times(
            share,
            limit,
            stored,
            ours,
            greedy,
            optimum,
            sum(random) / len(random),
            min(random),
            self._replayed(choose(weighed.whole, limit)),
            self._replayed(without),
            sum(whole_random) / _DRAWS,
            min(whole_random),
            self._cached(self._from_views, weighed.answer_bytes, limit),
            self._cached(dict.fromkeys(self._from_views, 0.0), weighed.plain_bytes, limit),
            found.choice.time,
            model,
            without.time,
        )

    def _cached(self, hit: Mapping[str, float], sizes: Mapping[str, int], limit: float) -> float:
        return replay_lru(self._weighed.workload, self._at_sources, hit, sizes, limit, Random(self._seed))

    def _run(self, found: Recommendation, rounds: int | None = None) -> tuple[int | None, float]:
        """Store a choice and ask all queries; how much is stored, and their mean time."""
        keys = found.choice.keys
        if keys not in self._known:
            stored = self._arena.store(found)
            self._known[keys] = stored, _mean(self._weighed.workload, self._arena.times(rounds or self._rounds))
        return self._known[keys]

    def _replayed(self, choice: SpaceChoice) -> float:
        """A query whose answer a stored one has takes what it took from views, any other what it took at sources."""
        answered = {name for view in choice.keys for name in {view, *self._weighed.matches[view]}}
        times = self._at_sources | {name: self._from_views[name] for name in answered}
        return _mean(self._weighed.workload, times)


def _mean(workload: Workload, times: Mapping[str, float]) -> float:
    total = sum(query.frequency for query in workload.queries)
    return sum(query.frequency * times[query.name] for query in workload.queries) / total
