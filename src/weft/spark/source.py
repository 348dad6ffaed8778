"""Folders of documents in, rows out, at once or as a stream; messages in, folders out: the data source `weft`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql.types import BinaryType, IntegerType, StringType, StructField, StructType, TimestampType

from weft.delivery.arrival_log import ArrivalLog
from weft.documents.document import Document
from weft.documents.moment import END, SECOND
from weft.errors import ConfigurationError, DocumentError, failure_of
from weft.inputs.files import File, Piece, find_files, read_piece
from weft.spark.older import (
    DataSource,
    DataSourceReader,
    DataSourceStreamReader,
    InputPartition,
    ReadLimit,
    ReadMaxFiles,
    SupportsTriggerAvailableNow,
    needed,
    version_of,
)
from weft.spark.partitions import ReadOptions, partition_files, read_options
from weft.spark.sink import MessageStreamWriter, MessageWriter

ERROR = StructType(
    [StructField("reason", StringType()), StructField("line", IntegerType()), StructField("column", IntegerType())]
)
SCHEMA = StructType(
    [
        StructField("document", StringType()),
        StructField("stream", StringType()),
        StructField("timestamp", TimestampType()),
        StructField("value", BinaryType()),
        StructField("error", ERROR),
    ]
)
_ARROW = pa.schema(  # in these words: how Spark's own function is told the zone changes with its version
    [
        ("document", pa.string()),
        ("stream", pa.string()),
        ("timestamp", pa.timestamp("us", "UTC")),
        ("value", pa.binary()),
        ("error", pa.struct([("reason", pa.string()), ("line", pa.int32()), ("column", pa.int32())])),
    ]
)
_BATCH = 64  # documents
_BATCH_BYTES = 8 * 1024 * 1024  # or fewer, if they are large
Offset = dict[str, int | str]
_DocumentRow = tuple[str, str, int | None, bytes | None, dict[str, Any] | None]


class WeftSource(DataSource):
    """The format `weft`, once `spark.dataSource.register(WeftSource)` has made it known.

    `spark.read.format("weft").load(path)` has a row for each document of a folder or file: `document` (its id),
    `stream`, `timestamp` and `value`. What cannot be read is a row too, whose `value` is null and whose `error` tells
    why. Options: `rowTag` (each element of that name is a document), `stream` (what to put in that column),
    `maxPartitionBytes` and `minPartitions` (how much a task reads, and how many there are at least: twice the
    driver's cores, so say it on a cluster), `limits` (such as `max_bytes=1000,max_members=10`: see `weft.Limits`).

    `spark.readStream` reads files as they arrive, each once, `maxFilesPerTrigger` at a time, in the order that the
    file `log` keeps (see `arrivals`): `_weft/arrivals.jsonl` in the folder unless the option says another.

    Messages are written by `write` and `writeStream` (see `sink`).
    """

    @classmethod
    def name(cls) -> str:
        return "weft"

    def schema(self) -> StructType:
        read_options(self.options)  # what is wrong is told by load(), not by the first action
        return SCHEMA

    def reader(self, schema: StructType) -> FolderReader:
        return FolderReader(self._options(schema))

    def streamReader(self, schema: StructType) -> ArrivalReader:
        return ArrivalReader(self._options(schema))

    def writer(self, schema: StructType, overwrite: bool) -> MessageWriter:
        return MessageWriter(self.options, schema, overwrite)

    def streamWriter(self, schema: StructType, overwrite: bool) -> MessageStreamWriter:  # noqa: ARG002
        if version_of() < (4, 1):
            raise needed("writeStream.format('weft')", "4.1", "write in foreachBatch, with the option batchId")
        return MessageStreamWriter(self.options, schema)

    def _options(self, schema: StructType) -> ReadOptions:
        if schema.simpleString() != SCHEMA.simpleString():
            raise ConfigurationError(f"schema: expected {SCHEMA.simpleString()}, found {schema.simpleString()}")
        return read_options(self.options)


class FolderReader(DataSourceReader):
    """All documents of a folder or file."""

    def __init__(self, options: ReadOptions) -> None:
        self._options = options

    def partitions(self) -> list[InputPartition]:
        """What each task reads."""
        return _partitions(find_files(self._options.root), self._options)

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The documents of a task; Spark makes one with None where there are no partitions."""
        return record_batches(partition.value or (), self._options)


class ArrivalReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """The documents of files as they arrive. An offset is a number of files in the order of arrival, and their mark."""

    def __init__(self, options: ReadOptions) -> None:
        self._options = options
        self._arrivals = ArrivalLog(options.log, options.root)
        self._known: int | None = None
        self._told: int | None = None  # where the last micro-batch ended, before Spark 4.2
        self._target: int | None = None  # where a query ends that reads only what is there

    def initialOffset(self) -> Offset:
        """A new query reads all that ever arrived."""
        return self._offset(0)

    def getDefaultReadLimit(self) -> ReadLimit:
        """At most so many files in a micro-batch."""
        return ReadMaxFiles(self._options.max_files)

    def prepareForTriggerAvailableNow(self) -> None:
        """What arrives later is not for this query."""
        self._target = self._arrivals.update()

    def latestOffset(self, start: Offset | None = None, limit: ReadLimit | None = None) -> Offset:
        """Where the next micro-batch ends; before Spark 4.2 it is not said where it starts: what was told is known."""
        self._known = self._arrivals.update() if self._target is None else self._target
        if start is None:
            most = self._known if self._told is None else self._told + self._options.max_files
            self._told = min(self._known, most)
            return self._offset(self._told)
        most = limit.max_files if isinstance(limit, ReadMaxFiles) else self._known
        first = self._number(start)
        return self._offset(max(first, min(self._known, first + most)))

    def reportLatestOffset(self) -> Offset | None:
        """How far it could read, for the query's progress."""
        return None if self._known is None else self._offset(self._known)

    def partitions(self, start: Offset, end: Offset) -> list[InputPartition]:
        """What each task of a micro-batch reads: the same whenever it is asked, for the log never changes."""
        files = self._arrivals.between(self._number(start), self._number(end))
        return _partitions(files, self._options)

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The documents of a task."""
        return record_batches(partition.value, self._options)

    def _offset(self, number: int) -> Offset:
        return {"files": number, "mark": self._arrivals.mark(number)}

    def _number(self, offset: Offset) -> int:
        """The number of files, if the log still begins with those that the offset was made with."""
        number, mark = offset.get("files"), offset.get("mark")
        if not isinstance(number, int) or not isinstance(mark, str) or number < 0:
            raise ConfigurationError(f"checkpoint: expected an offset of files and their mark, found {offset}")
        self._arrivals.expect(number, mark)
        return number


def _partitions(files: list[File], options: ReadOptions) -> list[InputPartition]:
    if options.row_tag is not None:  # cut as they are now: a listing may be old
        files = [_as_it_is(file) for file in files]
    return [InputPartition(pieces) for pieces in partition_files(files, options)]


def record_batches(pieces: Iterable[Piece], options: ReadOptions) -> Iterator[pa.RecordBatch]:
    """The documents of some pieces, few at a time: only one batch is ever held."""
    rows: list[_DocumentRow] = []
    size = 0
    for piece in pieces:
        for entry in _entries(piece, options):
            row = _row(entry, piece.file, options.stream)
            length = len(row[3] or b"")
            if len(rows) == _BATCH or (rows and size + length > _BATCH_BYTES):
                yield _record_batch(rows)
                rows, size = [], 0
            rows.append(row)
            size += length
    if rows:
        yield _record_batch(rows)


def _entries(piece: Piece, options: ReadOptions) -> Iterator[Document | DocumentError]:
    """The documents of a piece; whatever is wrong with it is its own, unless the whole folder is gone."""
    changed = DocumentError(piece.file.id, 1, 1, 0, "changed while it was read in parts")
    if piece.rows is not None and _has_changed(piece.file):  # where its rows start was found in another
        yield changed
        return
    entries = read_piece(piece, options.row_tag, options.limits)
    while (entry := _next(entries, piece.file)) is not None:
        if isinstance(entry, DocumentError):
            _check_root(options.root)
        yield entry
    if piece.rows is not None and _has_changed(piece.file):
        yield changed


def _next(entries: Iterator[Document | DocumentError], file: File) -> Document | DocumentError | None:
    try:
        return next(entries, None)
    except Exception as error:
        return DocumentError(file.id, 1, 1, 0, failure_of(error))


def _has_changed(file: File) -> bool:
    return _as_it_is(file) != file


def _as_it_is(file: File) -> File:
    """A file with its size and time of now; what cannot be read is told by who reads it."""
    try:
        status = Path(file.path).stat()
    except OSError:
        return file
    return replace(file, size=status.st_size, timestamp=status.st_mtime)


def _check_root(root: Path) -> None:
    """A folder that is gone for a while must not have all its documents rejected for good."""
    if not root.exists():
        raise ConfigurationError(f"{root}: no such file or folder of documents any more; bring it back and run again")


def _row(entry: Document | DocumentError, file: File, stream: str | None) -> _DocumentRow:
    match entry:
        case DocumentError():
            error = {"reason": _text(entry.reason), "line": entry.line, "column": entry.column}
            is_known = abs(file.timestamp) < END / SECOND  # nan is not
            moment = round(file.timestamp * 1_000_000) if is_known else None
            return _text(entry.document), _text(stream or file.stream), moment, None, error
        case Document(data=data):
            value = data.encode() if isinstance(data, str) else data
            moment = None if entry.nanoseconds is None else entry.nanoseconds // 1000
            return _text(entry.id), _text(stream or entry.stream), moment, value, None


def _text(text: str) -> str:
    """Text that Arrow can hold: a file's name may be any bytes."""
    return text.encode(errors="backslashreplace").decode()


def _record_batch(rows: list[_DocumentRow]) -> pa.RecordBatch:
    columns = zip(*rows, strict=True)
    arrays = [pa.array(column, field.type) for column, field in zip(columns, _ARROW, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=_ARROW)
