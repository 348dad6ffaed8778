"""Selection while documents flow, which the paper leaves open: feedback in, the next version of a selection out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from weft.headers.selection.feedback import Feedback
from weft.headers.selection.objective import Objective
from weft.headers.selection.ours import select_views
from weft.headers.selection.problem import Conjunct, Problem, ServerLoad, Service


@dataclass(frozen=True, slots=True)
class SelectedViews:
    """The views of one version of a configuration, by their numbers in the problem."""

    version: int
    views: tuple[int, ...]


def choose_again(
    current: SelectedViews,
    problem: Problem,
    expressions: Sequence[str],
    feedback: Feedback,
    now: float,
    *,
    size: int | None = None,
    max_bytes: float | None = None,
    margin: float = 0.1,
    least_documents: float = 100.0,
) -> SelectedViews | None:
    """The next selection, if by what was reported it costs less than the present one by a margin; otherwise none.

    The margin keeps two selections that are about as good from taking turns. With few documents nothing is changed.
    """
    learned = learn(problem, expressions, feedback, now, current.views)
    if sum(server.weight for server in learned.servers) < least_documents:
        return None
    choice = select_views(learned, size, max_bytes)
    if choice.views == current.views or choice.cost >= (1 - margin) * Objective(learned).cost(current.views):
        return None
    return SelectedViews(current.version + 1, choice.views)


def learn(
    problem: Problem, expressions: Sequence[str], feedback: Feedback, now: float, views: Sequence[int] = ()
) -> Problem:
    """The problem as reports show it: weights, selectivities, and hit rates of the services by these views.

    A server of which nothing was heard has no weight. Other shares that are not known stay as they were.
    """

    def conjunct(part: Conjunct) -> Conjunct:
        share = feedback.selectivity(expressions[part.expression], part.test, now)
        return part if share is None else replace(part, selectivity=share)

    def load(server: ServerLoad) -> ServerLoad:
        queries = tuple(tuple(map(conjunct, query)) for query in server.queries)
        return replace(server, queries=queries, weight=feedback.documents(server.name, now) or 0.0)

    servers = tuple(map(load, problem.servers))
    used = _used_services(problem, frozenset(views))
    services = tuple(
        _observed(service, feedback.hit_rate(expressions[service.expression], now)) if service in used else service
        for service in problem.services
    )
    documents = max((server.weight for server in servers), default=0.0)
    return replace(problem, servers=servers, services=services, documents=documents)


def _used_services(problem: Problem, views: frozenset[int]) -> set[Service]:
    """The services that answer expressions under these views: what was observed is theirs alone."""
    best: dict[int, Service] = {}
    for service in problem.services:
        known = best.get(service.expression)
        if views.issuperset(service.views) and (known is None or _worth(problem, service) < _worth(problem, known)):
            best[service.expression] = service
    return set(best.values())


def _worth(problem: Problem, service: Service) -> float:
    return service.cost + (1 - service.hit) * problem.parse_cost


def _observed(service: Service, hit_rate: float | None) -> Service:
    return service if hit_rate is None else replace(service, hit=hit_rate)
