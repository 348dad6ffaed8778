"""Queries by their numbers in, what the two stages and the outputs are asked for out; equal plans are compiled once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from weft.joins.compile.queries import Queries, Subscriber
from weft.joins.compile.shapes import CompiledJoin, Shape, compile_plan
from weft.joins.compile.streams import PublishedStreams
from weft.joins.match.witness import FirstStage
from weft.joins.output.outputs import Outputs, Writing
from weft.plans.xscl import Xscl


@dataclass(slots=True)
class Known:
    """A plan that some queries have: what it was compiled to, how many they are, and their kind of subscriber."""

    plan: Xscl
    compiled: CompiledJoin
    written: Writing
    users: int = 0
    last: Subscriber | None = None

    def subscriber(self, since: int) -> Subscriber:
        """A subscriber from a document on; there are very many, and most are the same."""
        if self.last is None or self.last.since != since:
            self.last = Subscriber(since, self.written, self.plan.publish)
        return self.last


class Registered:
    """All queries by their numbers, and what each of them asks of the others for."""

    def __init__(self, queries: Queries, stage: FirstStage, outputs: Outputs) -> None:
        self._queries, self._stage, self._outputs = queries, stage, outputs
        self.streams = PublishedStreams()
        self._known: dict[Xscl, Known] = {}
        self._plans: dict[int, Known] = {}

    def __len__(self) -> int:
        return len(self._plans)

    def __contains__(self, number: object) -> bool:
        return number in self._plans

    def __iter__(self) -> Iterator[int]:
        """The numbers of all queries."""
        return iter(self._plans)

    def add(self, number: int, plan: Xscl, since: int) -> bool:
        """Take in a query that sees the documents from this one on, by how they came.

        Return whether it may ask for more about earlier documents than anybody did. Raises ConfigurationError if it
        would read what it publishes.
        """
        self.streams.add(number, plan.publish, (block.stream for block in plan.blocks))
        try:
            known = self._known.get(plan) or self._compile(plan)
        except BaseException:
            self.streams.remove(number)
            raise
        self._plans[number] = known
        known.users += 1
        shape = known.compiled.shape
        shared = self._queries.shared.get(shape)
        asks_more = shared is None or shared.since > 0
        self._queries.add(number, shape, known.subscriber(since))
        return asks_more

    def _compile(self, plan: Xscl) -> Known:
        """A plan that is new; if it cannot be served nothing of it stays."""
        compiled = compile_plan(plan, self._stage)
        try:
            known = self._known[plan] = Known(plan, compiled, self._outputs.written(plan, compiled))
        except BaseException:
            self._release(compiled.asked)
            raise
        return known

    def _release(self, asked: Iterable[tuple[int, bool]]) -> None:
        for number, valued in asked:
            self._stage.remove(number, valued)

    def remove(self, number: int) -> None:
        """Let a query go, and what only it asked for."""
        known = self._plans.pop(number)
        self._queries.remove(number, known.compiled.shape)
        self.streams.remove(number)
        known.users -= 1
        if not known.users:
            del self._known[known.plan]
            self._outputs.remove(known.written.slots)
            self._release(known.compiled.asked)

    def shape(self, number: int) -> Shape:
        """The shape of a query."""
        return self._plans[number].compiled.shape

    def compiled(self) -> Iterator[CompiledJoin]:
        """What the distinct plans were compiled to."""
        return (known.compiled for known in self._known.values())

    def asking(self, numbers: Iterable[int]) -> list[int]:
        """The queries that ask the first stage for one of these variables or edges."""
        wanted = set(numbers)
        plans = {id(each) for each in self._known.values() if any(one in wanted for one, _ in each.compiled.asked)}
        return [number for number, known in self._plans.items() if id(known) in plans]

    def asked(self) -> Iterator[tuple[int, list[int]]]:
        """Each query, and the numbers of the first stage that it asks for."""
        for number, known in self._plans.items():
            yield number, [one for one, _ in known.compiled.asked]

    def since(self, number: int) -> int:
        """The first document that a query sees, by how they came."""
        return self._queries.shared[self.shape(number)].subscribers[number].since

    def set_since(self, number: int, since: int) -> None:
        """A query sees the documents from this one on, by how they came."""
        known = self._plans[number]
        self._queries.replace(number, known.compiled.shape, known.subscriber(since))
