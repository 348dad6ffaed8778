"""A large XML file in, chunk by chunk; its elements of one name out, each as a document of its own."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace

from weft.documents.document import Limits
from weft.errors import ConfigurationError, DocumentError
from weft.inputs.outline import OpenElement, Outline, OutlineError
from weft.inputs.row_reader import RowReader
from weft.inputs.window import FileWindow

_NAME = re.compile(r"[^\W\d][\w.\-·]*(?::[^\W\d][\w.\-·]*)?")


@dataclass(frozen=True, slots=True)
class Rows:
    """A part of a file, cut at the starts of rows, and what its rows need of all that stands before it."""

    start: int = 0
    end: int | None = None  # None: the end of the file
    line: int = 1
    column: int = 1
    doctype: bytes = b""
    open: tuple[OpenElement, ...] = ()
    encoding: str | None = None  # None: UTF-8


WHOLE = Rows()


def check_row_tag(row_tag: str) -> None:
    """Raises ConfigurationError for what cannot be the name of an element."""
    if not _NAME.fullmatch(row_tag):
        raise ConfigurationError(f"row tag: expected the name of an element such as item or x:item, found {row_tag!r}")


def read_rows(
    name: str, chunks: Iterable[bytes], row_tag: str, limits: Limits, rows: Rows = WHOLE
) -> Iterator[tuple[int, bytes] | DocumentError]:
    """The rows with their offsets; a row that is too large and, at the end, what is wrong with the file as errors.

    The chunks are UTF-8, and begin where `rows` does. A DocumentError that they raise is told at its place.
    """
    refuses_doctype = limits.doctype == "reject"
    if refuses_doctype and rows.doctype:
        return  # the first part has told it
    reader = _reader(name, chunks, row_tag, limits, rows, refuses_doctype)
    try:
        while reader.reach_row():
            yield reader.take_row(limits.max_bytes)
    except DocumentError as error:
        yield error
    except OutlineError as error:
        yield reader.window.error(error.offset - reader.window.base, error.reason)


def cut_rows(name: str, chunks: Iterable[bytes], row_tag: str, most: int, encoding: str | None = None) -> list[Rows]:
    """The parts of a file, each of about that many bytes; what is wrong with it is left to who reads the last."""
    reader = _reader(name, chunks, row_tag, Limits(), WHOLE)
    parts = [Rows(encoding=encoding)]
    with suppress(DocumentError, OutlineError):
        while reader.reach_row():
            if reader.window.offset - parts[-1].start >= most:
                offset, line, column = reader.window.place(reader.window.at)
                parts[-1] = replace(parts[-1], end=offset)
                outline = reader.outline
                parts.append(Rows(offset, None, line, column, outline.doctype, tuple(outline.open), encoding))
            reader.pass_row()
    return parts


def _reader(
    name: str, chunks: Iterable[bytes], row_tag: str, limits: Limits, rows: Rows, refuses_doctype: bool = False
) -> RowReader:
    window = FileWindow(name, chunks, (rows.start, rows.line, rows.column))
    outline = Outline(row_tag, limits, rows.doctype, rows.open)
    return RowReader(window, outline, row_tag, is_last=rows.end is None, refuses_doctype=refuses_doctype)
