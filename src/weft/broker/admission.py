"""Node tables in, the same with the times and ids inside documents, without documents that must not go on, out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from weft.broker.stream_rules import CLOCK, FILE, StreamRule, rule_of
from weft.documents.build import read
from weft.documents.document import Document, Limits
from weft.documents.document_column import DocumentColumn
from weft.documents.gather import select
from weft.documents.moment import END, START, exact_seconds
from weft.documents.schema import Schema
from weft.documents.source import SourceBytes, read_source
from weft.documents.table import NodeTable
from weft.engine.engine import Engine
from weft.errors import DocumentError, failure_of
from weft.plans.event_times import event_time

_SHOWN = 60  # characters of what is no time


@dataclass(slots=True)
class Particulars:
    """What a document says of itself: its id, its time in nanoseconds, or why it is rejected; None where nothing."""

    id: str | None = None
    moment: int | None = None
    error: DocumentError | None = None


class _FirstNode(NamedTuple):
    """The string-value of a node, and where its element begins in the source."""

    text: str
    start: int


class Admission:
    """The rules of streams, and a schema, that documents go through before anybody sees them."""

    def __init__(
        self, rules: Sequence[StreamRule] = (), schema: Schema | None = None, limits: Limits | None = None
    ) -> None:
        self.rules, self.schema, self._limits = tuple(rules), schema, limits or Limits()
        self._numbers: dict[tuple[str, str], int] = {}  # by stream and path
        self._engine = Engine(limits=self._limits)
        for rule in self.rules:
            for path in dict.fromkeys(rule.paths):
                number = self._numbers[rule.stream, path] = len(self._numbers)
                self._engine.add(number, rule.plan(path))

    @property
    def is_open(self) -> bool:
        """Whether all documents go on as they are."""
        return not self.rules and self.schema is None

    def read(self, documents: Iterable[Document]) -> NodeTable:
        """Read documents, with their own ids and times."""
        table = read(documents, self._limits)
        return table if self.is_open else self.admit(table)

    def check(self, documents: Iterable[Document]) -> NodeTable:
        """Read documents, each with the id that it came with: who must be told apart from whom is known by that."""
        table = read(documents, self._limits)
        return table if self.is_open else _without(table, self.particulars(table))

    def check_within(self, documents: Iterable[Document], _limits: Limits) -> NodeTable:
        """The same, for who gives limits: they are those of the admission."""
        return self.check(documents)

    def admit(self, table: NodeTable) -> NodeTable:
        """A table without what is rejected, whose documents have their own ids and times."""
        told = self.particulars(table)
        left = _without(table, told)
        kept = [each for each in told if each.error is None]
        documents = tuple(map(self._renamed, left.documents, kept))
        return replace(left, documents=documents)

    def _renamed(self, document: Document, told: Particulars) -> Document:
        rule = rule_of(self.rules, document.stream)
        timestamp = None if rule is not None and rule.timestamp == CLOCK else document.timestamp
        timestamp = timestamp if told.moment is None else exact_seconds(told.moment)
        return replace(document, id=told.id or document.id, timestamp=timestamp)

    # -- what documents say

    def particulars(self, table: NodeTable) -> list[Particulars]:
        """What each document says of itself, and why it is rejected if it is."""
        told = [Particulars() for _ in table.documents]
        if self.schema is not None:
            for place, document in enumerate(table.documents):
                told[place].error = self._invalid(document, table.sources[place])
        if self._numbers:
            for place, (values, error) in enumerate(self._values(table)):
                if error is not None:
                    told[place].error = told[place].error or error
                elif told[place].error is None:
                    self._tell(table.documents[place], table.sources[place], values, told[place])
        return told

    def _invalid(self, document: Document, source: bytes) -> DocumentError | None:
        assert self.schema is not None
        try:
            return self.schema.fault(document.id, source)
        except Exception as error:  # whatever it is, it is this document's own
            return DocumentError(document.id, 1, 1, 0, f"not validated: {failure_of(error)}")

    def _values(self, table: NodeTable) -> list[tuple[dict[int, _FirstNode], DocumentError | None]]:
        """For each document the first node of each path; what fails is confined to its document."""
        try:
            return [(found, None) for found in self._first_values(table)]
        except Exception as error:
            if len(table.documents) == 1:
                return [({}, DocumentError(table.documents[0].id, 1, 1, 0, failure_of(error)))]
        return [self._values(select(table, [place]))[0] for place in range(len(table.documents))]

    def _first_values(self, table: NodeTable) -> list[dict[int, _FirstNode]]:
        self._engine.keep_up()
        first: list[dict[int, _FirstNode]] = [{} for _ in table.documents]
        columns = (column.tolist() for column in self._engine.match(table).nodes())
        for document, number, node in zip(*columns, strict=True):
            if number not in first[document]:
                row = node if node < table.elements else int(table.parent[node])
                first[document][number] = _FirstNode(table.string_value(node).strip(), int(table.start[row]))
        return first

    def _tell(self, document: Document, source: bytes, values: dict[int, _FirstNode], told: Particulars) -> None:
        rule = rule_of(self.rules, document.stream)
        if rule is None:
            return
        if rule.timestamp not in (None, FILE, CLOCK):
            path = str(rule.timestamp)
            value = values.get(self._numbers[rule.stream, path])
            told.moment = None if value is None else event_time(value.text)
            if told.moment is None or not START < told.moment < END:
                expected = "a time between 1824 and 2116" if told.moment is not None else "a time"
                told.error = _fault(document, source, f"expected {expected} at {path}", value)
        if rule.id is not None and told.error is None:
            value = values.get(self._numbers[rule.stream, rule.id])
            told.id = None if value is None else value.text
            if not told.id:
                told.error = _fault(document, source, f"expected an id at {rule.id}", value)


def _fault(document: Document, source: bytes, expected: str, found: _FirstNode | None) -> DocumentError:
    """Why a document is rejected, at the element that was looked at."""
    if found is None:
        return DocumentError(document.id, 1, 1, 0, f"{expected}, found no such node")
    given = read_source(document)
    whole = given if given.data == source else SourceBytes(document.id, source)  # one with a DOCTYPE was written anew
    shown = repr(found.text[:_SHOWN]) if found.text else "nothing"
    return whole.error(found.start, f"{expected}, found {shown}")


def _without(table: NodeTable, told: Sequence[Particulars]) -> NodeTable:
    """A table without what is rejected, with the reasons beside those that there were."""
    errors = [each.error for each in told if each.error is not None]
    if not errors:
        return table
    kept = [place for place, each in enumerate(told) if each.error is None]
    left = replace(select(table, kept), rejected=(*table.rejected, *errors))
    if isinstance(table.documents, DocumentColumn):
        is_kept = np.array([each.error is None for each in told], bool)
        left = replace(left, documents=table.documents.kept(is_kept))
    return left
