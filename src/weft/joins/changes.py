"""What changes in joins in, few and small writes to a store out: each step writes what it changed.

A change stays in the store as long as something that it tells is needed. One of which less than half is needed goes
too: what is left of it is told again by the change of that step. So all writes together are at most some two times the
documents, however long they are held.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Generic, Protocol, Self, TypeVar

from weft.joins.journal import Live

_OFTEN = 1_024  # documents between two looks for changes that can go, at least


class ChangeStore(Protocol):
    """Where changes are kept, by their numbers."""

    def get(self, number: int) -> bytes | None:
        """A change, if it is there."""

    def put(self, number: int, data: bytes) -> None:
        """Keep a change."""

    def remove(self, number: int) -> None:
        """Let a change go; one that is not there is gone."""

    def all(self) -> Iterable[tuple[int, bytes]]:
        """All changes, in no order."""


class AnyChange(Protocol):
    """What a step changed."""

    @property
    def mentioned(self) -> set[int]:
        """The documents that something is told of."""

    @property
    def last(self) -> int:
        """The last sequence number that is counted; -1 where nothing is."""

    def only(self, live: Live) -> Self:
        """What is told of what is needed."""

    def with_older(self, older: Sequence[Self]) -> Self:
        """The same change, that also tells what older ones did."""


ToldChange = TypeVar("ToldChange", bound=AnyChange)


class Changing(Protocol[ToldChange]):
    """Something that changes in steps, and can make the steps of others."""

    @property
    def came(self) -> int:
        """How many documents have come."""

    @property
    def held(self) -> int:
        """About how many are needed."""

    def take(self) -> ToldChange:
        """What has changed since it was asked last."""

    def apply(self, changes: Sequence[ToldChange]) -> None:
        """Make changes that were made elsewhere."""

    def live(self) -> Live:
        """What is needed."""

    def write(self, change: ToldChange) -> bytes:
        """A change as bytes."""

    def read(self, data: bytes) -> ToldChange:
        """And back."""


class ChangeLog(Generic[ToldChange]):
    """The changes of one thing in a store; `next` is the number of the next one."""

    def __init__(self, changing: Changing[ToldChange], store: ChangeStore, upto: int) -> None:
        """Make it equal to those that wrote the changes up to a number."""
        self._changing, self.next = changing, upto
        self._mentioned: dict[int, set[int]] = {}
        self._last: dict[int, int] = {}
        found = [(number, changing.read(data)) for number, data in sorted(store.all()) if number < upto]
        changing.apply([change for _, change in found])
        for number, change in found:
            self._note(number, change)
        self._looked_at = changing.came

    def catch_up(self, store: ChangeStore, upto: int) -> bool:
        """Take over what others have written meanwhile; not, if it is no longer there."""
        found = []
        for number in range(self.next, upto):
            data = store.get(number)
            if data is None:
                return False
            found.append(self._changing.read(data))
        self._changing.apply(found)
        for change in found:
            self._note(self.next, change)
            self.next += 1
        return True

    def write(self, store: ChangeStore) -> bytes:
        """Write what has changed, and return it."""
        change, came, held = self._changing.take(), self._changing.came, self._changing.held
        if came - self._looked_at >= max(_OFTEN, held // 4):
            self._looked_at = came
            change = change.with_older(self._let_go(store, held))
        data = self._changing.write(change)
        store.put(self.next, data)
        self._note(self.next, change)
        self.next += 1
        return data

    def _note(self, number: int, change: ToldChange) -> None:
        self._mentioned[number], self._last[number] = change.mentioned, change.last

    def _let_go(self, store: ChangeStore, held: int) -> list[ToldChange]:
        """Remove the changes of which little is needed, the oldest first; what is needed of them comes back."""
        live = self._changing.live()
        kept: list[ToldChange] = []
        told = 0
        for number in sorted(self._mentioned):
            mentioned, is_counted = self._mentioned[number], self._last[number] >= live.oldest
            needed = len(mentioned & live.documents)
            is_dear = 2 * needed > len(mentioned) or (needed and told + needed > max(_OFTEN, held // 4))
            if is_dear or (is_counted and not mentioned):
                continue
            if needed or is_counted:
                data = store.get(number)
                if data is not None:
                    kept.append(self._changing.read(data).only(live))
                    told += needed
            store.remove(number)
            del self._mentioned[number], self._last[number]
        return kept
