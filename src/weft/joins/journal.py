"""Joins that work in, what each step changed in them out, as bytes; and back, into joins that know what was before.

So the state of joins can be kept by what changes: a *change* has the sources of the documents that came, the places of
those whose turn it was, and the matches that began to wait. What goes is not told: it follows from how far time has
come. ChangeLog are put together by the numbers of the documents as they came, in any order.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import asdict, dataclass, fields, replace
from functools import cached_property
from io import BytesIO
from typing import Any, NamedTuple

from weft.joins.checkpoint import digest
from weft.joins.compile.shapes import Shape
from weft.joins.joins import Joins
from weft.joins.match.state import Held, Numbered
from weft.joins.saved import SavedHistory, read_document, write_document
from weft.joins.time.absence import NumberedWait
from weft.joins.time.arrivals import Progress


class Live(NamedTuple):
    """The documents that are needed, the matches that wait, and the oldest sequence number that is counted from."""

    documents: AbstractSet[int]
    waits: AbstractSet[int]
    oldest: int


@dataclass(frozen=True, slots=True)
class SavedWait:
    """A match that waits for its window to close: its number, its join's digest, and its documents as they came."""

    number: int
    digest: str
    documents: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class JoinsChange:
    """What a step changed; documents by their numbers as they came."""

    progress: Progress
    sequence: int  # of the next document
    published: int
    waits: int  # the number of the next match that waits
    history: SavedHistory
    waiting: tuple[SavedWait, ...]
    places: tuple[tuple[int, int], ...]  # a document's number, and its sequence number
    documents: tuple[Numbered, ...]

    @property
    def mentioned(self) -> set[int]:
        """The documents that something is told of."""
        return {one.arrival for one in self.documents} | {number for number, _ in self.places}

    @property
    def last(self) -> int:
        """The last sequence number that is counted."""
        return max((sequences[-1] for sequences, _ in self.history.values() if sequences), default=-1)

    def only(self, live: Live) -> JoinsChange:
        """What is told of the documents and matches that are needed, and the history that is."""
        return replace(
            self,
            history={name: _from(columns, live.oldest) for name, columns in self.history.items()},
            waiting=tuple(one for one in self.waiting if one.number in live.waits),
            places=tuple(one for one in self.places if one[0] in live.documents),
            documents=tuple(one for one in self.documents if one.arrival in live.documents),
        )

    def with_older(self, older: Sequence[JoinsChange]) -> JoinsChange:
        """The same change, that also tells what older ones did."""
        if not older:
            return self
        parts = [*older, self]
        history: dict[str, tuple[list[int], list[int]]] = {}
        for part in parts:
            for name, columns in part.history.items():
                sequences, timestamps = history.setdefault(name, ([], []))
                sequences += columns[0]
                timestamps += columns[1]
        ordered = {name: _sorted(columns) for name, columns in history.items() if columns[0]}
        waiting, places, documents = (
            tuple(one for part in parts for one in getattr(part, name)) for name in ("waiting", "places", "documents")
        )
        return replace(self, history=ordered, waiting=waiting, places=places, documents=documents)


def _write(change: JoinsChange) -> bytes:
    header = {
        "progress": asdict(change.progress),
        "sequence": change.sequence,
        "published": change.published,
        "waits": change.waits,
        "history": change.history,
        "waiting": [(one.number, one.digest, one.documents) for one in change.waiting],
        "places": change.places,
        "documents": len(change.documents),
    }
    parts = [json.dumps(header, separators=(",", ":")).encode(), b"\n"]
    for one in change.documents:
        parts += write_document(one)
    return b"".join(parts)


def _read(data: bytes) -> JoinsChange:
    opened = BytesIO(data)
    header: dict[str, Any] = json.loads(opened.readline())
    try:
        return JoinsChange(
            Progress(**{each.name: int(header["progress"][each.name]) for each in fields(Progress)}),
            int(header["sequence"]),
            int(header["published"]),
            int(header["waits"]),
            {name: (list(columns[0]), list(columns[1])) for name, columns in header["history"].items()},
            tuple(SavedWait(int(one[0]), str(one[1]), tuple(one[2])) for one in header["waiting"]),
            tuple((int(number), int(sequence)) for number, sequence in header["places"]),
            tuple(read_document(opened) for _ in range(int(header["documents"]))),
        )
    except (KeyError, TypeError, IndexError) as error:
        raise ValueError(f"expected a change of joins: {error!r}") from None


