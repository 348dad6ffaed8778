"""Changes of joins in, a store of few and small writes out: each step writes what it changed.

A change stays in the store as long as something that it tells is needed. One of which less than half is needed goes
too: what is left of it is told again by the change of that step. So all writes together are at most some two times the
documents, however long they are held.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from weft.joins.journal import Change, Journal, read_change, write_change

_OFTEN = 1_024  # documents between two looks for changes that can go, at least


class ChangeStore(Protocol):
    """Where changes are kept, by their numbers."""

    def get(self, number: int) -> bytes | None:
        """A change, if it is there."""

    def put(self, number: int, change: bytes) -> None:
        """Keep a change."""

    def remove(self, number: int) -> None:
        """Let a change go; one that is not there is gone."""

    def all(self) -> Iterable[tuple[int, bytes]]:
        """All changes, in no order."""


class Changes:
    """The changes of one journal in a store; `next` is the number of the next one."""

    def __init__(self, journal: Journal, store: ChangeStore, upto: int) -> None:
        """Make the joins of a journal equal to those that wrote the changes up to a number."""
        self._journal, self.next = journal, upto
        self._mentioned: dict[int, set[int]] = {}
        self._last: dict[int, int] = {}
        found = [(number, read_change(data)) for number, data in sorted(store.all()) if number < upto]
        journal.apply([change for _, change in found])
        for number, change in found:
            self._note(number, change)
        self._looked_at = journal.joins.arrivals.progress.number

    def catch_up(self, store: ChangeStore, upto: int) -> bool:
        """Take over what others have written meanwhile; not, if it is no longer there."""
        found = []
        for number in range(self.next, upto):
            data = store.get(number)
            if data is None:
                return False
            found.append(read_change(data))
        self._journal.apply(found)
        for change in found:
            self._note(self.next, change)
            self.next += 1
        return True

    def write(self, store: ChangeStore) -> int:
        """Write what has changed; the number of bytes."""
        change = self._journal.take()
        number, live = self._journal.joins.arrivals.progress.number, len(self._journal.joins.state)
        if number - self._looked_at >= max(_OFTEN, live // 4):
            self._looked_at = number
            change = change.with_older(self._let_go(store, live))
        data = write_change(change)
        store.put(self.next, data)
        self._note(self.next, change)
        self.next += 1
        return len(data)

    def _note(self, number: int, change: Change) -> None:
        self._mentioned[number], self._last[number] = change.mentioned, change.last

    def _let_go(self, store: ChangeStore, most: int) -> list[Change]:
        """Remove the changes of which little is needed, the oldest first; what is needed of them comes back."""
        documents, waits, oldest = self._journal.live()
        kept: list[Change] = []
        told = 0
        for number in sorted(self._mentioned):
            mentioned = self._mentioned[number]
            needed = len(mentioned & documents)
            if 2 * needed > len(mentioned) or (needed and told + needed > max(_OFTEN, most // 4)):
                continue
            if needed or self._last[number] >= oldest:
                if not mentioned and self._last[number] >= oldest:
                    continue  # a history alone
                data = store.get(number)
                if data is not None:
                    kept.append(read_change(data).only(documents, waits, oldest))
                    told += needed
            store.remove(number)
            del self._mentioned[number], self._last[number]
        return kept
