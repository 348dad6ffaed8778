"""Parquet files of a batch in, one transaction of a Delta table out: a batch that runs again is there once.

The files lie in the table's folder already, and the transaction only names them. It also says up to which batch this
run has written (Delta's application transactions), so a batch that is there is never added again, however old it is.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
from deltalake import CommitProperties, DeltaTable, Schema, Transaction, write_deltalake
from deltalake.transaction import AddAction, create_table_with_add_actions


def is_committed(folder: Path, run: str, batch: int) -> bool:
    """Whether a batch of a run is in the table."""
    if not DeltaTable.is_deltatable(str(folder)):
        return False
    version = DeltaTable(folder).transaction_version(run)
    return version is not None and version >= batch


def commit(folder: Path, run: str, batch: int) -> None:
    """Add what Spark has written into `batch=N` to the table, unless it is there already."""
    files = sorted((folder / f"batch={batch}").glob("*.parquet"))
    if not files or is_committed(folder, run, batch):
        return
    schema, actions = pq.read_schema(files[0]).remove_metadata(), [_added(folder, file) for file in files]
    told = {"weft.batch": str(batch)}
    properties = CommitProperties(app_transactions=[Transaction(run, batch)], custom_metadata=told)
    if not DeltaTable.is_deltatable(str(folder)):
        whole = Schema.from_arrow(_nullable(schema))
        create_table_with_add_actions(str(folder), whole, actions, commit_properties=properties)
        return
    table = _with_columns(folder, schema)
    table.create_write_transaction([*actions], "append", table.schema(), commit_properties=properties)


def read_table(folder: Path, subscription: str | None) -> Iterator[dict[str, Any]]:
    """The rows of a table, batch by batch."""
    if not DeltaTable.is_deltatable(str(folder)):
        return
    wanted = None if subscription is None else ds.field("subscription") == subscription
    files = sorted(DeltaTable(folder).file_uris(), key=lambda file: (_batch(file), file))
    for file in files:
        for part in ds.dataset(file, format="parquet").to_batches(filter=wanted):
            yield from part.to_pylist()


def _with_columns(folder: Path, schema: pa.Schema) -> DeltaTable:
    """The table, with the columns that are new in a batch; a column whose type is another one is refused by Delta."""
    table = DeltaTable(folder)
    known = pa.schema(table.schema().to_arrow())
    if any(field.name not in known.names or known.field(field.name).type != field.type for field in schema):
        write_deltalake(table, _nullable(schema).empty_table(), mode="append", schema_mode="merge")
        table = DeltaTable(folder)
    return table


def _nullable(schema: pa.Schema) -> pa.Schema:
    return pa.schema([field.with_nullable(True) for field in schema])


def _added(folder: Path, file: Path) -> AddAction:
    status = file.stat()
    stats = json.dumps({"numRecords": pq.read_metadata(file).num_rows})
    return AddAction(str(file.relative_to(folder)), status.st_size, {}, int(status.st_mtime * 1000), True, stats)


def _batch(file: str) -> int:
    return int(Path(file).parent.name.partition("=")[2] or 0)
