"""What a shard of a stream's joins gets in a micro-batch in, messages out: its state is kept by Spark.

Spark keeps what each batch changed (`weft.joins.changes`), in RocksDB, and a checkpoint writes no more than that. What
is made of it, an engine with all that is held, stays in the worker's memory from one batch to the next. A worker that
has an older one takes over what others have changed since; one that has none, or one of a batch that did not end
well, makes it anew of the state. So a batch that runs again makes the same messages.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from hashlib import blake2b
from typing import Any
from uuid import uuid4

from pyspark.sql import Row
from pyspark.sql.streaming.stateful_processor import MapState, StatefulProcessor, StatefulProcessorHandle, ValueState

from weft.broker.answers import portions
from weft.documents.document import Document
from weft.documents.moment import END, START, exact_seconds
from weft.errors import ConfigurationError
from weft.joins.changes import ChangeLog
from weft.joins.journal import JoinsChange, Journal
from weft.joins.pair_change import PairChange
from weft.joins.pair_store import PairStore
from weft.joins.pair_ways import Come
from weft.spark.compiled import Compiled, unpack_joins
from weft.spark.joins_plans import CompiledJoins
from weft.spark.joins_worker import MESSAGES, Gather, WrittenRow, pair_rows, shown_id

_LOG = logging.getLogger(__name__)
_STORED = "number bigint", "value binary"
_AT_ONCE = 1_000  # candidates that are decided at once, at most


class SparkStore:
    """Bytes by their numbers, in Spark's state. `token` tells one history of them from another."""

    def __init__(self, state: MapState) -> None:
        self._state = state

    def get(self, number: int) -> bytes | None:
        """What is there."""
        found = self._state.getValue((number,))
        return None if found is None else bytes(found[0])

    def put(self, number: int, data: bytes) -> None:
        """Keep something."""
        self._state.updateValue((number,), (data,))

    def remove(self, number: int) -> None:
        """Let it go."""
        self._state.removeKey((number,))

    def all(self) -> Iterable[tuple[int, bytes]]:
        """All there is."""
        return [(int(key[0]), bytes(value[0])) for key, value in self._state.iterator()]


@dataclass(frozen=True, slots=True)
class Head:
    """Where a shard's state is: whose it is, how many changes there have been, what they were, and of which plans."""

    state: str
    shards: int
    next: int
    token: str
    plans: str


@dataclass(slots=True)
class Working:
    """What a worker makes of a shard's state."""

    head: Head
    pairs: PairStore
    pair_changes: ChangeLog[PairChange]
    journal: Journal
    changes: ChangeLog[JoinsChange]


#: By the state and the shard.
_working: dict[tuple[str, int], Working] = {}


