"""Rows of messages or of rejected documents in, one file each under a folder out; `outbox` delivers each batch once."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

from pyspark.sql.types import StringType, StructType

from weft.delivery.file_names import digest, quoted
from weft.delivery.outbox import Name, Outbox, Staged
from weft.errors import ConfigurationError
from weft.spark.older import DataSourceArrowWriter, DataSourceStreamArrowWriter, WriterCommitMessage
from weft.spark.paths import local_path

if TYPE_CHECKING:
    from pyarrow import RecordBatch

_MESSAGE = ("subscription", "destination", "message", "position")
_REJECTED = ("error", "line", "column", "source")
_EXPECTED = (
    "expected columns subscription: string, destination: string, message: string, position: int,"
    " or a column rejected: struct<error:string,line:int,column:int,source:binary>"
)


@dataclass(frozen=True, slots=True)
class Written(WriterCommitMessage):
    """What a task tells the driver: what it staged."""

    staged: Staged


class MessageWriter(DataSourceArrowWriter):
    """`df.write.format("weft").mode("append").option("batchId", "12").save(path)`: a batch that is there is left alone.

    Without `batchId` it is the next batch. Overwriting leaves nothing of any batch that was there, nor its record.
    """

    def __init__(self, options: Mapping[str, str], schema: StructType, overwrite: bool) -> None:
        options = {name.lower(): value for name, value in options.items()}
        self._rows, self._outbox, self._overwrite = MessageRows(schema), _outbox(options), overwrite
        batch = options.get("batchid")
        if batch is not None and not re.fullmatch(r"\d{1,19}", batch, re.ASCII):
            raise ConfigurationError(f"option batchId: expected a whole number from 0 on, found {batch!r}")
        self._batch = None if batch is None else int(batch)

    def write(self, iterator: Iterator[RecordBatch]) -> Written:
        """On an executor: stage the messages of a task."""
        return Written(self._outbox.stage(self._rows.files(iterator)))

    def commit(self, messages: list[WriterCommitMessage | None]) -> None:
        """On the driver: deliver what the tasks staged."""
        self._outbox.commit(_staged(messages), self._batch, overwrite=self._overwrite)

    def abort(self, messages: list[WriterCommitMessage | None]) -> None:
        """On the driver: drop what the tasks staged."""
        self._outbox.drop(_staged(messages))


class MessageStreamWriter(DataSourceStreamArrowWriter):
    """`df.writeStream.format("weft").start(path)`: a batch that Spark replays is delivered once."""

    def __init__(self, options: Mapping[str, str], schema: StructType) -> None:
        options = {name.lower(): value for name, value in options.items()}
        self._rows, self._outbox = MessageRows(schema), _outbox(options)

    def write(self, iterator: Iterator[RecordBatch]) -> Written:
        """On an executor: stage the messages of a task."""
        return Written(self._outbox.stage(self._rows.files(iterator)))

    def commit(self, messages: list[WriterCommitMessage | None], batchId: int) -> None:
        """On the driver: deliver what the tasks staged."""
        self._outbox.commit(_staged(messages), batchId)

    def abort(self, messages: list[WriterCommitMessage | None], batchId: int) -> None:  # noqa: ARG002
        """On the driver: drop what the tasks staged."""
        self._outbox.drop(_staged(messages))


def _staged(messages: Iterable[WriterCommitMessage | None]) -> list[Staged]:
    return [message.staged for message in messages if isinstance(message, Written)]  # a failed task has none


def _outbox(options: Mapping[str, str]) -> Outbox:
    path = options.get("path")
    if not path:
        raise ConfigurationError("path: expected the folder to write messages to, found none")
    try:
        folder = local_path(path)
    except ConfigurationError as error:
        advice = "a message is a file in a local or mounted folder; to write elsewhere use the formats parquet or json"
        raise ConfigurationError(f"{error}; {advice}") from error
    return Outbox(folder)


class MessageRows:
    """The rows of a DataFrame as files: which columns make a message, and which tell where it came from."""

    def __init__(self, schema: StructType) -> None:
        types = {field.name: field.dataType for field in schema.fields}
        rejected = types.get("rejected")
        self._rejects = isinstance(rejected, StructType) and set(_REJECTED) <= set(rejected.names)
        if "message" in types or not self._rejects:
            texts = all(isinstance(types.get(name), StringType) for name in _MESSAGE[:3])
            if not texts or "position" not in types:
                raise ConfigurationError(f"{_EXPECTED}; found {schema.simpleString()}")
        taken = (*(_MESSAGE if "message" in types else ()), *(("rejected",) if self._rejects else ()))
        self._keys = sorted(set(types) - set(taken))  # sorted: the order of columns makes no new names

    def files(self, batches: Iterable[RecordBatch]) -> Iterator[tuple[Name, bytes]]:
        """Name and content of each file: one for a message, two for a rejected document."""
        for row in chain.from_iterable(batch.to_pylist() for batch in batches):
            keys = {name: row[name] for name in self._keys}
            if self._rejects and row["rejected"] is not None:
                yield from _rejected_files(row["rejected"], keys)
            elif "message" in row:
                yield _message_file(row, keys)


def _message_file(row: dict[str, Any], keys: dict[str, Any]) -> tuple[Name, bytes]:
    subscription, message = row["subscription"], row["message"]
    if subscription is None or message is None:
        found = {name: row[name] for name in _MESSAGE}
        raise ConfigurationError(f"expected a subscription and a message, or a value in 'rejected', found {found}")
    to = subscription if row["destination"] is None else row["destination"]
    key = digest(subscription, row["position"], *keys.values())
    ending = ".xml" if row.get("columns") is None else ".json"
    return Name(quoted(to), f"{quoted(subscription)}-{key}", ending), f"{message}\n".encode()


def _rejected_files(rejected: dict[str, Any], keys: dict[str, Any]) -> Iterator[tuple[Name, bytes]]:
    source = rejected["source"] or b""
    content = source.encode() if isinstance(source, str) else bytes(source)
    base = f"rejected-{digest(content, *keys.values())}"
    about = keys | {name: rejected[name] for name in ("error", "line", "column")}
    yield Name("", base, ".xml"), content
    yield Name("", base, ".json"), (json.dumps(about, ensure_ascii=False, default=_shown) + "\n").encode()


def _shown(value: object) -> str:
    return value.decode(errors="backslashreplace") if isinstance(value, bytes) else str(value)
