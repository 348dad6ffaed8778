"""Arrow batches of documents in, occurrences of values out, and pairs of documents in, messages out: workers of joins.

Documents have the columns `document` (what tells it from all others), `stream`, `nanoseconds` and `value`, whatever the
user's columns are called.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from weft.broker.answers import chunks, deliver, portions
from weft.documents.build import read
from weft.documents.document import Document, Limits
from weft.documents.moment import END, exact_seconds
from weft.documents.table import NodeTable
from weft.errors import ConfigurationError, MessageError
from weft.joins.joins import Joins
from weft.joins.match.confined import read_confined
from weft.joins.output.found import Failures, Found, JoinMessage
from weft.joins.pairs import Candidate
from weft.spark.compiled import Compiled, unpack, unpack_joins
from weft.spark.joins_plans import CompiledJoins, JoinPlans
from weft.spark.typed_worker import parted

_ROWS = 10_000  # of an output batch, at most
_CHARACTERS = 16 * 1024 * 1024  # and about so much text
_NONE = np.zeros(0, np.int64)
_LOG = logging.getLogger(__name__)
REPEATED = (
    "join: expected an id for each document of a stream, found {} twice or more; name all columns that tell documents "
    "apart: id=['partition', 'offset']"
)
SEPARATOR = "\0"  # after each id in a document's identity, and before its stream: below all that an id may have

OCCURRENCES = pa.schema(  # without nulls, for Spark would ask for them here and not there, and do the work twice
    pa.field(name, kind, nullable=False)
    for name, kind in (
        ("document", pa.string()),
        ("nanoseconds", pa.int64()),
        ("variable", pa.int32()),
        ("key", pa.int64()),
    )
)
MESSAGES = pa.schema(
    {
        "subscription": pa.string(),
        "destination": pa.string(),
        "message": pa.string(),
        "position": pa.int32(),
        "version": pa.int32(),
        "documents": pa.list_(pa.string()),
        "timestamp": pa.int64(),  # in nanoseconds
    }.items()
)


@dataclass(frozen=True, slots=True)
class OccurrenceWorker:
    """The relation of a batch: which variables have which values in which documents."""

    joins: CompiledJoins

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """A row for each document, variable and value."""
        plans = unpack_joins(self.joins)
        for table in _tables(batches, plans.limits):
            document, variable, key = plans.pairs.occurrences(table)
            ids = pa.array([one.id for one in table.documents], pa.string())
            times = pa.array([one.nanoseconds for one in table.documents], pa.int64())
            at = pa.array(document)
            columns = [ids.take(at), times.take(at), pa.array(variable), pa.array(key)]
            yield pa.RecordBatch.from_arrays(columns, schema=OCCURRENCES)


@dataclass(frozen=True, slots=True)
class Decide:
    """The messages of pairs of documents, each with its `openings`."""

    joins: CompiledJoins
    version: int

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """A row for each message."""
        plans = unpack_joins(self.joins)
        for batch in batches:
            yield from message_batches(pair_rows(plans, self._candidates(batch)), plans, self.version)

    def _candidates(self, batch: pa.RecordBatch) -> Iterator[Candidate]:
        known: dict[str, Document] = {}  # a document that is in many pairs is read once
        for row in batch.to_pylist():
            earlier, later = (
                known.setdefault(each["document"], self._document(each)) for each in (row["earlier"], row["later"])
            )
            for opening in row["openings"]:
                yield Candidate(opening, earlier, later)

    def _document(self, row: dict[str, Any]) -> Document:
        return Document(row["value"], row["document"], row["stream"], exact_seconds(row["nanoseconds"]))


def pair_rows(plans: JoinPlans, candidates: Iterable[Candidate]) -> Iterator[WrittenRow]:
    """The messages of pairs of documents that may be joined; what is not made is told in the worker's log."""
    failures: Failures = {}
    yield from _written(plans.pairs.messages(list(candidates), failures))
    _warn(failures, plans)


