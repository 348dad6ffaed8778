"""Documents of a micro-batch in, what each shard of a stream's joins gets of them out.

A *shard* has a part of the state. Of pairs each shard keeps some documents, whatever their values, and is asked about
all that come: so no value is too hot for one. A query that needs documents in their order has one shard, which gets
what the query asks for. All shards are told how far time has come.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from zlib import crc32

import numpy as np
import pyarrow as pa

from weft.broker.answers import chunks
from weft.columns.integers import Longs
from weft.documents.build import read
from weft.documents.table import NodeTable
from weft.joins.joins import Joins
from weft.joins.match.confined import read_confined
from weft.spark.compiled import unpack_joins
from weft.spark.joins_plans import CompiledJoins, JoinPlans
from weft.spark.joins_worker import documents_of_batch

MOST_SHARDS = 16  # all are asked about each document, and the masks of gathered queries have as many bits
_NONE = np.zeros(0, np.int64)
_ROUTE = (
    pa.field("shard", pa.int32()),
    pa.field("ordered", pa.bool_()),  # for the queries that need documents in their order
    pa.field("kept", pa.bool_()),  # here, to be joined in pairs
    pa.field("variables", pa.list_(pa.int32())),
    pa.field("keys", pa.list_(pa.int64())),
)


def routed_schema(documents: pa.Schema) -> pa.Schema:
    """Rows of documents with what shards must know; a row without a document tells how far time has come."""
    return pa.schema([*(field.with_nullable(True) for field in documents), *_ROUTE])


@dataclass(frozen=True, slots=True)
class Route:
    """The function for `mapInArrow` that gives each shard what it needs."""

    joins: CompiledJoins
    keys: tuple[int, ...]  # of the shards
    schema: pa.Schema

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """For each document a row for each shard that needs it."""
        plans = unpack_joins(self.joins)
        asking = _asking(self.joins, len(self.keys)) if plans.plans else None
        latest: int | None = None
        for batch in batches:
            times = batch.column("nanoseconds").to_pylist()
            latest = max(times if latest is None else [latest, *times], default=None)
            rows = _RoutedRows(self.keys)
            for chunk in chunks(documents_of_batch(batch, by_row=True)):
                table = read(chunk, plans.limits)
                at = [int(document.id) for document in table.documents]
                ordered = asking.masks(table, plans) if asking is not None else np.zeros(len(at), np.int64)
                rows.add(batch, at, ordered, _values(table, plans))
            yield rows.batch(batch, self.schema)
        if latest is not None:
            yield self._time(latest)

    def _time(self, latest: int) -> pa.RecordBatch:
        size = len(self.keys)
        told = {"nanoseconds": [latest] * size, "shard": self.keys}
        columns = [pa.array(told.get(field.name, [None] * size), field.type) for field in self.schema]
        return pa.RecordBatch.from_arrays(columns, schema=self.schema)


def _values(table: NodeTable, plans: JoinPlans) -> dict[int, tuple[list[int], list[int]]]:
    """The variables and values that each document has for pairs, by its place."""
    found: dict[int, tuple[list[int], list[int]]] = {}
    for place, variable, key in zip(*(column.tolist() for column in plans.pairs.occurrences(table)), strict=True):
        variables, keys = found.setdefault(place, ([], []))
        variables.append(variable)
        keys.append(key)
    return found


class _RoutedRows:
    """Rows as they are made: which document of the batch, and what its shard must know."""

    def __init__(self, keys: tuple[int, ...]) -> None:
        self._keys = keys
        self._at: list[int] = []
        self._columns: list[list[object]] = [[] for _ in _ROUTE]

    def add(
        self, batch: pa.RecordBatch, at: list[int], ordered: Longs, values: dict[int, tuple[list[int], list[int]]]
    ) -> None:
        names = batch.column("document")
        for place, (row, mask) in enumerate(zip(at, ordered.tolist(), strict=True)):
            variables, keys = values.get(place, (None, None))
            home = crc32(names[row].as_py().encode()) % len(self._keys)
            for shard, key in enumerate(self._keys):
                is_ordered = bool(mask >> shard & 1)
                if is_ordered or keys is not None:
                    self._at.append(row)
                    for column, value in zip(
                        self._columns, (key, is_ordered, shard == home, variables, keys), strict=True
                    ):
                        column.append(value)

    def batch(self, documents: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
        taken = documents.take(pa.array(self._at, pa.int64()))
        added = [pa.array(column, field.type) for column, field in zip(self._columns, _ROUTE, strict=True)]
        return pa.RecordBatch.from_arrays([*taken.columns, *added], schema=schema)


class _ShardMasks:
    """The gathered queries: which shards ask for a document, as bits."""

    def __init__(self, plans: JoinPlans, shards: int) -> None:
        self._joins: Joins = plans.joins()
        everywhere = [shard for shard in range(shards) if plans.needs_all(shard, shards)]
        self._always = sum(1 << shard for shard in everywhere)
        self._all = sum({1 << home % shards for home in plans.homes.values()})
        self._of_variable: dict[int, int] = {}
        for number, asked in self._joins.registered.asked():
            for each in asked:
                self._of_variable[each] = self._of_variable.get(each, 0) | 1 << plans.homes[number] % shards

    def masks(self, table: NodeTable, plans: JoinPlans) -> Longs:
        """For each document of a batch."""
        found = np.full(len(table.documents), self._always, np.int64)
        if self._always == self._all:
            return found
        first = read_confined(self._joins.stage, table, plans.limits)
        pairs = np.unique(np.stack([first.witnesses.document, first.witnesses.variable]), axis=1)
        masks = np.array([self._of_variable.get(each, 0) for each in pairs[1].tolist()], np.int64)
        np.bitwise_or.at(found, pairs[0], masks)
        for place, _ in (*first.refused, *first.rejected):  # where they are joined it is told why
            found[place] = self._all
        self._joins.stage.values.keep(_NONE)
        return found


_known: dict[tuple[str, int], _ShardMasks] = {}


def _asking(joins: CompiledJoins, shards: int) -> _ShardMasks:
    """Worked out once in a process, while the subscriptions are the same."""
    key = joins.digest, shards
    if key not in _known:
        _known.clear()
        _known[key] = _ShardMasks(unpack_joins(joins), shards)
    return _known[key]
