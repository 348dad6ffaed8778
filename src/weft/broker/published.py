"""What a batch brought out in, its messages out: each is made when somebody reads it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from operator import attrgetter
from typing import NamedTuple, overload

import numpy as np

from weft.broker.answers import portions
from weft.broker.destinations import Destination, Message
from weft.broker.subscription_ids import SubscriptionIds
from weft.broker.typed import TypedColumn, typed_rows
from weft.columns.integers import Longs
from weft.documents.document import Document
from weft.engine.deliveries import Deliveries

_AT_ONCE = 1_000  # messages that are handed over together
_HEAVY = 16 * 1024 * 1024  # bytes of them


class Addressed(NamedTuple):
    """A message, where it goes, and about how many bytes it has."""

    message: Message
    to: Destination
    size: int


@dataclass(frozen=True, slots=True)
class BatchMessages:
    """Messages as columns: each is a stretch of the rows that the documents of a batch brought out."""

    starts: Longs
    ends: Longs
    rows: Deliveries
    documents: Sequence[Document]
    ids: SubscriptionIds
    destinations: Mapping[int, Destination]  # by subscription; those that have none are not there
    typed: Mapping[int, tuple[TypedColumn, ...]]  # by subscription

    @classmethod
    def of(
        cls,
        rows: Deliveries,
        documents: Sequence[Document],
        ids: SubscriptionIds,
        destinations: Mapping[int, Destination],
        typed: Mapping[int, tuple[TypedColumn, ...]],
    ) -> BatchMessages:
        """The messages of rows: those of one document and subscription are one."""
        starts = np.flatnonzero(rows.is_first).astype(np.int64)
        present = np.unique(rows.subscription[starts]).tolist() if destinations else []
        some = {number: destinations[number] for number in present if number in destinations}
        columns = dict(typed) if typed else typed  # as they are now: a subscription may go before it is read
        return cls(starts, np.append(starts[1:], len(rows.text)), rows, documents, ids, some, columns)

    def __len__(self) -> int:
        return int(self.starts.size)

    def message(self, at: int) -> Message:
        """One of them."""
        row = int(self.starts[at])
        document = self.documents[int(self.rows.document[row])]
        nodes, number = self.rows.text.stretch(row, int(self.ends[at])), int(self.rows.subscription[row])
        return self._made(number, self.ids.of(number), document, nodes)

    def _made(self, number: int, name: str, document: Document, nodes: Iterable[str]) -> Message:
        if (columns := self.typed.get(number)) is None:
            return Message(name, document.id, nodes, (), None, document.traceparent)
        rows = typed_rows(columns, "".join(nodes))
        return Message(name, document.id, rows.texts, (), rows, document.traceparent)

    def __iter__(self) -> Iterator[Message]:
        return (message for _, message in self._messages(np.arange(len(self))))

    def addressed(self) -> Iterator[Addressed]:
        """Those that go somewhere."""
        if not self.destinations:
            return
        known = np.fromiter(self.destinations, np.int32, len(self.destinations))
        some = np.flatnonzero(np.isin(self.rows.subscription[self.starts], known))
        before = np.append(0, np.cumsum(self.rows.text.sizes(0, len(self.rows.text))))
        sizes = (before[self.ends[some]] - before[self.starts[some]]).tolist()
        for size, (number, message) in zip(sizes, self._messages(some), strict=True):
            yield Addressed(message, self.destinations[number], size)

    def _messages(self, some: Longs) -> Iterator[tuple[int, Message]]:
        """Some of them, each with the number of its subscription."""
        stretch, documents = self.rows.text.stretch, self.documents
        for begin in range(0, some.size, _AT_ONCE):
            at = some[begin : begin + _AT_ONCE]
            starts = self.starts[at]
            numbers, places = self.rows.subscription[starts], self.rows.document[starts].tolist()
            rows = zip(starts.tolist(), self.ends[at].tolist(), places, strict=True)
            for (start, end, place), number, name in zip(rows, numbers.tolist(), self.ids[numbers], strict=True):
                yield number, self._made(number, name, documents[place], stretch(start, end))


@dataclass(frozen=True, slots=True)
class ListedMessages:
    """Messages that are there already, each with where it goes if it goes anywhere."""

    messages: Sequence[tuple[Message, Destination | None]]

    def __len__(self) -> int:
        return len(self.messages)

    def message(self, at: int) -> Message:
        """One of them."""
        return self.messages[at][0]

    def __iter__(self) -> Iterator[Message]:
        return (message for message, _ in self.messages)

    def addressed(self) -> Iterator[Addressed]:
        """Those that go somewhere."""
        rows = ((message, to) for message, to in self.messages if to is not None)
        return (Addressed(message, to, sum(map(len, message.nodes))) for message, to in rows)


class Published(Sequence[Message]):
    """Messages in their order: a sequence that compares like a list.

    Each is made when it is read, and its text when that is read; until then they hold on to the documents.
    """

    __hash__ = None  # type: ignore[assignment]  # it equals lists

    def __init__(self, parts: Sequence[BatchMessages | ListedMessages]) -> None:
        self._parts = parts

    def portions(self) -> Iterator[list[tuple[Message, Destination]]]:
        """Those that go somewhere, in their order, so many at a time that their texts can be held."""
        addressed = chain.from_iterable(part.addressed() for part in self._parts)
        for portion in portions(addressed, attrgetter("size"), _AT_ONCE, _HEAVY):
            yield [(each.message, each.to) for each in portion]

    def __len__(self) -> int:
        return sum(map(len, self._parts))

    def __iter__(self) -> Iterator[Message]:
        return chain.from_iterable(self._parts)

    @overload
    def __getitem__(self, at: int) -> Message: ...
    @overload
    def __getitem__(self, at: slice) -> list[Message]: ...
    def __getitem__(self, at: int | slice) -> Message | list[Message]:
        if isinstance(at, slice):
            return [self[place] for place in range(len(self))[at]]
        place = range(len(self))[at]
        for part in self._parts:
            if place < len(part):
                break
            place -= len(part)
        return part.message(place)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Published | list | tuple):
            return len(self) == len(other) and list(self) == list(other)
        return NotImplemented

    def __add__(self, other: Sequence[Message]) -> list[Message]:
        return [*self, *other]

    def __radd__(self, other: Sequence[Message]) -> list[Message]:
        return [*other, *self]

    def __repr__(self) -> str:
        return repr(list(self))
