"""The plans of a server in, answers to documents by parsing them out: what is done where the header does not tell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from weft.broker.answers import match
from weft.broker.confinement import Registry
from weft.documents.build import read
from weft.documents.document import Document, Limits
from weft.documents.table import NodeTable
from weft.engine.engine import Engine
from weft.engine.index_entry import EnginePlan
from weft.errors import DocumentError
from weft.headers.producer import Producer

_SWEEP = 1_000  # plans that went, and are still in the engine, before there is a new one


@dataclass(slots=True)
class ParsedDocument:
    """The numbers of the plans that match; those that could not be asked; a new header, if there is one.

    A document that cannot be read is rejected; without `is_answered` it was read, but nothing could be asked.
    """

    numbers: set[int] = field(default_factory=set)
    failed: set[int] = field(default_factory=set)
    header: bytes | None = None
    rejected: DocumentError | None = None
    is_answered: bool = True


class Parsing:
    """Parses documents for the plans of a server, by number; what fails is confined, as a broker does it.

    The engine is made when the first document comes, and again after `rest`. Whoever changes `plans` tells it: then an
    engine that there is takes the change in, and the servers of a network need no new ones while subscriptions change.
    """

    def __init__(self, plans: Mapping[int, EnginePlan], limits: Limits, producer: Producer | None = None) -> None:
        self._plans, self._limits, self._producer = plans, limits, producer
        self._suspended: dict[int, str] = {}
        self._running: _Running | None = None

    def added(self, number: int) -> None:
        """There is one more plan."""
        if self._running is not None:
            try:
                self._running.engine.add(number, self._plans[number])
            except BaseException:  # half of it may be there
                self.rest()
                raise

    def removed(self, number: int) -> None:
        """A plan is gone."""
        if self._suspended.pop(number, None) is not None or self._running is None:
            return
        engine = self._running.engine
        engine.remove(number)
        if engine.dead > max(_SWEEP, len(self._plans)):
            self.rest()

    def rest(self) -> None:
        """Let the engine go, to save memory."""
        self._running = None

    @property
    def is_resting(self) -> bool:
        """Whether there is no engine just now."""
        return self._running is None

    def answer(self, documents: Sequence[Document]) -> list[ParsedDocument]:
        """What matches each document; each is read once, also for its new header."""
        if self._running is None:
            self._running = _Running(self._plans, self._limits, self._suspended)
        table = read(documents, self._limits)
        matched = match(self._running.engine, table, self._running)
        headers = self._producer.headers(table) if self._producer is not None else {}
        answers = {id(document): ParsedDocument() for document in documents}
        for document, error in zip(_rejected(documents, table), table.rejected, strict=True):
            answers[id(document)].rejected = error.told()
        for document, numbers in zip(table.documents, matched.subscriptions, strict=True):
            answer = answers[id(document)]
            answer.numbers, answer.failed = set(numbers.tolist()), self._suspended.keys() & self._plans.keys()
            answer.header = headers.get(id(document))
        for place, number, _ in matched.refused:
            answers[id(table.documents[place])].failed.add(number)
        for place, _ in matched.rejected:
            answers[id(table.documents[place])].is_answered = False
        return [answers[id(document)] for document in documents]


def _rejected(documents: Sequence[Document], table: NodeTable) -> list[Document]:
    """Those of which there is no table, in their order."""
    accepted = set(map(id, table.documents))
    return [document for document in documents if id(document) not in accepted]


class _Running:
    """The engine, and what confinement needs to build others."""

    def __init__(self, plans: Mapping[int, EnginePlan], limits: Limits, suspended: dict[int, str]) -> None:
        self._plans, self._limits, self._suspended = plans, limits, suspended
        self.engine = self._new()

    def _new(self) -> Engine:
        engine = self.new_engine()
        for number in self.active():
            engine.add(number, self._plans[number])
        return engine

    def active(self) -> list[int]:
        """The plans that take part."""
        return sorted(number for number in self._plans if number not in self._suspended)

    def plan(self, number: int) -> EnginePlan:
        """One of them."""
        return self._plans[number]

    def new_engine(self) -> Engine:
        """An engine without plans."""
        return Engine(limits=self._limits)

    def suspend(self, reasons: dict[int, str]) -> None:
        """These take part no more."""
        self._suspended.update(reasons)
        self.engine = self._new()

    def without_dtd(self, documents: int) -> Registry:  # noqa: ARG002 as the others have it
        """The same: there is no DTD."""
        return self