class ShardProcessor(StatefulProcessor):
    """The joins of a stream, shard by shard."""

    def __init__(self, compiled: Compiled, keys: tuple[int, ...], lateness: int) -> None:
        assert compiled.joins is not None
        self._joins: CompiledJoins = compiled.joins
        self._gather = Gather(compiled, compiled.joins)
        self._keys, self._lateness, self._version = keys, lateness, compiled.version

    def init(self, handle: StatefulProcessorHandle) -> None:
        """The state: where it is, since when subscriptions are there, changes, and the sources for pairs."""
        self._head: ValueState = handle.getValueState("head", "value string")
        self._since: ValueState = handle.getValueState("since", "value string")
        self._changes = SparkStore(handle.getMapState("changes", *_STORED))
        self._pair_changes = SparkStore(handle.getMapState("pairs", *_STORED))
        self._sources = SparkStore(handle.getMapState("documents", *_STORED))

    def handleInputRows(self, key: Any, rows: Iterator[Row], timerValues: Any) -> Iterator[Row]:  # noqa: ARG002
        """The messages of a batch."""
        shard, given = self._keys.index(key[0]), list(rows)
        found = self._head.get()
        head = None if found is None else Head(**json.loads(found[0]))
        if head is not None and head.shards != len(self._keys):
            raise ConfigurationError(
                f"joins: expected {head.shards} shards, as when the stream began, found {len(self._keys)}; set "
                f"spark.sql.shuffle.partitions as it was"
            )
        working = self._taken_over(shard, head) or self._begun(shard, head)
        made = list(self._messages(working, given))
        self._write(shard, working)
        return iter(made)

    # -- what is in memory

    def _taken_over(self, shard: int, head: Head | None) -> Working | None:
        """What this worker has of the state, with what others have changed since; nothing where that is not sure."""
        working = None if head is None else _working.pop((head.state, shard), None)
        if working is None or head is None or working.head.plans != head.plans or head.plans != self._joins.digest:
            return None
        mine = working.head
        if mine.next > head.next or self._token(mine.next, head) != mine.token:
            return None
        both = (working.changes, self._changes), (working.pair_changes, self._pair_changes)
        if not all(changes.catch_up(store, head.next) for changes, store in both):
            return None
        working.head, working.pairs.sources = head, self._sources  # of this task
        return working

    def _token(self, number: int, head: Head) -> str | None:
        """What the state was at a step, as far as that is still known."""
        if number == head.next:
            return head.token
        found = [store.get(number - 1) for store in (self._changes, self._pair_changes)]
        return None if None in found else _token_of(*(each for each in found if each is not None))

    def _begun(self, shard: int, head: Head | None) -> Working:
        """All that is in the state, made anew; subscriptions that are new see what comes from now on."""
        plans = unpack_joins(self._joins)
        upto = 0 if head is None else head.next
        head = head or Head(uuid4().hex, len(self._keys), 0, "", "")
        found = self._since.get()
        since: dict[str, list[int]] = {} if found is None else json.loads(found[0])
        pairs = PairStore(plans.pairs, self._sources, self._lateness)
        journal = Journal(plans.joins_of(shard, len(self._keys), self._lateness))
        changes = ChangeLog(journal, self._changes, upto)
        pair_changes = ChangeLog(pairs, self._pair_changes, upto)
        now = [journal.came, upto]
        numbers = [*plans.pairs, *journal.joins.registered]
        told = {plans.identities[number]: since.get(plans.identities[number], now) for number in numbers}
        for number in journal.joins.registered:
            journal.joins.registered.set_since(number, told[plans.identities[number]][0])
        plans.pairs.see_since({number: told[plans.identities[number]][1] for number in plans.pairs})
        if told != since:
            self._since.update((json.dumps(told),))
        return Working(head, pairs, pair_changes, journal, changes)

    # -- a batch

    def _messages(self, working: Working, rows: list[Row]) -> Iterator[Row]:
        plans = unpack_joins(self._joins)
        latest = max((row.nanoseconds for row in rows if row.document is None), default=START)
        documents = sorted(
            (row for row in rows if row.document is not None), key=lambda row: (row.nanoseconds, tuple(row.arrival))
        )
        if late := sum(row.nanoseconds < working.pairs.watermark for row in documents):
            _LOG.warning("documents that came later than the lateness allows, and are not joined: %d", late)
        come = [
            Come(_document(row), row.variables, row["keys"], row.kept) for row in documents if row.variables is not None
        ]
        for some in portions(working.pairs.take_in(come, working.head.next), lambda _: 1, _AT_ONCE, _AT_ONCE):
            yield from self._rows(pair_rows(plans, some))
        working.pairs.advance(latest)
        until = latest if latest in (START, END) else latest - self._lateness
        ordered = (_document(row) for row in documents if row.ordered)
        yield from self._rows(self._gather.rows(working.journal.joins, ordered, until))

    def _rows(self, messages: Iterable[WrittenRow]) -> Iterator[Row]:
        plans = unpack_joins(self._joins)
        for each in messages:
            id, destination = plans.ids[each.number].as_py(), plans.destinations[each.number].as_py()
            documents = [shown_id(document) for document in each.documents]
            columns = id, destination, each.text, each.position, self._version, documents, each.timestamp
            yield Row(**dict(zip(MESSAGES.names, columns, strict=True)))

    def _write(self, shard: int, working: Working) -> None:
        written = working.changes.write(self._changes), working.pair_changes.write(self._pair_changes)
        head = working.head
        working.head = Head(head.state, head.shards, working.changes.next, _token_of(*written), self._joins.digest)
        self._head.update((json.dumps(asdict(working.head)),))
        _working[head.state, shard] = working

    def close(self) -> None:
        """Nothing."""


def _document(row: Row) -> Document:
    data = bytes(row.value) if isinstance(row.value, bytearray) else row.value
    return Document(data, row.document, row.stream, exact_seconds(row.nanoseconds))


def _token_of(*changes: bytes) -> str:
    """What tells a step from others that might have been in its place."""
    told = blake2b(digest_size=16)
    for change in changes:
        told.update(change)
    return told.hexdigest()
