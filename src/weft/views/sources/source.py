"""What a source is: a name, documents, and answers to questions with what they cost."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Protocol, runtime_checkable

import pyarrow as pa
import pyarrow.compute as pc

from weft.documents.document import Document, Limits
from weft.errors import DocumentError, WeftError
from weft.languages.xpath import parse
from weft.plans.plan import Selection
from weft.views.bounds import bounds_here
from weft.views.nodes import SCHEMA, select
from weft.views.sources.rates import Cost, Rates

__all__ = [
    "Answer",
    "Cost",
    "ExplainingSource",
    "Measure",
    "Question",
    "Source",
    "SourceError",
    "answer_here",
    "read_question",
    "size_of",
]
_BATCH_BYTES = 64 << 20  # of documents that are here at once


class SourceError(WeftError):
    """A source that does not answer, or answers what cannot be read: its name, and why."""

    def __init__(self, source: str, reason: str) -> None:
        self.source, self.reason = source, reason
        super().__init__(source, reason)

    def __str__(self) -> str:
        return f"{self.source}: {self.reason}"


@dataclass(frozen=True, slots=True)
class Question:
    """A selection, and how it is written for a source that evaluates it itself."""

    selection: Selection
    text: str
    namespaces: Mapping[str, str] = field(default_factory=dict)


def read_question(text: str, namespaces: Mapping[str, str] | None = None) -> Question:
    """The question that an XPath query asks.

    >>> read_question("/shop/item").text
    '/shop/item'
    """
    return Question(parse(text, namespaces), text, dict(namespaces or {}))


@dataclass(frozen=True, slots=True)
class Measure:
    """How large the answer to a question is: its nodes, and the bytes of their fragments."""

    count: int
    size: int


@dataclass(frozen=True, slots=True)
class Answer:
    """The rows of each question (see weft.views.nodes), what could not be read, and what it took.

    `tokens` are those of the documents that were looked at, as `Source.tokens` gives them; where a document changes
    meanwhile they are the older ones, so that the change is seen when tokens are compared.
    """

    rows: tuple[pa.Table, ...]
    rejected: tuple[DocumentError, ...]
    cost: Cost
    tokens: Mapping[str, str]

    def measures(self) -> tuple[Measure, ...]:
        """How large the answer to each question is."""
        return tuple(Measure(rows.num_rows, size_of(rows)) for rows in self.rows)


class Source(Protocol):
    """A place that holds XML. Whatever is wrong with it is raised as a SourceError.

    `name` is the root element of its documents, as an expanded name: it decides which queries are for the source.
    """

    @property
    def name(self) -> str:
        """The root element, which names the source."""

    @property
    def root(self) -> str | None:
        """The root element of all its documents; None if it was given a name, and so may have any."""

    @property
    def location(self) -> str:
        """Where it is: a path or an address."""

    def tokens(self) -> Mapping[str, str]:
        """The documents it holds, in their order, each with a token that changes whenever its content does."""

    def fetch(self, documents: Sequence[str] | None = None) -> list[Document]:
        """The documents themselves, all or some, by id; those that are gone or cannot be read are left out."""

    def answer(self, questions: Sequence[Question]) -> Answer:
        """The nodes that questions ask for, evaluated at the source if it can do so, else here."""

    def measure(self, questions: Sequence[Question]) -> tuple[Measure, ...]:
        """How large the answers are, without their content if the source can tell that."""

    def hints(self) -> Rates | None:
        """What the source itself says about its rates; None if it says nothing."""


@runtime_checkable
class ExplainingSource(Protocol):
    """A source that can tell beforehand what an answer takes, as databases do by EXPLAIN."""

    def explain(self, questions: Sequence[Question]) -> tuple[float | None, ...]:
        """The seconds that it expects to take to find each answer; None where it does not know."""


def size_of(rows: pa.Table) -> int:
    """The bytes of the fragments of rows: what answers are measured by."""
    return int(pc.sum(pc.binary_length(rows["fragment"])).as_py() or 0)


def answer_here(
    name: str,
    entries: Iterable[Document | DocumentError],
    tokens: Mapping[str, str],
    questions: Sequence[Question],
    limits: Limits,
    transmission: float = 0.0,
) -> Answer:
    """Evaluate questions on documents as they come in; getting them is what counts as their way.

    `transmission` is what it took to get the first of them so far, in seconds.
    """
    selections = [question.selection for question in questions]
    parts: list[list[pa.Table]] = [[SCHEMA.empty_table()] for _ in questions]
    rejected: list[DocumentError] = []
    processing, start = 0.0, perf_counter()
    bounds, nodes, size = bounds_here(), 0, 0
    for documents, unread in _batches(entries):
        got = perf_counter()
        transmission += got - start
        found = select(name, documents, selections, limits, bounds)
        for part, rows in zip(parts, found.rows, strict=True):
            part.append(rows)
            nodes, size = nodes + rows.num_rows, size + size_of(rows)
        bounds.check(nodes, size)
        rejected += [*unread, *found.rejected]
        start = perf_counter()
        processing += start - got
    rows = tuple(pa.concat_tables(part) for part in parts)
    return Answer(rows, tuple(rejected), Cost(size, processing, transmission), tokens)


def _batches(
    entries: Iterable[Document | DocumentError],
) -> Iterator[tuple[list[Document], list[DocumentError]]]:
    documents: list[Document] = []
    rejected: list[DocumentError] = []
    size = 0
    bounds = bounds_here()
    for entry in entries:
        bounds.check()
        if isinstance(entry, DocumentError):
            rejected.append(entry)
            continue
        documents.append(entry)
        size += len(entry.data)
        if size >= _BATCH_BYTES:
            yield documents, rejected
            documents, rejected, size = [], [], 0
    yield documents, rejected
