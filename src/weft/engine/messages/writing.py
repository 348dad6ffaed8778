"""Groups in, messages within the limits out: written when they are read, unless a limit is near."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from itertools import pairwise

import numpy as np

from weft.columns.integers import Flags, Ints, Longs
from weft.documents.table import NodeTable
from weft.engine.messages.budget import Budget, size_of
from weft.engine.messages.built import BuiltQueries
from weft.engine.messages.factory import Factory
from weft.engine.messages.groups import Groups
from weft.engine.messages.messages import Messages
from weft.engine.messages.recipes import RecipeColumns
from weft.engine.messages.texts import Texts
from weft.engine.messages.written import MessageParts, WrittenMessages


class MessageWriting:
    """Makes the messages of one batch of the FLWR queries of an index."""

    def __init__(self, table: NodeTable, built: BuiltQueries, budget: Budget) -> None:
        self._table, self._built, self._budget = table, built, budget
        self._factory = Factory(table, budget)

    def messages(self, parts: Iterable[Groups]) -> Messages:
        """The messages of groups, sorted by document, then subscription; what is too much is refused."""
        return Messages.together([self._of_groups(groups) for groups in parts])

    def _of_groups(self, groups: Groups) -> Messages:
        made = self._made(groups)
        written = WrittenMessages(self._table, self._factory, groups, made, self._built.recipes.recipes, self._columns)
        number, subscription = self._wanted(made)
        if number.size and (doubtful := self._doubtful(written, number)).any():
            kept = self._carefully(written, number, subscription, doubtful)
            number, subscription = number[kept], subscription[kept]
        written.settle(number)
        return Messages(made.document[number], subscription, Texts.of(written, number))

    def _made(self, groups: Groups) -> MessageParts:
        """A message for each shape and document, and each recipe that is wanted of the shape."""
        document = self._table.node_document[groups.binding]
        is_new = (groups.shape[1:] != groups.shape[:-1]) | (document[1:] != document[:-1])
        begin = np.flatnonzero(np.append(True, is_new)) if groups.shape.size else np.zeros(0, np.int64)
        end = np.append(begin[1:], groups.shape.size)
        at, form = self._built.forms_of.of(groups.shape[begin])
        recipe = self._built.recipe_of[form]
        some = recipe >= 0  # an edge has none
        at, self._form = at[some], form[some]
        return MessageParts(begin[at], end[at], document[begin[at]], recipe[some])

    def _wanted(self, made: MessageParts) -> tuple[Ints, Ints]:
        """(message, subscription) of all that are delivered."""
        number, subscription = self._built.subscribers.pairs(self._form)
        document = made.document[number]
        keep = self._budget.is_known(document, subscription)
        if self._built.streams:
            keep &= self._built.is_in_stream(self._table.documents, document, subscription)
        return number[keep], subscription[keep]

    @property
    def _columns(self) -> RecipeColumns:
        return self._built.recipes.frozen()

    def _doubtful(self, written: WrittenMessages, number: Ints) -> Flags:
        """By message, whether its document may bring out more than it may; those of the others are spent."""
        budget, made, limits = self._budget, written.made, self._budget.limits
        wanted = np.zeros(made.begin.size, bool)
        wanted[number] = True
        sizes = np.where(wanted, written.most_sizes, 0)
        is_large = (sizes > limits.max_message_bytes) | (made.end - made.begin > limits.max_messages)
        is_large |= written.entries > budget.most_entries
        is_large |= written.has_large_order(limits.max_message_bytes)
        spent = np.bincount(made.document, sizes, len(self._table.documents))
        doubtful = spent > np.array(budget.left)
        doubtful[made.document[wanted & is_large]] = True
        safe = np.flatnonzero(~doubtful & (spent > 0))
        for document, most in zip(safe.tolist(), spent[safe].astype(np.int64).tolist(), strict=True):
            budget.spend(document, most, partial(_size_of_document, written, wanted, document))
        return np.asarray(doubtful[made.document])

    def _carefully(self, written: WrittenMessages, number: Ints, subscription: Ints, doubtful: Flags) -> Longs:
        """Write the messages of some documents now, one by one; the rows of those that are made, and of the others."""
        made, budget = written.made, self._budget
        rows = np.flatnonzero(doubtful[number])
        for document in np.unique(made.document[number[rows]]).tolist():
            budget.settle(document)
        rows = rows[np.lexsort((subscription[rows], number[rows], made.document[number[rows]]))]
        begins = np.append(np.flatnonzero(np.diff(number[rows], prepend=-1)), rows.size).tolist()
        kept = [np.flatnonzero(~doubtful[number])]
        for begin, end in pairwise(begins):
            if self._write(written, int(number[rows[begin]]), subscription[rows[begin:end]].tolist()):
                kept.append(rows[begin:end])
        return np.concatenate(kept)

    def _write(self, written: WrittenMessages, number: int, subscriptions: list[int]) -> bool:
        """Write a message that may be too large; if it is, all that want it are told."""
        document, entries = int(written.made.document[number]), int(written.entries[number])
        groups = int(written.made.end[number] - written.made.begin[number])
        first, text = subscriptions[0], None
        if self._factory.has_room(document, first, groups, entries):
            text = self._factory.make(document, first, written.recipe(number), written.lists(number), entries)
        if text is not None:
            written.keep(number, text)
            return True
        for subscription in subscriptions[1:]:
            self._budget.refuse(document, subscription, self._budget.refused[document, first])
        return False


def _size_of_document(written: WrittenMessages, wanted: Flags, document: int) -> int:
    """The bytes of a document's messages, which are written for that."""
    numbers = np.flatnonzero(wanted & (written.made.document == document)).tolist()
    return sum(size_of(written.text(number)) for number in numbers)
