"""Typed rows in, columns of Arrow out; and the columns of several subscriptions as one struct."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from weft.broker.destinations import Message
from weft.broker.typed import ColumnKind, TypedColumn
from weft.errors import ConfigurationError

_TYPES: dict[ColumnKind, pa.DataType] = {
    "string": pa.string(),
    "number": pa.float64(),
    "boolean": pa.bool_(),
    "count": pa.int64(),
    "integer": pa.int64(),
    "decimal": pa.decimal128(38, 18),
    "date": pa.date32(),
    "dateTime": pa.timestamp("us", "UTC"),
}


def as_table(messages: Iterable[Message], subscription: str | None = None) -> pa.Table:
    """The typed rows of messages, of one subscription if it is named: a column `document`, and those of the rows.

    Messages without columns are passed over.
    """
    documents: list[str] = []
    rows: list[Mapping[str, Any]] = []
    known: dict[str, TypedColumn] = {}
    for message in messages:
        if message.columns is None or subscription not in (None, message.subscription):
            continue
        known = merged([tuple(known.values()), message.columns.columns])
        documents += [message.document] * len(message.columns)
        rows += message.columns.rows
    made = {name: pa.array([row.get(name) for row in rows], arrow_type(column)) for name, column in known.items()}
    return pa.table({"document": pa.array(documents, pa.string()), **made})


def arrow_type(column: TypedColumn) -> pa.DataType:
    """What Arrow calls the values of a column."""
    return pa.list_(_TYPES[column.kind]) if column.is_list else _TYPES[column.kind]


def merged(several: Iterable[Sequence[TypedColumn]]) -> dict[str, TypedColumn]:
    """The columns of several subscriptions by name; raises ConfigurationError where one name has two types."""
    found: dict[str, TypedColumn] = {}
    for columns in several:
        for column in columns:
            before = found.setdefault(column.name, column)
            if before.type != column.type:
                raise ConfigurationError(
                    f"columns: expected one type for {column.name!r}, found {before.kind} and {column.kind}"
                )
    return found


def struct_type(columns: Mapping[str, TypedColumn]) -> pa.StructType:
    """A struct with all of some columns."""
    return pa.struct([pa.field(name, arrow_type(column)) for name, column in columns.items()])
