"""Witnesses and queries in, the paper's relations as DuckDB tables out.

All columns but readings are integers; timestamps and window lengths are nanoseconds. Relations whose names end in W
have the current batch, those without it what was before. A batch may have several documents, so the former have a docid
too, which the paper leaves out. Both have the document's timestamp, so that windows need no join with R_docTS.

    R_bin   docid, var1, var2, node1, node2, timestamp    var2's node is reached from var1's; unary: both are the same
    R_doc   docid, node, strval                           the value of a node; NULL where nobody asks for it
    R_docTS docid, timestamp
    R_val   strval, number, instant                       what values are; only those that are one of the two
    R_Ti    qid, var1 … varn, wl, either                  the queries of a template; `either`: JOIN, not FOLLOWED BY
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import gettempdir
from typing import Any

import duckdb

_BIN = {
    "docid": "BIGINT",
    "var1": "BIGINT",
    "var2": "BIGINT",
    "node1": "BIGINT",
    "node2": "BIGINT",
    "timestamp": "BIGINT",
}
_DOC = {"docid": "BIGINT", "node": "BIGINT", "strval": "BIGINT"}
_TIMES = {"docid": "BIGINT", "timestamp": "BIGINT"}
_TABLES = {
    "R_bin": _BIN,
    "R_binW": _BIN,
    "R_doc": _DOC,
    "R_docW": _DOC,
    "R_docTS": _TIMES,
    "R_docTSW": _TIMES,
    "R_val": {"strval": "BIGINT", "number": "DOUBLE", "instant": "DOUBLE"},
}


@dataclass(frozen=True, slots=True)
class WitnessReading:
    """A coded value as a number and as an instant (both in any unit, but always the same one); None: it is none."""

    strval: int
    number: float | None
    instant: float | None


@dataclass(frozen=True, slots=True)
class WitnessRows:
    """What the first stage has found in a document."""

    docid: int
    timestamp: int
    stream: str
    bindings: tuple[tuple[int, int, int, int], ...]  # var1, var2, node1, node2
    values: tuple[tuple[int, int | None], ...]  # node, strval
    readings: tuple[WitnessReading, ...] = ()  # of the values that inequalities may meet


class Relations:
    """The tables, in a database of their own."""

    def __init__(self) -> None:
        # What does not fit into memory would go to the current folder otherwise.
        spill = str(Path(gettempdir()) / "weft-duckdb")
        self.connection: Any = duckdb.connect(":memory:", config={"temp_directory": spill})
        # CQ_T's text has the order that is good, R_T last. The statistics of R_T would tempt DuckDB to begin with it.
        self.connection.execute("SET disabled_optimizers = 'join_order'")
        self._kinds: dict[str, list[str]] = {}  # the types of each table's columns
        for name, columns in _TABLES.items():
            self._create(name, columns)
        self._read: set[int] = set()  # the values that R_val has

    def add_template(self, name: str, nodes: int, rows: Sequence[tuple[Any, ...]]) -> None:
        """R_T of a template with so many nodes."""
        variables = {f"var{node + 1}": "BIGINT" for node in range(nodes)}
        self._create(name, {"qid": "BIGINT", **variables, "wl": "BIGINT", "either": "BOOLEAN"})
        self.insert(name, rows)

    def load(self, batch: Sequence[WitnessRows]) -> None:
        """The current batch as R_binW, R_docW and R_docTSW, in place of the last one."""
        for name in ("R_binW", "R_docW", "R_docTSW"):
            self.connection.execute(f"DELETE FROM {name}")
        self.insert("R_binW", [(one.docid, *row, one.timestamp) for one in batch for row in one.bindings])
        self.insert("R_docW", [(one.docid, *row) for one in batch for row in one.values])
        self.insert("R_docTSW", [(one.docid, one.timestamp) for one in batch])
        readings = {reading.strval: reading for one in batch for reading in one.readings}
        new = [reading for strval, reading in readings.items() if strval not in self._read]
        self._read.update(reading.strval for reading in new)
        self.insert("R_val", [(reading.strval, reading.number, reading.instant) for reading in new])

    def maintain(self) -> None:
        """Algorithm 2: the current batch becomes part of the state."""
        for name in ("R_bin", "R_doc", "R_docTS"):
            self.connection.execute(f"INSERT INTO {name} SELECT * FROM {name}W")

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """What a query gives."""
        found: list[tuple[Any, ...]] = self.connection.execute(query).fetchall()
        return found

    def insert(self, name: str, rows: Iterable[tuple[Any, ...]]) -> None:
        """Add rows to a table. Columns as lists: one statement however many rows there are."""
        columns = [list(column) for column in zip(*rows, strict=True)]
        if columns:
            lists = ", ".join(f"unnest(${at + 1}::{kind}[])" for at, kind in enumerate(self._kinds[name]))
            self.connection.execute(f"INSERT INTO {name} SELECT {lists}", columns)

    def _create(self, name: str, columns: dict[str, str]) -> None:
        self.connection.execute(f"CREATE TABLE {name} ({', '.join(f'{key} {kind}' for key, kind in columns.items())})")
        self._kinds[name] = list(columns.values())
