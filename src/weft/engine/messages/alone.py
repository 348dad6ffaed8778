"""Subscriptions with programs of their own in, their messages for a batch out: only where their conditions hold."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from weft.columns.integers import Ints
from weft.documents.document import is_in_stream
from weft.documents.fragment import Fragments
from weft.documents.table import NodeTable
from weft.engine.expressions.items import DynamicError
from weft.engine.expressions.prepared import Prepared
from weft.engine.expressions.trees import DocumentTree
from weft.engine.expressions.working import work_out
from weft.engine.messages.budget import Budget, size_of
from weft.engine.messages.messages import Messages
from weft.engine.shared.nodes import NOTHING
from weft.plans.lone_query import LoneQuery


class LonePrograms:
    """The subscriptions of an index that are worked out alone; equal programs are worked out once."""

    def __init__(self) -> None:
        self._number_of: dict[LoneQuery, int] = {}
        self._programs: list[LoneQuery | None] = []
        self.first_result: list[int] = []  # by program: whose nodes its first variable may bind, if that is known
        self._wanted: list[int] = []  # by program, how many subscriptions have it
        self._of: dict[int, int] = {}  # by subscription
        self._numbers: Ints | None = None
        self._prepared: dict[int, Prepared] = {}
        self._expressions: dict[object, int] = {}  # that several queries may have, by what documents are told of them

    def __getstate__(self) -> dict[str, object]:
        """What is known of programs goes by where they are in memory: it is found out again elsewhere."""
        return self.__dict__ | {"_prepared": {}, "_expressions": {}}

    def __len__(self) -> int:
        return len(self._of)

    def __contains__(self, subscription: object) -> bool:
        return subscription in self._of

    def add(self, subscription: int, program: LoneQuery, results: tuple[int, ...]) -> None:
        """Take a subscription in, with the results that its program needs."""
        number = self._number_of.get(program)
        if number is None:
            number = self._number_of[program] = len(self._programs)
            self._programs.append(program)
            self.first_result.append(results[0] if program.first is not None else NOTHING)
            self._wanted.append(0)
        self._wanted[number] += 1
        self._of[subscription] = number
        self._numbers = None

    def discard(self, subscription: int) -> None:
        """Let a subscription go if it is here, and its program with the last one that has it."""
        number = self._of.pop(subscription, None)
        if number is None:
            return
        self._numbers = None
        self._wanted[number] -= 1
        program = self._programs[number]
        if not self._wanted[number] and program is not None:
            del self._number_of[program]
            self._programs[number] = None
            self._prepared.pop(number, None)

    def program(self, subscription: int) -> LoneQuery:
        """The program of a subscription."""
        program = self._programs[self._of[subscription]]
        assert program is not None, "a program that a subscription has is kept"
        return program

    def number(self, subscription: int) -> int:
        """The number of a subscription's program."""
        return self._of[subscription]

    def sharing(self, subscription: int) -> int:
        """How many subscriptions have this one's program."""
        return self._wanted[self._of[subscription]]

    def prepared(self, number: int) -> Prepared:
        """What is known of a program's text."""
        found = self._prepared.get(number)
        if found is None:
            found = self._prepared[number] = Prepared(self._expressions)
        return found

    @property
    def numbers(self) -> Ints:
        """All these subscriptions."""
        if self._numbers is None:
            self._numbers = np.fromiter(self._of, np.int32, len(self._of))
        return self._numbers


class LoneWork:
    """The programs of an index over one batch; each is worked out once for a document, whoever asks how often."""

    def __init__(self, table: NodeTable, programs: LonePrograms, budget: Budget) -> None:
        self._table, self._programs, self._budget = table, programs, budget
        self._trees: dict[int, DocumentTree] = {}
        self._fragments: Fragments | None = None
        self._first_nodes: dict[tuple[int, int], list[int]] | None = None  # by document and result
        self._made: dict[tuple[int, int], list[str] | str] = {}  # by document and program: results, or why none

    @classmethod
    def of(cls, table: NodeTable, programs: LonePrograms, budget: Budget) -> LoneWork | None:
        """What there is to do, if there are any."""
        return cls(table, programs, budget) if len(programs) else None

    @property
    def numbers(self) -> Ints:
        """The subscriptions that have these programs."""
        return self._programs.numbers

    def matching(self, document: int, subscriptions: Ints) -> Ints:
        """Some subscriptions whose conditions hold in a document, without those whose program has no message."""
        is_lone = np.isin(subscriptions, self.numbers)
        if not is_lone.any():
            return subscriptions
        keep = ~is_lone
        keep[is_lone] = [bool(self._results(document, each)) for each in subscriptions[is_lone].tolist()]
        return subscriptions[keep]

    def messages(self, candidates: Sequence[Ints], found: tuple[Ints, Ints]) -> Messages:
        """A row for each result, by document the subscriptions whose conditions hold; `found`: all (result, node)."""
        self._first_nodes = self._grouped(*found)
        rows = [
            (document, subscription, text)
            for document, subscriptions in enumerate(candidates)
            for subscription in subscriptions.tolist()
            for text in self._results(document, subscription)
        ]
        return Messages.listed(rows)

    def _grouped(self, result: Ints, node: Ints) -> dict[tuple[int, int], list[int]]:
        """Nodes in document order, by their document and result."""
        wanted = np.isin(result, [each for each in self._programs.first_result if each != NOTHING])
        result, node = result[wanted], node[wanted]
        found: dict[tuple[int, int], list[int]] = {}
        order = np.argsort(self._table.order[node], kind="stable")
        documents = self._table.node_document[node]
        for at in order.tolist():
            found.setdefault((int(documents[at]), int(result[at])), []).append(int(node[at]))
        return found

    def _results(self, document: int, subscription: int) -> list[str]:
        """The results for a subscription; none where it has no message, or is refused."""
        program, number = self._programs.program(subscription), self._programs.number(subscription)
        if not is_in_stream(self._table.documents[document], program.stream):
            return []
        made = self._made.get((document, number))
        if made is None:
            made = self._made[document, number] = self._work_out(document, subscription, program, number)
        if isinstance(made, str):
            self._budget.refuse_unknown(document, subscription, made)
            return []
        return made

    def _work_out(self, document: int, subscription: int, program: LoneQuery, number: int) -> list[str] | str:
        budget = self._budget
        room = max(budget.room(document), 0)
        first, known = self._programs.first_result[number], self._first_nodes
        nodes = None if known is None or first == NOTHING else known.get((document, first), [])
        try:
            texts = work_out(program, self._programs.prepared(number), self._tree(document), budget.limits, room, nodes)
        except DynamicError as error:
            return str(error)
        size = sum(map(size_of, texts))
        is_large = size > budget.limits.max_message_bytes
        if is_large or size > budget.left[document]:
            budget.refuse_large(document, subscription, in_all=not is_large)
            return budget.refused[document, subscription]
        budget.left[document] -= size
        return texts

    def _tree(self, document: int) -> DocumentTree:
        found = self._trees.get(document)
        if found is None:
            if self._fragments is None:
                self._fragments = Fragments(self._table)
            found = self._trees[document] = DocumentTree(self._table, document, self._fragments)
        return found
