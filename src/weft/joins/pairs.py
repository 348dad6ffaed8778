"""Queries that two documents alone decide, as relations, and candidates in, messages out: joins without a state.

Another engine can join with these: it makes the occurrences of all documents, finds the pairs that satisfy an
opening (all its predicates hold: equal keys of the two variables), and gives these back, to be decided exactly.

    predicates   predicate, earlier, later            two variables, that of the earlier document first
    needs        opening, predicate                   all of them must hold
    openings     opening, nanoseconds, strict         the window (None: any), and whether equal timestamps do not do
    occurrences  document, variable, key              a hash of the value: equal values have equal keys
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b

import numpy as np

from weft.columns.integers import Ints, Longs
from weft.documents.build import read
from weft.documents.document import Document
from weft.documents.table import NodeTable
from weft.joins.compile.graph import Definition
from weft.joins.compile.reach import ANY_LENGTH
from weft.joins.joins import Joins
from weft.joins.match.confined import read_confined
from weft.joins.match.state import Held, Numbered, hold
from weft.joins.match.witness import Witnesses
from weft.joins.output.found import Failures, JoinMessage, Match, fan_out, written
from weft.joins.output.outputs import with_documents

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Candidate:
    """Two documents with timestamps that satisfy an opening; the earlier one came first if the timestamps are equal."""

    opening: int
    earlier: Document
    later: Document
    came: tuple[int, int] = (0, 0)  # since when there is each: a query sees those that are there since it is


class PairJoins:
    """The pairwise queries of joins."""

    def __init__(self, joins: Joins) -> None:
        self._joins = joins
        queries = joins.queries
        openings = [
            (at, opening) for at, opening in enumerate(queries.openings) if opening and opening.shared.shape.is_pairwise
        ]
        numbers = {
            pair: at for at, pair in enumerate(sorted({pair for _, opening in openings for pair in opening.pairs}))
        }
        length, (strict, _) = queries.windows.length, queries.columns()
        self.predicates = [(at, *pair) for pair, at in numbers.items()]
        self.needs = [(at, numbers[pair]) for at, opening in openings for pair in sorted(opening.pairs)]
        self.openings = [
            (at, None if length[at] == ANY_LENGTH else int(length[at]), bool(strict[at])) for at, _ in openings
        ]
        self._variables = np.array(sorted({end for pair in numbers for end in pair}), np.int32)

    def definitions(self) -> dict[int, int]:
        """For each variable that is compared its number in every process, whatever other queries there are."""
        found: dict[int, Definition] = {}
        for compiled in self._joins.registered.compiled():
            for side, defined in zip(compiled.shape.sides, compiled.definitions, strict=True):
                found.update(zip(side.variables, defined, strict=True))
            for one in (each for join in compiled.shape.joins for each in join.conditions):
                for (block, place), value, derived in zip((one.left, one.right), one.values, one.derived, strict=True):
                    found[value] = replace(compiled.definitions[block][place], derived=derived)
        return {each: key_of(repr(found[each])) for each in self._variables.tolist()}

    def see_since(self, numbers: Mapping[int, int]) -> None:
        """Queries see what is there since a moment; the others see all."""
        for number, since in numbers.items():
            self._joins.registered.set_since(number, since)

    def __iter__(self) -> Iterator[int]:
        """The numbers of the queries."""
        return (number for number in self._joins.registered if self._joins.registered.shape(number).is_pairwise)

    def occurrences(self, table: NodeTable) -> tuple[Ints, Ints, Longs]:
        """(document, variable, key) of a batch, each once."""
        witnesses = self._read(table)
        rows = np.flatnonzero((witnesses.value >= 0) & np.isin(witnesses.variable, self._variables))
        codes, place = np.unique(witnesses.value[rows], return_inverse=True)
        texts = self._joins.stage.values.texts
        keys = np.array([key_of(texts[code]) for code in codes.tolist()], np.int64)[place]
        self._joins.stage.values.keep(np.zeros(0, np.int64))  # nothing is held here
        columns = np.stack([witnesses.document[rows], witnesses.variable[rows], keys])
        document, variable, key = np.unique(columns, axis=1)
        return document.astype(np.int32), variable.astype(np.int32), key

    def _read(self, table: NodeTable) -> Witnesses:
        """The witnesses of a batch; what is too much in a document is told in the log, and costs nothing else."""
        first = read_confined(self._joins.stage, table, self._joins.limits)
        for place, reason in first.rejected:
            _LOG.warning("%s: %s", table.documents[place].id, reason)
        for place, reasons in first.refused:
            for reason in dict.fromkeys(reasons.values()):
                _LOG.warning("%s: not joined by all queries: %s", table.documents[place].id, reason)
        return first.witnesses

    def messages(self, candidates: Sequence[Candidate], failures: Failures) -> Iterator[JoinMessage]:
        """The messages of the candidates that are matches; why others cannot be made is told."""
        for part, documents in with_documents(candidates, lambda one: (one.earlier, one.later)):
            yield from self._messages(part, documents, failures)

    def _messages(
        self, candidates: Sequence[Candidate], documents: dict[int, Document], failures: Failures
    ) -> Iterator[JoinMessage]:
        joins, given = self._joins, list(documents.values())
        witnesses = self._read(read(given, joins.limits))
        came = {
            id(document): moment
            for one in candidates
            for document, moment in zip((one.earlier, one.later), one.came, strict=True)
        }
        numbered = [
            Numbered(document, document.nanoseconds or 0, at, came[id(document)]) for at, document in enumerate(given)
        ]
        held = dict(zip(documents, hold(numbered, witnesses), strict=True))
        matches: list[Match] = []
        for at, candidate in enumerate(candidates):
            pair = held[id(candidate.earlier)], held[id(candidate.later)]
            matches += self._match(candidate.opening, pair, at)
        for each, text in written(joins.outputs, fan_out(joins.search, matches, failures), failures):
            yield JoinMessage(each.number, each.row.documents, text, each.timestamp)
        joins.stage.values.keep(np.zeros(0, np.int64))

    def _match(self, number: int, pair: tuple[Held, Held], at: int) -> Iterator[Match]:
        """A candidate that is near enough; here each is a moment of its own, for others of its documents may be far."""
        opening = self._joins.queries.openings[number]
        assert opening is not None
        documents = pair if opening.newest else pair[::-1]
        if self._joins.search.is_within(opening.shared.shape, 0, *documents):
            yield Match((pair[1].timestamp, at), opening.shared, documents, is_sure=False)


def key_of(text: str) -> int:
    """A hash of a value."""
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big", signed=True)
