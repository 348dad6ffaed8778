"""Our own selection of views: greedy from both ends, then local search, by what the views are expected to save.

The result is a local optimum, and never worse than what Algorithm 1 chooses of the exact views within the same budget.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from weft.errors import ConfigurationError
from weft.headers.selection.greedy import discard_order
from weft.headers.selection.instance import Instance
from weft.headers.selection.objective import Objective
from weft.headers.selection.problem import Problem

ViewSet = frozenset[int]
_MOST_BUNDLES = 100  # sets of views that are tried as one
_LARGEST_BUNDLE = 4
_MOST_SWAPS = 2_000  # pairs, beyond which only the most promising are tried
_PROMISING_DROPS, _PROMISING_ADDS = 20, 40
_STARTS = 3  # that are improved, the best ones
_LESS = 1e-9  # of a cost: what counts as an improvement


@dataclass(frozen=True, slots=True)
class Choice:
    """ViewSet, by their numbers in the problem, with the expected cost of all and the expected weight of hits."""

    views: tuple[int, ...]
    cost: float
    hits: float
    bytes: float


def select_views(
    problem: Problem, size: int | None = None, max_bytes: float | None = None, evaluations: int = 20_000
) -> Choice:
    """The views that cost least in all, at most so many or so many bytes; without either as many as pay.

    `evaluations` bounds the work: so many choices are reckoned, then the best one so far is taken.
    """
    if (size is not None and size < 0) or (max_bytes is not None and max_bytes < 0):
        raise ConfigurationError(f"expected a budget from 0 on, found size {size}, bytes {max_bytes}")
    return _ViewSearch(Objective(problem), size, max_bytes, evaluations).result()


class _ViewSearch:
    """A search within a budget; costs that were reckoned are kept."""

    def __init__(self, objective: Objective, size: int | None, max_bytes: float | None, evaluations: int) -> None:
        self._objective, self._problem = objective, objective.problem
        self._size, self._max_bytes, self._most = size, max_bytes, evaluations
        self._all = frozenset(range(len(self._problem.views)))
        self._costs: dict[bytes, float] = {}
        self._until: float = evaluations
        self._bundles = self._find_bundles()

    def result(self) -> Choice:
        starts = self._algorithm_1()
        for share, begin in ((1 / 4, self._growing), (1 / 2, self._shrinking)):
            self._until = self._most * share
            starts.append(begin())
        self._until = self._most
        best = min(starts, key=self._cost)
        for start in sorted(dict.fromkeys(starts), key=self._cost)[:_STARTS]:
            best = min(best, self._pruned(self._improved(start)), key=self._cost)
        objective, views = self._objective, tuple(sorted(best))
        return Choice(views, objective.cost(views), objective.hits(views), float(objective.bytes[list(views)].sum()))

    # -- what is asked of a choice

    def _cost(self, views: ViewSet) -> float:
        key = self._objective.key(views)
        if key not in self._costs:
            self._costs[key] = self._objective.cost(views)
        return self._costs[key]

    def _bytes(self, views: Iterable[int]) -> float:
        return float(sum(self._problem.views[view].bytes for view in views))

    def _fits(self, views: ViewSet) -> bool:
        is_small = self._size is None or len(views) <= self._size
        return is_small and (self._max_bytes is None or self._bytes(views) <= self._max_bytes)

    def _is_better(self, views: ViewSet, than: ViewSet) -> bool:
        cost, other = self._cost(views), self._cost(than)
        return cost < other - _LESS * abs(other)

    @property
    def _is_over(self) -> bool:
        return len(self._costs) >= self._until

    # -- where the search starts

    def _algorithm_1(self) -> list[ViewSet]:
        """What Algorithm 1 leaves of the exact views at every size that fits; the best of them."""
        exact = self._problem.exact_views()
        order = sorted(exact)
        number = {expression: at for at, expression in enumerate(order)}
        servers = tuple(
            frozenset(number[part.expression] for query in server.queries for part in query)
            for server in self._problem.servers
            if all(part.expression in exact for query in server.queries for part in query)
        )
        left = {exact[expression] for expression in order}
        found = [frozenset(left)]
        for at in discard_order(Instance(tuple(map(str, order)), servers)):
            left.discard(exact[order[at]])
            found.append(frozenset(left))
        fitting = [views for views in found if self._fits(views)]
        return [*fitting[:1], min(fitting, key=self._cost)]

    def _growing(self) -> ViewSet:
        """Add what saves most for a byte, one view or several that serve only together, until nothing saves more."""
        views: ViewSet = frozenset()
        while not self._is_over:
            steps = [grown for grown in self._grown(views) if self._is_better(grown, views)]
            if not steps:
                break
            views = max(steps, key=lambda grown: self._saved(views, grown))
        return views

    def _saved(self, views: ViewSet, grown: ViewSet) -> float:
        return (self._cost(views) - self._cost(grown)) / max(self._bytes(grown - views), _LESS)

    def _grown(self, views: ViewSet) -> Iterator[ViewSet]:
        for view in sorted(self._all - views):
            if self._fits(views | {view}):
                yield views | {view}
        for bundle in self._bundles:
            if not bundle <= views and self._fits(views | bundle):
                yield views | bundle

    def _shrinking(self) -> ViewSet:
        """Discard what is missed least, as Algorithm 1 does but by cost, down to the budget and as long as it pays."""
        return self._shrunk(self._all)

    def _shrunk(self, views: ViewSet) -> ViewSet:
        while views and not self._is_over:
            best = min((views - {view} for view in sorted(views)), key=self._cost)
            if self._fits(views) and not self._is_better(best, views):
                break
            views = best
        while not self._fits(views):  # no time to look at each
            views -= {max(views)}
        return views

    def _pruned(self, views: ViewSet) -> ViewSet:
        """Without the views that do not pay for their bytes, looked at in turn; even where there is no time left."""
        for view in sorted(views, key=lambda view: -self._problem.views[view].bytes):
            if self._is_better(views - {view}, views):
                views -= {view}
        return views

    def _find_bundles(self) -> list[ViewSet]:
        """The views of services of several views, and the exact ones that a server needs all of: the heaviest first."""
        exact = self._problem.exact_views()
        found: dict[ViewSet, float] = {}
        for service in self._problem.services:
            if len(service.views) > 1:
                found[frozenset(service.views)] = self._objective.total
        for needs, weight in zip(self._objective.needs, self._objective.weights.tolist(), strict=True):
            if 1 < len(needs) <= _LARGEST_BUNDLE and needs <= exact.keys():
                bundle = frozenset(exact[expression] for expression in needs)
                found[bundle] = found.get(bundle, 0.0) + weight
        heaviest = sorted(found, key=lambda bundle: (-found[bundle], sorted(bundle)))
        return heaviest[:_MOST_BUNDLES]

    # -- local search

    def _improved(self, views: ViewSet) -> ViewSet:
        moves: tuple[Callable[[ViewSet], Iterator[ViewSet]], ...] = (
            self._dropped,
            self._grown,
            self._swapped,
            self._pushed,
        )
        while not self._is_over:
            better = next((best for move in moves if (best := self._best(move(views), views)) != views), views)
            if better == views:
                break
            views = better
        return views

    def _best(self, tries: Iterator[ViewSet], views: ViewSet) -> ViewSet:
        best = views
        for each in tries:
            if self._is_better(each, best):
                best = each
            if self._is_over:
                break
        return best

    def _dropped(self, views: ViewSet) -> Iterator[ViewSet]:
        return (views - {view} for view in sorted(views))

    def _swapped(self, views: ViewSet) -> Iterator[ViewSet]:
        """One view for another; where there are very many pairs, those of which each half does well."""
        drops, adds = sorted(views), sorted(self._all - views)
        if len(drops) * len(adds) > _MOST_SWAPS:
            drops = sorted(drops, key=lambda view: self._cost(views - {view}))[:_PROMISING_DROPS]
            adds = sorted(adds, key=lambda view: self._cost(views | {view}))[:_PROMISING_ADDS]
        return (changed for drop in drops for add in adds if self._fits(changed := (views - {drop}) | {add}))

    def _pushed(self, views: ViewSet) -> Iterator[ViewSet]:
        """A bundle in, and out what is missed least, until it fits again."""
        for bundle in self._bundles:
            if not bundle <= views:
                yield self._shrunk(views | bundle)
