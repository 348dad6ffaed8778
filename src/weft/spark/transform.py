"""Subscriptions in, functions for `DataFrame.transform` out: documents become messages, or get a column of matches."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from pyspark.sql import Column, DataFrame
from pyspark.sql.functions import col, lit
from pyspark.sql.pandas.types import from_arrow_type, to_arrow_schema
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    DataType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
)

from weft.broker.typed_arrow import struct_type
from weft.delivery.output import REJECTED, Mode, as_mode
from weft.documents.document import Limits
from weft.documents.dtd import Dtd
from weft.documents.schema import Schema
from weft.errors import ConfigurationError
from weft.headers.configuration import Configurations
from weft.optimizer.adapting import Retrieval
from weft.spark.clashes import without_clashes
from weft.spark.compiled import Compiled, Subscriptions, compile_subscriptions
from weft.spark.reloading import Reloaded
from weft.spark.typed_worker import COLUMNS
from weft.spark.worker import DeliverWorker, MatchWorker
from weft.spark.worker_documents import Layout

Transform = Callable[[DataFrame], DataFrame]
#: The column that tells why a document must not go on (see `admitted`).
FAULT = "_weft_fault"
_REJECTED = ("error", "line", "column", "source")  # what its column tells
_ADDED = (
    StructField("subscription", StringType()),
    StructField("destination", StringType()),
    StructField("message", StringType()),
    StructField("position", IntegerType()),
    StructField("version", IntegerType()),
)


def deliver_single(
    compiled: Compiled,
    column: str = "value",
    *,
    keys: Sequence[str] | None = None,
    id: str = "document",
    stream: str = "stream",
    mode: str = "PERMISSIVE",
    columnNameOfCorruptRecord: str = REJECTED,
    rowTag: str | None = None,
    header: str = "header",
    reload: Reloaded | None = None,
) -> Transform:
    """Make messages of single documents; what the options mean is told by `deliver` (see `delivering`)."""
    how = as_mode(mode)
    alone, name = _alone(compiled), _corrupt_column(how, columnNameOfCorruptRecord)

    def transform(frame: DataFrame) -> DataFrame:
        layout = _layout(frame, column, keys, id, stream, rowTag, header)
        return _deliver(frame, alone, layout, name, how, reload=reload)

    return transform


def added_names(compiled: Compiled, corrupt: str, row_tag: str | None) -> list[str]:
    """The columns that messages have beside those passed through."""
    more = [*(["row"] if row_tag else []), *([COLUMNS] if compiled.columns else []), corrupt]
    return [*(field.name for field in _ADDED), *more]


def rejections(compiled: Compiled) -> Transform:
    """Only the rejected documents, without matching any: what a job runs again, and only if there are some."""

    def transform(frame: DataFrame) -> DataFrame:
        layout = _layout(frame, "value", None, "document", "stream", None)
        return _deliver(frame, compiled, layout, REJECTED, "PERMISSIVE", only_rejected=True)

    return transform


def _deliver(
    frame: DataFrame,
    compiled: Compiled,
    layout: Layout,
    name: str | None,
    mode: Mode,
    only_rejected: bool = False,
    reload: Reloaded | None = None,
) -> DataFrame:
    added = [*_ADDED, *([StructField("row", LongType())] if layout.row_tag else [])]
    if compiled.columns:
        typed = struct_type({column.name: column for column in compiled.columns})
        added.append(StructField(COLUMNS, from_arrow_type(typed)))
    if name is not None:
        added.append(rejected_field(name, frame.schema[layout.value].dataType))
    _check_free(layout.keys, [field.name for field in added])
    schema = StructType([_nullable(frame.schema[key]) for key in layout.keys] + added)
    fail, arrow = mode == "FAILFAST", to_arrow_schema(StructType(added), timezone="UTC")
    work = DeliverWorker(compiled, layout, arrow, name, fail, only_rejected, reload)
    return frame.mapInArrow(work, schema)


# Long: nearly all of it is what is given.
def match(
    subscriptions: Subscriptions | Compiled,
    column: str = "value",
    *,
    matches: str = "matches",
    stream: str = "stream",
    mode: str = "PERMISSIVE",
    columnNameOfCorruptRecord: str | None = None,
    ignoreNamespace: bool = False,
    namespaces: Mapping[str, str] | None = None,
    limits: Limits | None = None,
    dtd: Dtd | None = None,
    headers: Configurations = (),
    header: str = "header",
    optimizer: Retrieval = "greedy",
    prefix: str | None = None,
    schema: str | Path | Schema | None = None,
) -> Transform:
    """Add a column `matches: array<string>` with the ids of the subscriptions that match each document.

    A document that cannot be read has null there, and if `columnNameOfCorruptRecord` names a column, that one tells
    why; with DROPMALFORMED it is left out, with FAILFAST it ends the job. A document that is not valid by a `schema` is
    rejected too. The rest is as for `deliver`.
    """
    compiled = _alone(as_compiled(subscriptions, ignoreNamespace, limits, dtd, 1, headers, optimizer, namespaces))
    how = as_mode(mode)
    name = _corrupt_column(how, columnNameOfCorruptRecord)
    checked = schema if isinstance(schema, Schema) or schema is None else Schema.load(schema)

    def transform(frame: DataFrame) -> DataFrame:
        named = [matches] if name is None else [matches, name]
        frame, renamed = without_clashes(frame, [each for each in frame.columns if each != column], named, prefix)
        layout = _layout(frame, column, frame.columns, "", renamed.get(stream, stream), None, header)
        added = [StructField(matches, ArrayType(StringType()))]
        if name is not None:
            added.append(rejected_field(name, frame.schema[column].dataType))
        _check_free(layout.keys, named)
        out = StructType([*frame.schema.fields, *added])
        fail, drop = how == "FAILFAST", how == "DROPMALFORMED"
        work = MatchWorker(compiled, layout, to_arrow_schema(StructType(added)), matches, name, fail, drop, checked)
        return frame.mapInArrow(work, out)

    return transform


def messages(frame: DataFrame, columnNameOfCorruptRecord: str = REJECTED) -> DataFrame:
    """The messages among the rows of `deliver` (nodes of `select_nodes`), without rejected documents; in any mode."""
    if not _has_rejected(frame, columnNameOfCorruptRecord):
        return frame
    return frame.where(quoted_column(columnNameOfCorruptRecord).isNull()).drop(columnNameOfCorruptRecord)


def rejected(frame: DataFrame, columnNameOfCorruptRecord: str = REJECTED) -> DataFrame:
    """The rejected documents among the rows of `deliver`: the columns passed through, error, line, column, source.

    Where only the message of one subscription was rejected, `subscription` has its id, and else nothing.
    Of the rows of `select_nodes` only `document` is passed through, and there is no subscription.
    There are none unless the mode is PERMISSIVE; whether documents were text is not known then: `source` is binary.
    """
    has_rejected = _has_rejected(frame, columnNameOfCorruptRecord)
    if "subscription" not in frame.columns:  # the rows of select_nodes
        frame = frame.select("document", *([columnNameOfCorruptRecord] if has_rejected else []))
    added = {COLUMNS, *(field.name for field in _ADDED)} | ({columnNameOfCorruptRecord} if has_rejected else set())
    keys = [quoted_column(name) for name in frame.columns if name not in added]
    keys += [quoted_column("subscription")] if "subscription" in frame.columns else []
    if not has_rejected:
        nothing = [lit(None).cast(field.dataType).alias(field.name) for field in _rejected_fields(BinaryType())]
        return frame.where(lit(False)).select(*keys, *nothing)
    bad = quoted_column(columnNameOfCorruptRecord)
    parts = [bad[field].alias(field) for field in _REJECTED]
    return frame.where(bad.isNotNull()).select(*keys, *parts)


def _has_rejected(frame: DataFrame, name: str) -> bool:
    """Whether the rows of `deliver` have a column for rejected documents, which they have with PERMISSIVE only."""
    found = [
        field.name
        for field in frame.schema.fields
        if isinstance(field.dataType, StructType) and field.dataType.names == list(_REJECTED)
    ]
    if found and name not in found:
        raise ConfigurationError(f"columnNameOfCorruptRecord: expected {found[0]!r}, as for deliver, found {name!r}")
    return name in found


def quoted_column(name: str) -> Column:
    """A column by its whole name, dots and all."""
    return col("`" + name.replace("`", "``") + "`")


def as_compiled(
    subscriptions: Subscriptions | Compiled,
    ignore: bool,
    limits: Limits | None,
    dtd: Dtd | None,
    version: int,
    headers: Configurations = (),
    optimizer: Retrieval = "greedy",
    namespaces: Mapping[str, str] | None = None,
) -> Compiled:
    """Subscriptions compiled, unless they are already."""
    if isinstance(subscriptions, Compiled):
        return subscriptions
    return compile_subscriptions(
        subscriptions,
        ignore_namespaces=ignore,
        limits=limits,
        dtd=dtd,
        version=version,
        headers=headers,
        optimizer=optimizer,
        namespaces=namespaces,
    )


def _alone(compiled: Compiled) -> Compiled:
    """Subscriptions that ask for one document at a time."""
    if compiled.joins is not None:
        raise ConfigurationError(
            "expected subscriptions that ask for one document at a time, found XSCL, which joins documents: "
            f"{compiled.joins.told}; give these to weft.spark.join"
        )
    return compiled


def _corrupt_column(mode: Mode, name: str | None) -> str | None:
    return name if mode == "PERMISSIVE" else None


def _layout(
    frame: DataFrame,
    column: str,
    keys: Sequence[str] | None,
    id: str,
    stream: str,
    row_tag: str | None,
    header: str = "header",
) -> Layout:
    check_documents(frame, column)
    places = [name for name in (FAULT, "error") if is_place(frame, name)]
    error = places[0] if places else None  # a fault that was found later knows of the error before
    passed = [name for name in frame.columns if name not in (column, *places)] if keys is None else list(keys)
    if unknown := [name for name in passed if name not in frame.columns]:
        raise ConfigurationError(f"keys: expected some of {', '.join(frame.columns)}, found {unknown[0]!r}")
    is_binary = header in frame.columns and isinstance(frame.schema[header].dataType, BinaryType)
    names = _if_there(frame, id), _if_there(frame, stream), error, row_tag, header if is_binary else None
    return Layout(column, tuple(passed), *names)


def check_documents(frame: DataFrame, column: str) -> None:
    """Raise ConfigurationError unless a column can have documents."""
    if column not in frame.columns:
        raise ConfigurationError(f"column: expected one of {', '.join(frame.columns)}, found {column!r}")
    if not isinstance(frame.schema[column].dataType, StringType | BinaryType):
        found = frame.schema[column].dataType.simpleString()
        raise ConfigurationError(f"column {column!r}: expected string or binary, found {found}")


def _if_there(frame: DataFrame, name: str) -> str | None:
    return name if name in frame.columns and isinstance(frame.schema[name].dataType, StringType) else None


def is_place(frame: DataFrame, name: str) -> bool:
    """Whether a column is the one in which the source `weft` says why a document could not be had."""
    kind = frame.schema[name].dataType if name in frame.columns else None
    return isinstance(kind, StructType) and set(kind.names) == {"reason", "line", "column"}


def _check_free(keys: Sequence[str], added: Sequence[str]) -> None:
    for name in added:
        if name in keys:
            advice = "give a prefix for such columns, or leave it out of keys"
            raise ConfigurationError(f"the frame has a column {name!r}, which is to be added; {advice}")


def rejected_field(name: str, source: DataType) -> StructField:
    """The column for what could not be read, of documents of a type."""
    return StructField(name, StructType(_rejected_fields(source)))


def _rejected_fields(source: DataType) -> list[StructField]:
    kinds = (StringType(), IntegerType(), IntegerType(), source)
    return [StructField(name, kind) for name, kind in zip(_REJECTED, kinds, strict=True)]


def _nullable(field: StructField) -> StructField:
    return StructField(field.name, field.dataType, True)
