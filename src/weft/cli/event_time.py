"""The options that say where documents have their time and id, and what they must be, in; settings of a broker out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from math import inf
from pathlib import Path
from typing import Annotated

import typer

from weft.broker.stream_rules import CLOCK, FILE, StreamRule, all_rules
from weft.cli.options import Naming
from weft.documents.moment import END, Span, exact_seconds

Timestamp = Annotated[
    str | None,
    typer.Option(
        "--timestamp",
        metavar="PATH|file|clock",
        help="Where a document has its time: a path inside it, such as //CreDtTm, its file, or the clock.",
    ),
]
DocumentId = Annotated[
    str | None,
    typer.Option("--id", metavar="PATH", help="Where a document has its id, such as //MsgId; else its file's path."),
]
SchemaFile = Annotated[
    Path | None,
    typer.Option("--schema", metavar="FILE", help="Reject documents that are not valid by this file of XML Schema."),
]
_ALL_TIME = exact_seconds(END - 1)  # so late a document may be where the input has an end


@dataclass(frozen=True, slots=True)
class GivenTimes:
    """What `weft match` knows of times: the rules of streams, and how long documents wait for earlier ones."""

    rules: Sequence[StreamRule]
    needs_files: bool  # the times of files
    lateness: Span
    ahead: Span | None


def given_times(
    queries: Path, timestamp: str | None, id: str | None, naming: Naming, lateness: float | None
) -> GivenTimes:
    """The options, with the rules in the file of queries.

    Where documents have times of their own they are joined in the order of these: each waits for the end of the input,
    or as long as `lateness` says.
    """
    rules = all_rules(queries, timestamp, id, naming.namespaces, naming.ignore_namespaces)
    needs_files = any(rule.timestamp == FILE for rule in rules)
    if needs_files:  # what nobody asked for stays the clock's
        rules = tuple(replace(rule, timestamp=rule.timestamp or CLOCK) for rule in rules)
    is_dated = any(rule.timestamp not in (None, CLOCK) for rule in rules)
    waiting: Span = (_ALL_TIME if is_dated else Decimal(0)) if lateness is None else lateness
    return GivenTimes(rules, needs_files, waiting, inf if is_dated else None)
