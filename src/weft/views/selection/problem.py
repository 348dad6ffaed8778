"""What views are chosen for: queries made of pieces, candidates that would hold these, and what all of it costs.

A *piece* is what queries have in common: bytes of an answer that candidates hold as a whole or not at all. A query asks
its sources in parallel for the pieces that are not held, each source once; what is held is read here.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import isfinite

from weft.errors import ConfigurationError


@dataclass(frozen=True, slots=True)
class Storable:
    """What may be stored: a part, or a whole view; and the pieces that it holds.

    `size` is the bytes that it takes; `maintenance` the seconds that it costs in the unit in which queries are
    counted; `building` the seconds to fetch it once.
    """

    key: str
    size: int
    pieces: tuple[int, ...]
    maintenance: float = 0.0
    building: float = 0.0
    source: str = ""  # none where it is made from several


@dataclass(frozen=True, slots=True)
class Request:
    """What a query asks of a source: a contact takes the latency, and each byte that is not held its time."""

    source: str
    latency: float
    byte_seconds: float
    pieces: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class QueryLoad:
    """A query, how often it is asked, and what it asks of its sources."""

    name: str
    frequency: float
    requests: tuple[Request, ...]


@dataclass(frozen=True, slots=True)
class SpaceProblem:
    """Which candidates to store within some space, so that the workload takes the least time.

    `pieces` are sizes in bytes; `local_byte_seconds` is what a byte takes that is held here.
    """

    pieces: tuple[int, ...]
    candidates: tuple[Storable, ...]
    queries: tuple[QueryLoad, ...]
    local_byte_seconds: float = 0.0

    def __post_init__(self) -> None:
        lists = [each.pieces for each in self.candidates]
        lists += [request.pieces for query in self.queries for request in query.requests]
        if any(not 0 <= piece < len(self.pieces) for pieces in lists for piece in pieces):
            raise ConfigurationError(f"expected pieces from 0 to {len(self.pieces) - 1}, found others")
        if min(self.pieces, default=0) < 0 or min((each.size for each in self.candidates), default=1) < 1:
            raise ConfigurationError("expected pieces from 0 bytes on and candidates from 1 byte on, found others")

    def holders(self) -> list[list[int]]:
        """By piece the candidates that hold it."""
        found: list[list[int]] = [[] for _ in self.pieces]
        for number, candidate in enumerate(self.candidates):
            for piece in candidate.pieces:
                found[piece].append(number)
        return found

    def time(self, chosen: Iterable[int]) -> float:
        """The seconds that the workload takes with these candidates stored: of each query as often as it is asked."""
        held = {piece for number in chosen for piece in self.candidates[number].pieces}
        return sum(query.frequency * self._elapsed(query, held) for query in self.queries)

    def _elapsed(self, query: QueryLoad, held: set[int]) -> float:
        local, slowest = 0, 0.0
        for request in query.requests:
            missing = [self.pieces[piece] for piece in request.pieces if piece not in held]
            local += sum(self.pieces[piece] for piece in request.pieces) - sum(missing)
            if missing:
                slowest = max(slowest, request.latency + sum(missing) * request.byte_seconds)
        return slowest + local * self.local_byte_seconds

    def cost(self, chosen: Iterable[int]) -> float:
        """The time of the workload with the maintenance of what is stored for it: what a choice keeps low."""
        chosen = tuple(chosen)
        return self.time(chosen) + sum(self.candidates[number].maintenance for number in chosen)

    def size(self, chosen: Iterable[int]) -> int:
        """The bytes that candidates take."""
        return sum(self.candidates[number].size for number in chosen)

    def chosen(self, numbers: Iterable[int]) -> SpaceChoice:
        """A choice of candidates, with what it comes to."""
        ordered = tuple(sorted(numbers))
        keys = tuple(self.candidates[number].key for number in ordered)
        cost = self.cost(ordered)
        return SpaceChoice(ordered, keys, self.size(ordered), self.time(ordered), self.cost(()) - cost)


@dataclass(frozen=True, slots=True)
class SpaceChoice:
    """Candidates by their numbers and keys, their bytes, and the estimated time of the workload with them.

    The benefit is the time that is saved, less the maintenance.
    """

    numbers: tuple[int, ...]
    keys: tuple[str, ...]
    size: int
    time: float
    benefit: float


def check_budget(budget: float) -> None:
    """Refuse a budget that is none."""
    if not (budget >= 0 and (isfinite(budget) or budget > 0)):
        raise ConfigurationError(f"expected a budget from 0 bytes on, found {budget}")
