"""Queries and documents in, the times of all ways to join them out: from the same documents, with answers compared."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import median

from bench.contest import DisagreementError
from bench.joins.database import Database
from bench.joins.ways import Fast, Mode, Order, Sequential, Templates, Triple
from bench.joins.workload import Queries
from bench.measure import timed
from weft.documents import Document, read

#: What the time of the templates with views goes into (figures 14 and 15).
VIEWS = ("views R_vj", "views R_L", "views R_R", "views join")
#: Read XML, Weft's first stage and second stage, the paper's ways, and one query after the other.
WAYS = ("read", "witness", "fast", "none", "materialized", "cache", "sequential")
_STATE_BATCH = 1_000


@dataclass(frozen=True, slots=True)
class Terms:
    """What takes part besides Weft: which templates, how many queries one by one, and where their joins begin."""

    modes: tuple[Mode, ...] = ("cache", "materialized", "none")
    sampled: int = 20
    order: Order = "values"


@dataclass(frozen=True, slots=True)
class Round:
    """A batch: the seconds of each way (of the sampled queries scaled up to all), and the matches."""

    documents: int
    seconds: dict[str, float]
    matches: int


@dataclass(frozen=True, slots=True)
class Standing:
    """All rounds of a number of queries."""

    queries: int
    distinct: int
    templates: int
    sampled: int
    state: int  # documents that were there before
    add_seconds: float
    rounds: tuple[Round, ...]

    def us(self, way: str) -> float | None:
        """Microseconds a document, the median of the rounds; None if the way did not take part."""
        times = [1e6 * one.seconds[way] / one.documents for one in self.rounds if way in one.seconds]
        return median(times) if times else None

    def speedup(self, way: str) -> float | None:
        """How many times as fast as another way Weft's second stage is."""
        ours, theirs = self.us("fast"), self.us(way)
        return theirs / ours if ours and theirs else None

    @property
    def speedup_on_distinct(self) -> float | None:
        """How many times as fast it is as one after the other if equal queries are run once."""
        speedup = self.speedup("sequential")
        return None if speedup is None else speedup * self.distinct / self.queries

    @property
    def views_us(self) -> float | None:
        """The templates with views, whichever of the two kinds is quicker."""
        times = [us for us in (self.us("materialized"), self.us("cache")) if us is not None]
        return min(times, default=None)

    @property
    def documents_per_second(self) -> float | None:
        """Weft's own way from XML to matches."""
        stages = [self.us("read"), self.us("witness"), self.us("fast")]
        times = [us for us in stages if us is not None]
        return 1e6 / sum(times) if len(times) == len(stages) else None

    @property
    def matched(self) -> float:
        """Matches for each document, the mean."""
        return sum(one.matches for one in self.rounds) / sum(one.documents for one in self.rounds)


class Arena:
    """All ways with the same queries. Documents are given to all of them, each document once."""

    def __init__(self, queries: Queries, terms: Terms) -> None:
        self._queries = queries
        self.add_seconds, self._fast = timed(Fast, queries)
        self._database = Database(queries)
        self._templates = [Templates(self._database, mode, terms.order) for mode in sorted(terms.modes)]
        number = min(terms.sampled, len(queries))
        places = [queries.order[at * len(queries) // number] for at in range(number)]
        self._sequential = Sequential(self._database, places, terms.order)
        self._docids: dict[str, int] = {}
        self._is_settled = False

    def fill(self, documents: Sequence[Document]) -> None:
        """Documents for the state; nothing is timed."""
        for start in range(0, len(documents), _STATE_BATCH):
            table = read(documents[start : start + _STATE_BATCH])
            self._fast.join(table.documents, self._fast.witness(table))
            self._database.load(self._database.witness(table, self._come(table.documents)))
            self._database.settle()
        for way in self._templates:
            way.begin()

    def choose(self) -> None:
        """Find the better order of joins for each of the single queries; the last batch is there still."""
        self._sequential.choose()

    def hold(self, documents: Sequence[Document], with_sequential: bool = True) -> Round:
        """A batch that every way joins; DisagreementError if they find different numbers of matches."""
        seconds: dict[str, float] = {}
        seconds["read"], table = timed(read, documents)
        seconds["witness"], witnesses = timed(self._fast.witness, table)
        seconds["fast"], matches = timed(lambda some: self._fast.join(table.documents, some).count, witnesses)
        self._database.load(self._database.witness(table, self._come(documents)))
        for way in self._templates:  # the cache is the first
            self._settle(way)
            seconds[way.mode], found = timed(lambda way: way.join(), way)
            if way.mode == "materialized":
                seconds |= {f"views {name}": spent for name, spent in way.spent.items()}
            if found != matches:
                raise DisagreementError(f"Weft found {matches} matches, the templates with views {way.mode} {found}")
        if with_sequential:
            took, _ = timed(lambda way: way.join(), self._sequential)
            seconds["sequential"] = took * len(self._queries) / len(self._sequential.places)
        return Round(len(documents), seconds, matches)

    def check(self, documents: Sequence[Document]) -> int:
        """A batch whose matches themselves are compared; how many there are. DisagreementError if they differ."""
        table = read(documents)
        found = self._fast.join(table.documents, self._fast.witness(table))
        self._database.load(self._database.witness(table, self._come(documents)))
        ours = self._fast.triples(found, self._docids)
        for way in self._templates:
            self._settle(way)
            way.join()
            check_triples(f"the templates with views {way.mode}", ours, way.triples())
        some = {*self._sequential.places}
        check_triples("single queries", {one for one in ours if one[0] in some}, self._sequential.triples())
        return len(ours)

    def standing(self, state: int, rounds: Iterable[Round]) -> Standing:
        """All that is known when the rounds are over."""
        templates = len(self._database.reference.templates)
        sampled = len(self._sequential.places)
        return Standing(
            len(self._queries),
            len(self._queries.plans),
            templates,
            sampled,
            state,
            self.add_seconds,
            tuple(rounds),
        )

    def close(self) -> None:
        """Free the memory of the database."""
        self._database.close()

    def _settle(self, way: Templates) -> None:
        """The batch becomes part of the state, unless that is too early for this way or has been done."""
        if way.wants_settled and not self._is_settled:
            self._database.settle()
            self._is_settled = True

    def _come(self, documents: Sequence[Document]) -> int:
        """Number the documents; the first one's number comes back."""
        self._is_settled = False
        first = len(self._docids)
        self._docids.update((document.id, number) for number, document in enumerate(documents, start=first))
        return first


def check_triples(name: str, ours: set[Triple], theirs: set[Triple]) -> None:
    """Raise DisagreementError unless both are the same."""
    if ours != theirs:
        only = sorted(ours - theirs)[:3], sorted(theirs - ours)[:3]
        raise DisagreementError(f"Weft and {name} differ: only Weft {only[0]}, only {name} {only[1]}")


@contextmanager
def no_garbage() -> Iterator[None]:
    """The collector does not walk the queries and documents meanwhile, at the cost of whom it strikes."""
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
