"""Columns of a subscription in, a plan whose messages have a row for each node, and these as typed rows, out."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal, InvalidOperation
from math import isnan
from typing import Any, Literal, cast, get_args

from lxml import etree

from weft.errors import ConfigurationError
from weft.languages import Plan
from weft.languages.xquery.columns import with_columns
from weft.plans.event_times import event_time
from weft.plans.flwr import Flwr
from weft.plans.instants import instant
from weft.plans.lone_query import LoneQuery
from weft.plans.numbers import number
from weft.plans.xscl import Xscl

#: What a column has: of the first node that its path leads to, or of each, as a list.
ColumnKind = Literal["string", "number", "boolean", "count", "integer", "decimal", "date", "dateTime"]
#: A path, such as "@id" or "number(total)"; in a list of one: all nodes.
ColumnText = str | Sequence[str]
_WRITTEN = re.compile(
    r"\s*(?:xs:)?(string|number|boolean|count|integer|decimal|date|dateTime)\s*\((.*)\)\s*", re.DOTALL
)
_TEXTS = re.compile(r"(?:^|/)\s*(?:text|node)\s*\(\s*\)")
_STRING = etree.XPath("string()")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DIGITS, _SCALE = 38, 18  # of a decimal


@dataclass(frozen=True, slots=True)
class TypedColumn:
    """A column by its name, the type of its values, and the expression on `$node` that gives them."""

    name: str
    kind: ColumnKind
    expression: str
    is_list: bool = False

    @property
    def type(self) -> tuple[ColumnKind, bool]:
        """What tells columns of one name apart."""
        return self.kind, self.is_list


@dataclass(frozen=True, slots=True)
class TypedRows(Sequence[Mapping[str, Any]]):
    """What a subscription with columns tells of one document: a row for each node."""

    columns: tuple[TypedColumn, ...]
    rows: tuple[dict[str, Any], ...]

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, at: Any) -> Any:
        return self.rows[at]

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        return iter(self.rows)

    @property
    def texts(self) -> tuple[str, ...]:
        """Each row as JSON."""
        return tuple(json.dumps(row, ensure_ascii=False, default=_as_json) for row in self.rows)


def columns_of(given: Mapping[str, ColumnText]) -> tuple[TypedColumn, ...]:
    """The columns of a subscription; raises ConfigurationError for what is none.

    >>> [(each.name, each.kind, each.expression) for each in columns_of({"id": "@id", "total": "number(total)"})]
    [('id', 'string', '$node/@id'), ('total', 'number', '$node/total')]
    """
    return tuple(_column(name, text) for name, text in given.items())


def typed_plan(
    plan: Plan, columns: Sequence[TypedColumn], namespaces: Mapping[str, str], ignore_namespaces: bool
) -> Flwr:
    """The plan of a subscription that returns columns instead of XML."""
    if isinstance(plan, Flwr | LoneQuery | Xscl):
        raise ConfigurationError("columns: expected a query that selects nodes, found one that builds messages")
    asked = [(each.name, each.expression) for each in columns]
    return with_columns(plan, asked, namespaces, ignore_namespaces)


def typed_rows(columns: tuple[TypedColumn, ...], message: str) -> TypedRows:
    """The rows of a message of such a plan."""
    parser = etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=True)
    rows = etree.fromstring(message, parser)
    return TypedRows(columns, tuple(_row(columns, row) for row in rows))


# -- reading columns


def _column(name: str, text: ColumnText) -> TypedColumn:
    is_list = not isinstance(text, str)
    given = text if isinstance(text, str) else text[0] if len(text) == 1 else None
    if not isinstance(name, str) or not name or not isinstance(given, str) or not given.strip():
        raise ConfigurationError(
            f"columns: expected a name and a path, or a list of one path, found {name!r}: {text!r}"
        )
    kind, path = "string", given.strip()
    if (written := _WRITTEN.fullmatch(given)) is not None:
        kind, path = written[1], written[2].strip()
    if _TEXTS.search(path) is not None:
        raise ConfigurationError(
            f"column {name!r}: expected an element or an attribute, found {path!r}; its value is its text"
        )
    if is_list and (kind in ("count", "boolean") or "@" in path.rpartition("/")[2]):
        raise ConfigurationError(f"column {name!r}: expected a path to elements in a list, found {given!r}")
    if path.startswith("/"):
        raise ConfigurationError(f"column {name!r}: expected a path from the node, such as .{path}, found {path!r}")
    expression = _on_node(path)
    if kind in ("count", "boolean"):
        expression = f"count({expression})"
    assert kind in get_args(ColumnKind)
    return TypedColumn(name, cast(ColumnKind, kind), expression, is_list)


def _on_node(path: str) -> str:
    """A path from the node as FLWR writes it."""
    if path == ".":
        return "$node"
    if path.startswith("."):
        return f"$node{path[1:]}" if path.startswith("./") else f"$node/{path}"
    return f"$node/{path}"


# -- reading rows


def _row(columns: tuple[TypedColumn, ...], row: Any) -> dict[str, Any]:
    return {column.name: _cell(column, cell) for column, cell in zip(columns, row, strict=True)}


def _cell(column: TypedColumn, cell: Any) -> Any:
    """The value of a column; None where there is no node, or its text is not of the type."""
    if column.kind in ("count", "boolean"):
        many = int(cell.text)
        return many if column.kind == "count" else many > 0
    if len(cell):
        texts = [str(_STRING(child)) for child in cell]
    elif cell.attrib:
        texts = [str(next(iter(cell.attrib.values())))]
    else:
        texts = []
    if column.is_list:
        return [_value(column.kind, text) for text in texts]
    return _value(column.kind, texts[0]) if texts else None


def _value(kind: ColumnKind, text: str) -> Any:
    match kind:
        case "string":
            return text
        case "number":
            value = number(text)
            return None if isnan(value) else value
        case "integer":
            return _integer(text)
        case "decimal":
            return _decimal(text)
        case "date":
            found = instant(text)
            days = found.seconds // 86_400 if found is not None and found.type == "date" else None
            return None if days is None or not -700_000 < days < 2_900_000 else date(1970, 1, 1) + timedelta(days=days)
        case _:
            moment = event_time(text)
            try:
                return None if moment is None else _EPOCH + timedelta(microseconds=moment // 1000)
            except OverflowError:
                return None


def _integer(text: str) -> int | None:
    try:
        value = int(text) if text.strip().isascii() and "_" not in text else None
    except ValueError:
        return None
    return value if value is not None and -(2**63) <= value < 2**63 else None


def _decimal(text: str) -> Decimal | None:
    """A number to eighteen places behind the point; more of them, or more than twenty before it, are none."""
    try:
        value = Decimal(text.strip())
    except InvalidOperation:
        return None
    if not text.isascii() or not value.is_finite() or value.adjusted() >= _DIGITS - _SCALE:
        return None
    rounded = value.quantize(Decimal(1).scaleb(-_SCALE)) if value.as_tuple().exponent < -_SCALE else value  # type: ignore[operator]
    return rounded if rounded == value else None


def _as_json(value: object) -> object:
    if isinstance(value, datetime):
        return value.isoformat().replace("+00:00", "Z")
    return value.isoformat() if isinstance(value, date) else str(value)
