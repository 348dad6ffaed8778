"""Paths from the command line in, documents out, batch by batch; those that are rejected go to standard error."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import takewhile
from pathlib import Path
from typing import Annotated, BinaryIO

import typer
from rich.console import Console
from rich.progress import Progress

from weft.broker.broker import Broker
from weft.documents import Document, Limits
from weft.errors import ConfigurationError, DocumentError
from weft.inputs.chunks import reason_of

STANDARD_INPUT = "-"
_BATCH = 64  # documents
_BATCH_BYTES = 32 * 1024 * 1024  # or fewer, if they are large
_FIRST_BYTES = 64 * 1024  # most documents are smaller, and room for the largest costs more than reading them

_HELP = "XML files, folders (all *.xml in them, at any depth), or - for standard input."
Documents = Annotated[list[str], typer.Argument(metavar="DOCUMENT", show_default=False, help=_HELP)]
SomeDocuments = Annotated[list[str] | None, typer.Argument(metavar="DOCUMENT", show_default=False, help=_HELP)]


def find_documents(paths: list[str]) -> list[str]:
    """The documents that the paths stand for, by name: a folder stands for the *.xml in it, sorted."""
    if paths.count(STANDARD_INPUT) > 1:
        raise ConfigurationError("- can be given only once: standard input is one document")
    found: list[str] = []
    for path in paths:
        if not Path(path).is_dir() or not path:
            found.append(path)
            continue
        inside = sorted(_files_below(path))
        if not inside:
            typer.echo(f"{path}: no *.xml in this folder", err=True)
        found += [f"{path.rstrip('/')}/{file}" for file in inside]
    return found


def _files_below(path: str) -> Iterator[Path]:
    """The *.xml in a folder, and folders that cannot be read: who reads them tells why."""
    closed: list[str] = []
    for folder, _, names in os.walk(path, onerror=lambda error: closed.append(error.filename)):
        files = (Path(folder, name) for name in names if name.endswith(".xml"))
        for file in files:
            if file.is_file() or not file.exists():  # a link to nothing is told by who reads it
                yield file.relative_to(path)
            else:
                typer.echo(f"{file}: not a file, left out", err=True)
    yield from (Path(folder).relative_to(path) for folder in closed)


def read_document(name: str, limits: Limits) -> Document:
    """The document of that name, not yet parsed; raises DocumentError where there is none to be had."""
    try:
        if name == STANDARD_INPUT:
            data = _read_bytes(sys.stdin.buffer, limits.max_bytes)
        else:
            with Path(name).open("rb") as file:
                data = _read_bytes(file, limits.max_bytes)
    except Exception as error:  # whatever it is, it is this document's own: the others go on
        raise DocumentError(name, 1, 1, 0, reason_of(error)) from None
    if len(data) > limits.max_bytes:
        raise DocumentError(name, 1, 1, 0, f"more than {limits.max_bytes} bytes")
    return Document(data, name)


def _read_bytes(file: BinaryIO, most: int) -> bytes:
    """All that is in the file, up to one byte more than it may have."""
    data = file.read(_FIRST_BYTES)
    return data if len(data) < _FIRST_BYTES else data + file.read(max(0, most + 1 - len(data)))


class Rejected:
    """Tells each rejected document once, and knows whether there was any."""

    def __init__(self) -> None:
        self.any = False
        self._last: DocumentError | None = None

    def tell(self, error: DocumentError) -> None:
        """One line on standard error."""
        self.any = True
        print(error, file=sys.stderr)  # typer.echo would write past the progress bar

    def tell_new(self, broker: Broker) -> set[str]:
        """Those that the broker has rejected since the last call; their names come back."""
        new = list(takewhile(lambda error: error is not self._last, reversed(broker.rejected)))
        for error in reversed(new):
            self.tell(error)
        self._last = new[0] if new else self._last
        return {error.document for error in new}


def read_batches(names: list[str], limits: Limits, rejected: Rejected) -> Iterator[list[Document]]:
    """The documents, a batch at a time: only one batch is ever held."""
    with _progress(len(names)) as advance:
        batch: list[Document] = []
        size = 0
        for name in names:
            try:
                batch.append(read_document(name, limits))
                size += len(batch[-1].data)
            except DocumentError as error:
                rejected.tell(error)
            if len(batch) == _BATCH or size > _BATCH_BYTES:
                yield batch
                batch, size = [], 0
            advance(1)
        if batch:
            yield batch


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
