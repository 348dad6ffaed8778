"""Shards of a stream's joins without Spark: what it routes to them, and states that can be kept, copied and lost."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql import Row

from weft import Document
from weft.spark import joins_state
from weft.spark.compiled import Compiled
from weft.spark.joins_shards import Route, routed_schema
from weft.spark.joins_state import ShardProcessor

SCHEMA = pa.schema(
    {
        "document": pa.string(),
        "stream": pa.string(),
        "nanoseconds": pa.int64(),
        "value": pa.binary(),
        "arrival": pa.struct({"document": pa.string()}.items()),
    }.items()
)
MadeRow = tuple[str, tuple[str, ...], str]


class Value:
    """Spark's ValueState."""

    def __init__(self) -> None:
        self.kept: Any = None

    def get(self) -> Any:
        return self.kept

    def update(self, value: Any) -> None:
        self.kept = pickle.loads(pickle.dumps(value))


class Map:
    """Spark's MapState, and how many bytes have been written to it."""

    def __init__(self) -> None:
        self.kept: dict[Any, Any] = {}
        self.written = 0

    def getValue(self, key: Any) -> Any:
        return self.kept.get(key)

    def updateValue(self, key: Any, value: Any) -> None:
        self.kept[key] = value
        self.written += len(value[0])

    def removeKey(self, key: Any) -> None:
        self.kept.pop(key, None)

    def iterator(self) -> Iterator[Any]:
        return iter(list(self.kept.items()))


class Handle:
    """Spark's state of one shard."""

    def __init__(self) -> None:
        self.states: dict[str, Any] = {}

    def getValueState(self, name: str, *_: Any) -> Any:
        return self.states.setdefault(name, Value())

    def getMapState(self, name: str, *_: Any) -> Any:
        return self.states.setdefault(name, Map())

    @property
    def written(self) -> int:
        return sum(state.written for state in self.states.values() if isinstance(state, Map))


class Workers:
    """Processes that have each their own memory of shards."""

    def __init__(self) -> None:
        self._memories: dict[str, dict[Any, Any]] = {}

    def use(self, name: str) -> None:
        joins_state._working = self._memories.setdefault(name, {})


class ShardRun:
    """A stream's joins, batch by batch."""

    def __init__(self, compiled: Compiled, keys: Sequence[int] = (10, 20), lateness: int = 0) -> None:
        self.compiled, self._keys, self._lateness = compiled, tuple(keys), lateness
        self.handles = {key: Handle() for key in keys}
        self.workers = Workers()

    def batch(self, documents: Sequence[Document], worker: str = "a") -> list[MadeRow]:
        """The messages of a batch; what fails leaves the states as they were."""
        joins = self.compiled.joins
        assert joins is not None
        columns = {
            "document": [f"{each.id}\0{each.stream}" for each in documents],
            "stream": [each.stream for each in documents],
            "nanoseconds": [each.nanoseconds for each in documents],
            "value": [each.data.encode() if isinstance(each.data, str) else each.data for each in documents],
            "arrival": [{"document": each.id} for each in documents],
        }
        route = Route(joins, self._keys, routed_schema(SCHEMA))
        rows = [
            Row(**{**row, "arrival": Row(**row["arrival"]) if row["arrival"] else None})
            for batch in route(iter([pa.RecordBatch.from_pydict(columns, schema=SCHEMA)]))
            for row in batch.to_pylist()
        ]
        self.workers.use(worker)
        after = {key: copy.deepcopy(handle) for key, handle in self.handles.items()}
        made: list[MadeRow] = []
        for key in self._keys:
            processor = pickle.loads(pickle.dumps(ShardProcessor(self.compiled, self._keys, self._lateness)))
            processor.init(after[key])
            given = [row for row in rows if row.shard == key]
            if given:
                found = processor.handleInputRows((key,), iter(given), None)
                made += [(row.subscription, tuple(row.documents), row.message) for row in found]
        self.handles = after
        return made
