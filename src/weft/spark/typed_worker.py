"""What documents bring to subscriptions with columns in, a row for each node, typed and as JSON, out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from weft.broker.typed import TypedColumn, typed_rows
from weft.engine.deliveries import Deliveries

#: The column with the values of all subscriptions that have columns.
COLUMNS = "columns"


class TypedRow(NamedTuple):
    """A node: its document's place, its subscription, its position, its values as JSON, and as they are."""

    place: int
    subscription: int
    position: int
    text: str
    values: dict[str, Any]


def parted(rows: Deliveries, typed: Mapping[int, tuple[TypedColumn, ...]]) -> tuple[Deliveries, Iterator[TypedRow]]:
    """The rows of subscriptions without columns, and those of the others one by one."""
    if not typed:
        return rows, iter(())
    is_typed = np.isin(rows.subscription, np.fromiter(typed, np.int32, len(typed)))
    if not is_typed.any():
        return rows, iter(())
    return _some(rows, np.flatnonzero(~is_typed)), _typed(_some(rows, np.flatnonzero(is_typed)), typed)


def _some(rows: Deliveries, which: Any) -> Deliveries:
    return Deliveries(rows.document[which], rows.subscription[which], rows.text.take(which))


def _typed(rows: Deliveries, typed: Mapping[int, tuple[TypedColumn, ...]]) -> Iterator[TypedRow]:
    columns = rows.document.tolist(), rows.subscription.tolist(), rows.text
    for place, number, message in zip(*columns, strict=True):
        told = typed_rows(typed[number], message)
        for position, (text, values) in enumerate(zip(told.texts, told.rows, strict=True), start=1):
            yield TypedRow(place, number, position, text, values)
