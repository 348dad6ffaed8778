"""A batch whose matching fails in, the answers to all that is sound in it out.

What fails is confined first to a document, by matching the documents one by one, then to a subscription, by matching
with fewer and fewer of them. Nobody else notices, but for the time it takes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

from weft.documents.build import read
from weft.documents.table import NodeTable
from weft.engine.engine import Engine
from weft.engine.index_entry import EnginePlan
from weft.errors import failure_of

Answered = TypeVar("Answered")
MOST_CULPRITS = 32  # if a document fails more subscriptions than this, the fault is its own


class Registry(Protocol):
    """What a broker has and a worker has not: all queries, to build engines without some of them."""

    engine: Engine

    def active(self) -> list[int]:
        """The subscriptions that take part."""

    def plan(self, number: int) -> EnginePlan:
        """The plan of one of them."""

    def new_engine(self) -> Engine:
        """An engine without subscriptions."""

    def suspend(self, reasons: dict[int, str]) -> None:
        """These take part no more. What is left has a new engine, also if there are none."""

    def without_dtd(self, documents: int) -> Registry:
        """The same without the DTD, for so many documents that do not keep to it."""


@dataclass(slots=True)
class Confined(Generic[Answered]):
    """Answers, each with the places of its documents in the batch; and what came to nothing."""

    answers: list[tuple[Sequence[int], Answered]] = field(default_factory=list)
    refused: list[tuple[int, int, str]] = field(default_factory=list)  # place, subscription, reason
    rejected: list[tuple[int, str]] = field(default_factory=list)  # place, reason


def confined(
    engine: Engine, table: NodeTable, answer: Callable[[Engine, NodeTable], Answered], plans: Registry | None = None
) -> Confined[Answered]:
    """The answer to a batch; if there is none, the answers to what of it can be answered.

    Without plans a document that fails is rejected. With them the subscriptions that fail alone are suspended; those
    that need too much memory for this document just do not get it.
    """
    try:
        return Confined([(range(len(table.documents)), answer(engine, table))])
    except Exception as error:
        if len(table.documents) == 1 and plans is None:
            return Confined(rejected=[(0, failure_of(error))])
    found: Confined[Answered] = Confined()
    for place, document in enumerate(table.documents):
        alone = read([document], engine.limits)
        try:
            found.answers.append(([place], answer(plans.engine if plans else engine, alone)))
        except Exception as error:
            if plans is None:
                found.rejected.append((place, failure_of(error)))
            else:
                _Trial(plans, alone, answer).end(place, found)
    return found


class _TooManyCulpritsError(Exception):
    """More subscriptions fail than can be at fault."""


class _Trial(Generic[Answered]):
    """One document that fails: with whom?"""

    def __init__(self, plans: Registry, table: NodeTable, answer: Callable[[Engine, NodeTable], Answered]) -> None:
        self._plans, self._table, self._answer = plans, table, answer
        self._numbers = plans.active()
        self._known: dict[int, EnginePlan] = {}
        self._culprits: dict[int, Exception] = {}
        self._error = Exception()  # the latest

    def end(self, place: int, found: Confined[Answered]) -> None:
        """Put down what came out."""
        try:
            answers = list(self._divide(self._numbers))
        except _TooManyCulpritsError:
            reason = f"more than {MOST_CULPRITS} subscriptions fail: {failure_of(self._error)}"
            found.rejected.append((place, reason))
            return
        except Exception as error:  # the engine fails without any subscription
            found.rejected.append((place, failure_of(error)))
            return
        found.answers += [([place], answer) for answer in answers]
        if len(answers) > 1 and not self._culprits and not isinstance(self._error, MemoryError):
            self._culprits[self._last_of_prefix()] = self._error  # they fail together only
        reasons = {number: failure_of(error) for number, error in self._culprits.items()}
        found.refused += [(place, number, reason) for number, reason in reasons.items()]
        kept = {number for number, error in self._culprits.items() if isinstance(error, MemoryError)}
        self._plans.suspend({number: reason for number, reason in reasons.items() if number not in kept})

    def _divide(self, numbers: Sequence[int]) -> Iterator[Answered]:
        """The answers of parts of the subscriptions that can be answered; who fails alone is a culprit."""
        answers: list[Answered] = []
        error = self._failure(numbers, answers)
        if error is None:
            yield from answers
            return
        self._error = error
        if not numbers:
            raise error
        if len(numbers) == 1:
            if not self._culprits:
                yield from self._divide([])
            self._culprits[numbers[0]] = error
            if len(self._culprits) > MOST_CULPRITS:
                raise _TooManyCulpritsError
            return
        middle = len(numbers) // 2
        yield from self._divide(numbers[:middle])
        yield from self._divide(numbers[middle:])

    def _failure(self, numbers: Sequence[int], answers: list[Answered]) -> Exception | None:
        """Why an engine with these subscriptions alone fails; if it does not, its answer is put into the list."""
        try:
            engine = self._plans.new_engine()
            for number in numbers:
                if number not in self._known:
                    self._known[number] = self._plans.plan(number)
                engine.add(number, self._known[number])
            answers.append(self._answer(engine, self._table))
        except Exception as error:
            return error.with_traceback(None)
        return None

    def _last_of_prefix(self) -> int:
        """The last subscription of the smallest prefix that fails."""
        low, high = 0, len(self._numbers)
        while high - low > 1:
            middle = (low + high) // 2
            if self._failure(self._numbers[:middle], []) is None:
                low = middle
            else:
                high = middle
        return self._numbers[high - 1]
