"""Subscriptions in, functions for `DataFrame.transform` out: documents become messages, or get a column of matches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import get_args

from pyspark.sql import Column, DataFrame
from pyspark.sql.functions import col, lit
from pyspark.sql.pandas.types import to_arrow_schema
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

from weft.delivery.output import REJECTED, Mode
from weft.documents.document import Limits
from weft.documents.dtd import Dtd
from weft.errors import ConfigurationError
from weft.headers.configuration import Configurations
from weft.optimizer.adapting import Retrieval
from weft.spark.compiled import Compiled, Subscriptions, compile_subscriptions
from weft.spark.worker import DeliverWorker, MatchWorker
from weft.spark.worker_documents import Layout

Transform = Callable[[DataFrame], DataFrame]
_REJECTED = ("error", "line", "column", "source")  # what its column tells
_ADDED = (
    StructField("subscription", StringType()),
    StructField("destination", StringType()),
    StructField("message", StringType()),
    StructField("position", IntegerType()),
    StructField("version", IntegerType()),
)


# Long: half of it says what the options mean.
def deliver(
    subscriptions: Subscriptions | Compiled,
    column: str = "value",
    *,
    keys: Sequence[str] | None = None,
    id: str = "document",
    stream: str = "stream",
    mode: Mode = "PERMISSIVE",
    columnNameOfCorruptRecord: str = REJECTED,
    rowTag: str | None = None,
    ignoreNamespace: bool = False,
    version: int = 1,
    limits: Limits | None = None,
    dtd: Dtd | None = None,
    headers: Configurations = (),
    header: str = "header",
    optimizer: Retrieval = "greedy",
) -> Transform:
    """Make messages of documents: `frame.transform(deliver("subscriptions.jsonl"))`, in batch or streaming.

    `column` has the documents as string or binary; null is no document. All other columns are passed through, or
    only `keys`. Each message is a row: `subscription`, `destination`, `message`, `position` (a subscription that
    selects several nodes of a document has a message for each, numbered from 1) and `version`, the number given here.
    If the frame has a column named by `stream`, it says which stream a document is of.

    `subscriptions` is a file or folder, or a sequence of subscriptions or query texts. What is wrong with them raises
    ConfigurationError here, on the driver.

    A document that cannot be read is, by `mode`: with PERMISSIVE a row of its own, whose column `rejected` (or the
    name given as `columnNameOfCorruptRecord`) has error, line, column and source while the message is null (see
    `messages` and `rejected`); left out with DROPMALFORMED; the end of the job with FAILFAST. With `rowTag` each
    element of that name is a document, and a column `row` tells where in its document it starts;
    `ignoreNamespace` compares local names only, in all queries.

    `headers` are configurations of views, or a file of them. If the frame has a binary column named by `header` (see
    `with_headers`), a document is parsed only where its header does not tell that nobody wants it. `optimizer` is that
    of `weft.Broker`: each worker chooses by the documents that it gets.
    """
    compiled = _alone(as_compiled(subscriptions, ignoreNamespace, limits, dtd, version, headers, optimizer))
    name = _corrupt_column(mode, columnNameOfCorruptRecord)
    return lambda frame: _deliver(frame, compiled, _layout(frame, column, keys, id, stream, rowTag, header), name, mode)


def rejections(compiled: Compiled) -> Transform:
    """Only the rejected documents, without matching any: what a job runs again, and only if there are some."""

    def transform(frame: DataFrame) -> DataFrame:
        layout = _layout(frame, "value", None, "document", "stream", None)
        return _deliver(frame, compiled, layout, REJECTED, "PERMISSIVE", only_rejected=True)

    return transform


def _deliver(
    frame: DataFrame, compiled: Compiled, layout: Layout, name: str | None, mode: Mode, only_rejected: bool = False
) -> DataFrame:
    added = [*_ADDED, *([StructField("row", LongType())] if layout.row_tag else [])]
    if name is not None:
        added.append(rejected_field(name, frame.schema[layout.value].dataType))
    _check_free(layout.keys, [field.name for field in added])
    schema = StructType([_nullable(frame.schema[key]) for key in layout.keys] + added)
    work = DeliverWorker(compiled, layout, to_arrow_schema(StructType(added)), name, mode == "FAILFAST", only_rejected)
    return frame.mapInArrow(work, schema)


def match(
    subscriptions: Subscriptions | Compiled,
    column: str = "value",
    *,
    matches: str = "matches",
    stream: str = "stream",
    mode: Mode = "PERMISSIVE",
    columnNameOfCorruptRecord: str | None = None,
    ignoreNamespace: bool = False,
    limits: Limits | None = None,
    dtd: Dtd | None = None,
    headers: Configurations = (),
    header: str = "header",
    optimizer: Retrieval = "greedy",
) -> Transform:
    """Add a column `matches: array<string>` with the ids of the subscriptions that match each document.

    A document that cannot be read has null there, and if `columnNameOfCorruptRecord` names a column, that one tells
    why; with DROPMALFORMED it is left out, with FAILFAST it ends the job. The rest is as for `deliver`.
    """
    compiled = _alone(as_compiled(subscriptions, ignoreNamespace, limits, dtd, 1, headers, optimizer))
    name = _corrupt_column(mode, columnNameOfCorruptRecord)

    def transform(frame: DataFrame) -> DataFrame:
        layout = _layout(frame, column, frame.columns, "", stream, None, header)
        added = [StructField(matches, ArrayType(StringType()))]
        if name is not None:
            added.append(rejected_field(name, frame.schema[column].dataType))
        _check_free(layout.keys, [field.name for field in added])
        schema = StructType([*frame.schema.fields, *added])
        fail, drop = mode == "FAILFAST", mode == "DROPMALFORMED"
        work = MatchWorker(compiled, layout, to_arrow_schema(StructType(added)), matches, name, fail, drop)
        return frame.mapInArrow(work, schema)

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
    added = {field.name for field in _ADDED} | ({columnNameOfCorruptRecord} if has_rejected else set())
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
    )


def _alone(compiled: Compiled) -> Compiled:
    """Subscriptions that ask for one document at a time."""
    if compiled.joins is not None:
        number = compiled.joins.pairwise + compiled.joins.gathered
        raise ConfigurationError(
            f"expected subscriptions that ask for one document at a time, found {number} in XSCL, which joins "
            "documents: give these to weft.spark.join"
        )
    return compiled


def _corrupt_column(mode: Mode, name: str | None) -> str | None:
    if mode not in get_args(Mode):
        raise ConfigurationError(f"mode: expected one of {', '.join(get_args(Mode))}, found {mode!r}")
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
    error = "error" if is_place(frame, "error") else None
    passed = [name for name in frame.columns if name not in (column, error)] if keys is None else list(keys)
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
            advice = "rename it, or leave it out of keys"
            raise ConfigurationError(f"the frame has a column {name!r}, which is to be added; {advice}")


def rejected_field(name: str, source: DataType) -> StructField:
    """The column for what could not be read, of documents of a type."""
    return StructField(name, StructType(_rejected_fields(source)))


def _rejected_fields(source: DataType) -> list[StructField]:
    kinds = (StringType(), IntegerType(), IntegerType(), source)
    return [StructField(name, kind) for name, kind in zip(_REJECTED, kinds, strict=True)]


def _nullable(field: StructField) -> StructField:
    return StructField(field.name, field.dataType, True)
