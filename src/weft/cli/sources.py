"""Paths from the command line in, documents out, batch by batch; those that are rejected go to standard error."""

from __future__ import annotations

import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from io import BufferedIOBase
from itertools import takewhile
from pathlib import Path
from time import monotonic
from typing import Annotated, cast

import typer
from rich.console import Console
from rich.progress import Progress

from weft.broker.broker import Broker
from weft.cli.logs import tell
from weft.documents import Document, Limits
from weft.errors import ConfigurationError, DocumentError
from weft.inputs.arriving import arriving
from weft.inputs.chunks import reason_of
from weft.inputs.files import File, Piece, find_files, path_below, read_piece, read_stream

STANDARD_INPUT = "-"
_BATCH = 64  # documents
MANY = 1_024  # for one query, whose plan needs many to be cheap
WAIT = 0.05  # seconds that one of them waits for the others, where they come from standard input
_BATCH_BYTES = 32 * 1024 * 1024  # or fewer, if they are large
#: A file; or the name of what is read once, as it comes: standard input, or a pipe.
GivenDocument = File | str

_HELP = "XML files, archives of them, folders (all *.xml, *.gz, *.zip, *.tar at any depth), or - for standard input."
Documents = Annotated[list[str], typer.Argument(metavar="DOCUMENT", show_default=False, help=_HELP)]
SomeDocuments = Annotated[list[str] | None, typer.Argument(metavar="DOCUMENT", show_default=False, help=_HELP)]


class Rejected:
    """Tells each rejected document once, and knows whether there was any."""

    def __init__(self) -> None:
        self.any = False
        self._last: DocumentError | None = None

    def tell(self, error: DocumentError) -> None:
        """One line on standard error."""
        self.any = True
        told = {"document": error.document, "line": error.line, "column": error.column, "reason": error.reason}
        tell(str(error), **told)

    def tell_new(self, broker: Broker) -> set[str]:
        """Those that the broker has rejected since the last call; their names come back."""
        new = list(takewhile(lambda error: error is not self._last, reversed(broker.rejected)))
        for error in reversed(new):
            self.tell(error)
        self._last = new[0] if new else self._last
        return {error.document for error in new}


def find_documents(paths: list[str], rejected: Rejected, *, is_below: bool = False) -> list[GivenDocument]:
    """What the paths stand for, each file under the path that the user knows it by; what cannot be seen is told.

    With `is_below` files have their paths below the one that is given, as they have on Spark.
    """
    if paths.count(STANDARD_INPUT) > 1:
        raise ConfigurationError("- can be given only once: standard input is one document")
    found: list[GivenDocument] = []
    for path in paths:
        kind = _kind(path)
        if path == STANDARD_INPUT or kind not in (None, stat.S_IFDIR, stat.S_IFREG):
            found.append(path)
        else:
            files = _find_files(path, rejected)
            is_folder = kind == stat.S_IFDIR
            found += files if is_below else [_as_given(path, is_folder, file) for file in files]
    return found


def _kind(path: str) -> int | None:
    try:
        return stat.S_IFMT(Path(path).stat().st_mode) if path else None
    except (OSError, ValueError):
        return None  # told by who looks for files there


def _as_given(path: str, is_folder: bool, file: File) -> File:
    return replace(file, id=path_below(path, file.id) if is_folder else path)


def _find_files(path: str, rejected: Rejected) -> list[File]:
    closed: list[DocumentError] = []
    files = find_files(path, lambda name, error: closed.append(DocumentError(name, 1, 1, 0, reason_of(error))))
    for error in closed:
        rejected.tell(error)
    if not files and not closed:
        typer.echo(f"{path}: no *.xml, *.gz, *.zip or *.tar in this folder", err=True)
    return files


# Long: what has come is given at three places, before it is too much or too late.
def read_batches(
    found: list[GivenDocument],
    row_tag: str | None,
    limits: Limits,
    rejected: Rejected,
    most: int = _BATCH,
    wait: float | None = None,
    with_times: bool = False,
) -> Iterator[list[Document]]:
    """The documents, a batch at a time: only one batch is ever held.

    Unless they come `with_times`, those of their files, they come in the order given, and the time is the clock's.
    With `wait` the batch is given when nothing has come from standard input, or a pipe, for so many seconds.
    """
    with _progress(len(found)) as advance:
        batch: list[Document] = []
        size, began = 0, monotonic()
        for each in found:
            entries = _read(each, row_tag, limits)
            for entry in arriving(entries, wait) if wait is not None and isinstance(each, str) else entries:
                if entry is None:
                    if batch:
                        yield batch
                    batch, size = [], 0
                    continue
                if isinstance(entry, DocumentError):
                    rejected.tell(entry)
                    continue
                batch.append(entry if with_times else Document(entry.data, entry.id, entry.stream))
                size += len(entry.data)
                began = monotonic() if len(batch) == 1 else began
                is_late = wait is not None and isinstance(each, str) and monotonic() - began > wait
                if len(batch) == most or size > _BATCH_BYTES or is_late:
                    yield batch
                    batch, size = [], 0
            advance(1)
        if batch:
            yield batch


def _read(found: GivenDocument, row_tag: str | None, limits: Limits) -> Iterator[Document | DocumentError]:
    if isinstance(found, File):
        yield from read_piece(Piece(found), row_tag, limits)
        return
    try:
        if found == STANDARD_INPUT:
            yield from read_stream(found, cast(BufferedIOBase, sys.stdin.buffer), row_tag, limits)
        else:
            with Path(found).open("rb") as stream:
                yield from read_stream(found, stream, row_tag, limits)
    except Exception as error:  # whatever it is, it is this stream's own: the others go on
        yield DocumentError(found, 1, 1, 0, reason_of(error))


@contextmanager
def _progress(total: int) -> Iterator[Callable[[int], None]]:
    """A bar on a terminal, if there is something to wait for and the results do not scroll by anyway."""
    if total <= _BATCH or not sys.stderr.isatty() or sys.stdout.isatty():
        yield lambda _: None
        return
    # Rich would send standard output to the bar's console otherwise, which is standard error.
    with Progress(console=Console(stderr=True), transient=True, redirect_stdout=False) as bar:
        task = bar.add_task("matching", total=total)
        yield lambda done: bar.advance(task, done)
