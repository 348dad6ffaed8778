"""The output of a job in, its messages or rejected documents out, row by row, without Spark."""

from __future__ import annotations

import json
import re
from base64 import b64decode
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pyarrow.dataset as ds

from weft.delivery.file_names import quoted
from weft.delivery.formats import delta_tables
from weft.delivery.output import MESSAGES, RECORDS, REJECTED, read_record
from weft.errors import ConfigurationError

Row = dict[str, Any]
_NAME = re.compile(r"(\d+)-(.*?)-[0-9a-f]{16}(?:-\d+)?")


def read_results(output: Path, subscription: str | None = None, *, only_rejected: bool = False) -> Iterator[Row]:
    """The rows that a job has written, batch by batch; of one subscription if it is named.

    A message has at least `subscription` and `message`, a rejected document `error`, `line`, `column`, `source`.
    """
    record = read_record(output)
    if record is None:
        raise ConfigurationError(f"{output}: expected the output of weft run, found no {RECORDS}/job.json")
    if record.format == "kafka":
        raise ConfigurationError(f"{output}: the messages of this run are in a topic of Kafka; read them there")
    folder = output / (REJECTED if only_rejected else MESSAGES)
    if not folder.is_dir():
        return
    match record.format:
        case "parquet":
            rows = _parquet(folder, subscription)
        case "json":
            rows = _json(folder)
        case "delta":
            rows = delta_tables().read_table(folder, subscription)
        case _:
            rows = _rejected_files(folder) if only_rejected else _message_files(folder, subscription)
    for row in rows:
        if only_rejected or subscription is None or row["subscription"] == subscription:
            yield row


def _batches(folder: Path) -> list[Path]:
    found = {path.name.partition("=")[2]: path for path in folder.glob("batch=*")}
    numbers = sorted((int(number), path) for number, path in found.items() if number.isascii() and number.isdigit())
    return [path for _, path in numbers]


def _parquet(folder: Path, subscription: str | None) -> Iterator[Row]:
    wanted = None if subscription is None else ds.field("subscription") == subscription
    for batch in _batches(folder):
        if not (batch / "_SUCCESS").exists():
            continue  # being written, or left by a crash: it will be written again
        for part in ds.dataset(batch, format="parquet").to_batches(filter=wanted):
            yield from part.to_pylist()


def _json(folder: Path) -> Iterator[Row]:
    for batch in _batches(folder):
        if not (batch / "_SUCCESS").exists():
            continue
        for file in sorted(batch.glob("part-*.json")):
            with file.open(encoding="utf-8") as lines:
                for line in lines:
                    row = json.loads(line)
                    if isinstance(row.get("source"), str):
                        row["source"] = b64decode(row["source"])
                    yield row


def _message_files(folder: Path, subscription: str | None) -> Iterator[Row]:
    """Names are `<batch>-<subscription>-<key>.xml`, or `.json` with columns; the subscription is quoted."""
    wanted = None if subscription is None else quoted(subscription)
    for file in sorted([*folder.glob("*/*.xml"), *folder.glob("*/*.json")], key=lambda path: path.name):
        found = _NAME.fullmatch(file.stem)
        if found is None:
            continue  # somebody else's
        batch, name = found.group(1, 2)
        if wanted is None or name == wanted:
            row = {"batch": int(batch), "subscription": subscription or unquote(name)}
            message = file.read_bytes().decode().removesuffix("\n")
            yield {**row, "destination": unquote(file.parent.name), "message": message}


def _rejected_files(folder: Path) -> Iterator[Row]:
    for file in sorted(folder.glob("[0-9]*-rejected-*.json")):
        yield {**json.loads(file.read_text(encoding="utf-8")), "source": file.with_suffix(".xml").read_bytes()}
