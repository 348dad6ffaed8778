"""Parts, costs and frequencies in, the problem of choosing among them out: transformed as in the paper, or not."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from weft.errors import ConfigurationError
from weft.views.selection.costs import Explained, SourceCosts
from weft.views.selection.marks import are_apart
from weft.views.selection.minimal import Parts
from weft.views.selection.problem import QueryLoad, Request, SpaceProblem, Storable
from weft.views.workload import Workload


@dataclass(frozen=True, slots=True)
class Estimates:
    """What is known of costs: of each source, of what is read here, and what sources say of queries (by name, source).

    With `risk` what a source takes counts less by so many standard deviations, so that views of sources whose rates
    are known well come first.
    """

    sources: Mapping[str, SourceCosts]
    local_byte_seconds: float = 0.0
    explained: Mapping[tuple[str, str], Explained] = field(default_factory=dict)
    risk: float = 0.0

    def of(self, source: str) -> SourceCosts:
        """The costs of a source."""
        if source not in self.sources:
            raise ConfigurationError(f"expected the costs of the source {source}, found none")
        return self.sources[source]

    def request(self, query: str, source: str, pieces: tuple[int, ...], size: int) -> Request:
        """What a query asks of a source that answers it with so many bytes."""
        costs, explained = self.of(source), self.explained.get((query, source))
        if explained is not None:
            costs = SourceCosts(costs.latency, explained.processing(size), costs.transmission)
        return Request(source, costs.latency.cautious(self.risk), costs.byte_seconds.cautious(self.risk), pieces)

    def maintenance(self, source: str, size: int) -> float:
        """What it takes to keep so many bytes of a source up to date; caution does not make it cheaper.

        The contact is left out: it is one for all that is stored of a source.
        """
        costs = self.of(source)
        return costs.changes * costs.changed_share * size * costs.byte_seconds.mean

    def building(self, source: str, size: int) -> float:
        """What it takes to fetch so many bytes from a source once."""
        costs = self.of(source)
        return costs.latency.mean + size * costs.byte_seconds.mean


def problem_of_parts(parts: Parts, workload: Workload, estimates: Estimates, has_rests: bool = True) -> SpaceProblem:
    """The choice among the parts of the minimal view set; without rests, a query is asked for as a whole or not."""
    pieces_of: dict[str, list[int]] = defaultdict(list)
    for number, piece in enumerate(parts.pieces):
        pieces_of[piece.part].append(number)
    sources = {piece.part: piece.source for piece in parts.pieces}
    candidates = [
        _storable(part, parts.sizes[part], tuple(numbers), sources[part], estimates)
        for part, numbers in pieces_of.items()
    ]
    sizes = tuple(piece.bytes for piece in parts.pieces)
    loads = _loads(parts, workload, estimates, has_rests)
    return SpaceProblem(sizes, tuple(candidates), loads, estimates.local_byte_seconds)


def _storable(key: str, size: int, pieces: tuple[int, ...], source: str, estimates: Estimates) -> Storable:
    maintenance, building = estimates.maintenance(source, size), estimates.building(source, size)
    return Storable(key, max(size, 1), pieces, maintenance, building, source)


def _loads(parts: Parts, workload: Workload, estimates: Estimates, has_rests: bool) -> tuple[QueryLoad, ...]:
    asked: dict[str, dict[str, list[int]]] = {query.name: {} for query in workload.queries}
    for number, piece in enumerate(parts.pieces):
        for name in piece.signature:
            asked[name].setdefault(piece.source, []).append(number)
    homes = parts.homes()
    selections = {query.name: query.selection for query in workload.queries}
    loads = []
    for query in workload.queries:
        requests = []
        for source, numbers in asked[query.name].items():
            pieces = [parts.pieces[at] for at in numbers]
            size = sum(piece.bytes for piece in pieces)
            request = estimates.request(query.name, source, tuple(numbers), size)
            is_apart = has_rests and are_apart(query.name, pieces, selections, homes[source])
            requests.append(request if is_apart else as_a_whole(request, size))
        loads.append(QueryLoad(query.name, query.frequency, tuple(requests)))
    return tuple(loads)


def as_a_whole(request: Request, size: int) -> Request:
    """The same where a source cannot be asked for what is missing apart: all is held, or all is asked for.

    Nodes that lie in others are no part of their own, so that not every query has just those that lie in some part.
    """
    return replace(request, latency=request.latency + size * request.byte_seconds, byte_seconds=0.0)


def problem_of_views(
    parts: Parts, workload: Workload, estimates: Estimates, matches: Mapping[str, frozenset[str]] | None = None
) -> SpaceProblem:
    """The choice among the workload's queries as they are: what several of them have in common is stored several times.

    `matches` tells which queries each of them answers besides itself; without it those whose nodes today all are in its
    answer, or in parts of it. A query is answered by one view that matches it, or by the sources.
    """
    matches = matches_of(parts, workload) if matches is None else matches
    sizes: list[int] = []
    loads: list[QueryLoad] = []
    numbers: dict[str, list[int]] = {}
    answers: dict[str, dict[str, int]] = {query.name: {} for query in workload.queries}
    for piece in parts.pieces:
        for name in piece.signature:
            answers[name][piece.source] = answers[name].get(piece.source, 0) + piece.bytes
    for query in workload.queries:
        requests = []
        for source, size in answers[query.name].items():
            requests.append(estimates.request(query.name, source, (len(sizes),), size))
            numbers.setdefault(query.name, []).append(len(sizes))
            sizes.append(size)
        loads.append(QueryLoad(query.name, query.frequency, tuple(requests)))
    candidates = (
        Storable(
            query.name,
            max(sum(answers[query.name].values()), 1),
            tuple(sorted({at for name in {query.name, *matches.get(query.name, ())} for at in numbers.get(name, ())})),
            sum(estimates.maintenance(source, size) for source, size in answers[query.name].items()),
            max((estimates.building(source, size) for source, size in answers[query.name].items()), default=0.0),
        )
        for query in workload.queries
        if answers[query.name]
    )
    return SpaceProblem(tuple(sizes), tuple(candidates), tuple(loads), estimates.local_byte_seconds)


def matches_of(parts: Parts, workload: Workload) -> dict[str, frozenset[str]]:
    """For each query those whose nodes today all are among its own, or lie in parts that are."""
    names = frozenset(query.name for query in workload.queries)
    around: dict[str, frozenset[str]] = {}
    for piece in parts.pieces:
        for name in piece.signature:
            around[name] = around.get(name, names) & (piece.signature | piece.home)
    return {view: frozenset(name for name, views in around.items() if view in views) for view in names}