class Journal:
    """Tells what changes in joins, from when it is made; and makes the same changes in others."""

    def __init__(self, joins: Joins) -> None:
        self.joins = joins
        joins.absences.added = []
        self._mark()

    def _mark(self) -> None:
        self._number, self._sequence = self.joins.arrivals.progress.number, self.joins.state.sequence
        self.joins.absences.added = []

    @cached_property
    def _digests(self) -> dict[Shape, str]:
        """What tells joins apart in any process; whoever keeps a journal does not change the queries."""
        return {each.shape: digest(each) for each in self.joins.registered.compiled()}

    def take(self) -> JoinsChange:
        """What has changed since it was asked last, or since the joins were made equal to others."""
        joins = self.joins
        added = [one for one in joins.absences.added or () if one[1].shape in self._digests]
        held = {one.sequence: one for one in joins.state.since(self._sequence)}
        held.update((one.sequence, one) for each in added for one in each[2] if one.sequence >= self._sequence)
        placed = [held[sequence] for sequence in sorted(held)]
        arriving = [Numbered(one.document, one.timestamp, -1, one.number) for one in joins.arrivals.since(self._number)]
        come = [Numbered(*one.numbered)._replace(sequence=-1) for one in placed if one.arrival >= self._number]
        change = JoinsChange(
            replace(joins.arrivals.progress),
            joins.state.sequence,
            joins.published,
            joins.absences.number,
            joins.state.history.since(self._sequence),
            tuple(_saved(one, self._digests[one[1].shape]) for one in added),
            tuple((one.arrival, one.sequence) for one in placed),
            tuple(sorted(come + arriving, key=lambda one: one.arrival)),
        )
        self._mark()
        return change

    def apply(self, changes: Sequence[JoinsChange]) -> None:
        """Make changes that were made elsewhere, in joins that already are as they were before the first of them."""
        if not changes:
            return
        joins, last = self.joins, max(changes, key=lambda each: each.progress.number)
        whole = last.with_older([each for each in changes if each is not last])
        known = {one.number: Numbered(one.document, one.timestamp, -1, one.number) for one in joins.arrivals}
        known.update((one.arrival, one) for one in whole.documents)
        places = {number: sequence for number, sequence in whole.places if sequence >= self._sequence}
        joins.state.history.extend(whole.sequence, _behind(whole.history, self._sequence))
        held: dict[int, Held] = {}
        placed = sorted((sequence, number) for number, sequence in places.items() if number in known)
        for made, witnesses in joins.witness([known[number]._replace(sequence=at) for at, number in placed]):
            joins.joining.hold_again(made, witnesses)
            held.update((one.arrival, one) for one in made)
        self._wait_again(whole, held)
        joins.published = whole.published
        waiting = [one for one in known.values() if one.timestamp > whole.progress.watermark]
        joins.arrivals.restore(replace(whole.progress), joins.witness_waiting(waiting))
        self._mark()

    def _wait_again(self, whole: JoinsChange, held: dict[int, Held]) -> None:
        joins, known = self.joins, self.joins.absences.number
        shapes = {told: shape for shape, told in self._digests.items()} if whole.waiting else {}
        waiting = {one.number: one for one in whole.waiting if one.number >= known and one.digest in shapes}
        if any(number not in held for one in waiting.values() for number in one.documents):
            before = [one for _, documents in joins.absences for one in documents]
            held = {one.arrival: one for one in (*before, *joins.state)} | held
        waits = [
            (number, joins.queries.shared[shapes[one.digest]], tuple(held[each] for each in one.documents))
            for number, one in sorted(waiting.items())
            if all(each in held for each in one.documents)
        ]
        joins.absences.wait_again(waits, whole.waits, whole.progress.watermark)

    @property
    def came(self) -> int:
        """How many documents have come."""
        return self.joins.arrivals.progress.number

    @property
    def held(self) -> int:
        """About how many are needed."""
        return len(self.joins.state)

    def live(self) -> Live:
        """What is needed."""
        joins = self.joins
        placed = {one.arrival: one.sequence for one in joins.state}
        placed.update((one.arrival, one.sequence) for _, documents in joins.absences for one in documents)
        oldest = min(placed.values(), default=joins.state.sequence)
        return Live({*placed, *(one.number for one in joins.arrivals)}, joins.absences.numbers(), oldest)

    def write(self, change: JoinsChange) -> bytes:
        """A line of JSON, and then the documents."""
        return _write(change)

    def read(self, data: bytes) -> JoinsChange:
        """The change that was written; raises ValueError for what is not one."""
        return _read(data)


def _saved(one: NumberedWait, digest: str) -> SavedWait:
    return SavedWait(one[0], digest, tuple(each.arrival for each in one[2]))


def _from(columns: tuple[list[int], list[int]], oldest: int) -> tuple[list[int], list[int]]:
    first = next((at for at, sequence in enumerate(columns[0]) if sequence >= oldest), len(columns[0]))
    return columns[0][first:], columns[1][first:]


def _behind(history: SavedHistory, sequence: int) -> SavedHistory:
    found = {name: _from(columns, sequence) for name, columns in history.items()}
    return {name: columns for name, columns in found.items() if columns[0]}


def _sorted(columns: tuple[list[int], list[int]]) -> tuple[list[int], list[int]]:
    """Each document once, in order."""
    rows = sorted(set(zip(*columns, strict=True)))
    return [one for one, _ in rows], [one for _, one in rows]