@dataclass(frozen=True, slots=True)
class Touched:
    """The documents that have some variable of the gathered queries: the others need not go where these are joined."""

    joins: CompiledJoins

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Each batch without the other documents."""
        plans = unpack_joins(self.joins)
        stage = plans.joins().stage
        for batch in batches:
            rows: list[int] = []
            for chunk in chunks(documents_of_batch(batch, by_row=True)):
                table = read(chunk, plans.limits)
                first = read_confined(stage, table, plans.limits)
                told = [place for place, _ in (*first.refused, *first.rejected)]  # where they are joined it is told why
                found = sorted({*first.witnesses.document.tolist(), *told})
                stage.values.keep(_NONE)
                rows += [int(table.documents[at].id) for at in found]
            yield batch.take(pa.array(rows, pa.int64()))


@dataclass(frozen=True, slots=True)
class Gather:
    """The messages of the gathered queries; all documents come to one task, in their order."""

    compiled: Compiled
    joins: CompiledJoins

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """A row for each message, of queries on what they publish too."""
        plans = unpack_joins(self.joins)
        documents = (document for batch in batches for document in documents_of_batch(batch))
        rows = self.rows(plans.joins(), documents, END)
        yield from message_batches(rows, plans, self.compiled.version)

    def rows(self, joins: Joins, documents: Iterable[Document], until: int) -> Iterator[WrittenRow]:
        """The messages that documents bring to joins, and then the time: none before `until` comes any more."""
        plans = unpack_joins(self.joins)
        for chunk in chunks(documents):
            yield from self._found(joins, joins.process(read(chunk, plans.limits)), plans)
        yield from self._found(joins, joins.advance(until), plans)

    def _found(self, joins: Joins, found: Found, plans: JoinPlans) -> Iterator[WrittenRow]:
        yield from _written(joins.messages(found))
        _warn(found.failures, plans)
        yield from self._selected(found.published, plans.limits)

    def _selected(self, published: list[Document], limits: Limits) -> Iterator[WrittenRow]:
        """What the documents that messages became bring to those who ask for one document at a time."""
        for chunk in chunks(published):
            table = read(chunk, limits)
            plans = unpack(self.compiled)
            rows, typed = parted(deliver(plans.engine, table), plans.typed)
            for row in typed:
                document = table.documents[row.place]
                moment = document.nanoseconds or 0
                yield WrittenRow(row.subscription, row.text, row.position, (document.id,), moment)
            columns = rows.document.tolist(), rows.subscription.tolist(), rows.text, rows.position.tolist()
            for at, number, text, place in zip(*columns, strict=True):
                document = table.documents[at]
                yield WrittenRow(number, text, place, (document.id,), document.nanoseconds or 0)


@dataclass(frozen=True, slots=True)
class Together:
    """The messages of all queries, where one task has all documents, in their order."""

    gather: Gather

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """A row for each message."""
        plans = unpack_joins(self.gather.joins)
        documents = [document for batch in batches for document in documents_of_batch(batch)]
        for document, number in Counter(document.id for document in documents).items():
            if number > 1:
                raise ConfigurationError(REPEATED.format(document.replace(SEPARATOR, "/")))
        for joins in plans.together():
            rows = self.gather.rows(joins, documents, END)
            yield from message_batches(rows, plans, self.gather.compiled.version)


class WrittenRow(NamedTuple):
    """A message, with the number of its subscription and its position among those of the same documents."""

    number: int
    text: str
    position: int
    documents: tuple[str, ...]
    timestamp: int


def _written(messages: Iterable[JoinMessage]) -> Iterator[WrittenRow]:
    positions: Counter[tuple[int, tuple[str, ...]]] = Counter()
    for message in messages:
        key = message.number, tuple(document.id for document in message.documents)
        positions[key] += 1
        yield WrittenRow(message.number, message.text, positions[key], key[1], message.timestamp)


def _warn(failures: Failures, plans: JoinPlans) -> None:
    """What is not made is told in the worker's log."""
    for (number, document), reason in failures.items():
        _LOG.warning("%s", MessageError(plans.ids[number].as_py(), document, reason))


def message_batches(messages: Iterable[WrittenRow], plans: JoinPlans, version: int) -> Iterator[pa.RecordBatch]:
    """Messages as rows, not too many in a batch."""
    for some in portions(messages, lambda message: len(message.text), _ROWS, _CHARACTERS):
        yield _message_batch(some, plans, version)


def _message_batch(messages: list[WrittenRow], plans: JoinPlans, version: int) -> pa.RecordBatch:
    number, text, position, documents, timestamp = zip(*messages, strict=True)
    at = pa.array(number, pa.int64())
    names = [plans.ids.take(at), plans.destinations.take(at)]
    ids = [[shown_id(identity) for identity in each] for each in documents]
    made = [text, position, [version] * len(messages), ids, timestamp]
    columns = [*names, *(pa.array(column, field.type) for column, field in zip(made, list(MESSAGES)[2:], strict=True))]
    return pa.RecordBatch.from_arrays(columns, schema=MESSAGES)


def shown_id(identity: str) -> str:
    """The id of a document, or its ids: what stands before its stream. What was published has no more than an id."""
    ids, separator, _ = identity.rpartition(SEPARATOR)
    return ids.replace(SEPARATOR, "/") if separator else identity


def _tables(batches: Iterable[pa.RecordBatch], limits: Limits) -> Iterator[NodeTable]:
    """The documents of batches, some at a time; one that cannot be read is left out."""
    for batch in batches:
        for chunk in chunks(documents_of_batch(batch)):
            yield read(chunk, limits)


def documents_of_batch(batch: pa.RecordBatch, by_row: bool = False) -> Iterator[Document]:
    """The documents of a batch; each is called what it is, or by its row."""
    columns = (batch.column(name).to_pylist() for name in ("value", "document", "stream", "nanoseconds"))
    for row, (value, document, stream, moment) in enumerate(zip(*columns, strict=True)):
        yield Document(value, str(row) if by_row else document, stream, exact_seconds(moment))
