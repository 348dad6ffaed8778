"""Options and files in, what each task reads out: partitions of about equal weight, so that no core idles."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from heapq import heapify, heapreplace
from pathlib import Path

from weft.documents.document import Limits, read_limits
from weft.errors import ConfigurationError
from weft.inputs.files import File, Piece, pieces
from weft.inputs.rows import check_row_tag
from weft.spark.paths import local_path

_OPEN_COST = 16 * 1024  # bytes that could be read in the time it takes to open a file
_LEAST_CUT = 1024 * 1024  # bytes; cutting a file finer for the sake of more tasks costs more than it brings
_KNOWN = ("path", "rowTag", "stream", "maxFilesPerTrigger", "maxPartitionBytes", "minPartitions", "log", "limits")
_OF_A_TABLE = ("location", "owner", "provider", "serialization.format")  # what Spark adds for a table in SQL


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """What may be said about reading, checked."""

    root: Path
    log: Path
    row_tag: str | None
    stream: str | None
    max_files: int
    max_partition_bytes: int
    min_partitions: int
    limits: Limits


def read_options(given: Mapping[str, str]) -> ReadOptions:
    """The options of `spark.read` and `spark.readStream`, whose names Spark takes in any case."""
    options = {name.lower(): value for name, value in given.items()}
    known = {name.lower() for name in _KNOWN}
    for name in options:
        if name not in known and name not in _OF_A_TABLE and not name.startswith(("option.", "spark.", "__")):
            raise ConfigurationError(f"option {name}: expected one of {', '.join(_KNOWN)}")
    if not options.get("path"):
        raise ConfigurationError("option path: expected a folder or a file to read documents from, found none")
    if "rowtag" in options:
        check_row_tag(options["rowtag"])
    root = local_path(options["path"])
    return ReadOptions(
        root,
        local_path(options["log"]) if options.get("log") else root / "_weft" / "arrivals.jsonl",
        options.get("rowtag"),
        options.get("stream"),
        _number(options, "maxFilesPerTrigger", 1000),
        _number(options, "maxPartitionBytes", 16 * 1024 * 1024),
        _number(options, "minPartitions", 2 * (os.cpu_count() or 1)),
        read_limits(filter(None, options.get("limits", "").split(","))),
    )


def _number(options: Mapping[str, str], name: str, default: int) -> int:
    text = options.get(name.lower(), str(default)).strip()
    if not (text.isascii() and text.isdigit() and int(text) > 0):
        raise ConfigurationError(f"option {name}: expected a whole number from 1 on, found {text!r}")
    return int(text)


def partition_files(files: Sequence[File], options: ReadOptions) -> list[list[Piece]]:
    """The files as lists of pieces, the heaviest list first, each in the order of the files."""
    total = sum(file.size + _OPEN_COST for file in files)
    most = min(options.max_partition_bytes, max(_LEAST_CUT, total // options.min_partitions))
    cut = pieces(files, options.row_tag, most)
    least = max(-(-total // options.max_partition_bytes), options.min_partitions)
    return pack(cut, min(least, len(cut)))


def pack(cut: Sequence[Piece], number: int) -> list[list[Piece]]:
    """Pieces in `number` lists of about equal weight: the heaviest piece goes to the lightest list, and so on."""
    lists = [(0, at, list[int]()) for at in range(number)]  # `at`: lists of equal weight are never compared
    heapify(lists)
    for piece in sorted(range(len(cut)), key=lambda at: -weight(cut[at])):
        total, at, members = lists[0]
        members.append(piece)
        heapreplace(lists, (total + weight(cut[piece]), at, members))
    return [[cut[at] for at in sorted(members)] for _, _, members in sorted(lists, key=lambda entry: -entry[0])]


def weight(piece: Piece) -> int:
    """What reading a piece costs, in bytes."""
    if piece.rows is None:
        return _OPEN_COST + piece.file.size
    end = piece.file.size if piece.rows.end is None else piece.rows.end
    return _OPEN_COST + max(0, end - piece.rows.start)  # the file may have become smaller
