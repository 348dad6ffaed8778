"""A file, folder, archive or stream of documents of any size in, their bottom input elements out, one at a time."""

from __future__ import annotations

from collections.abc import Iterator
from io import BufferedIOBase
from pathlib import Path

from weft.documents.document import Document, Limits
from weft.errors import DocumentError
from weft.inputs.files import Piece, find_files, read_piece, read_stream
from weft.inputs.rows import check_row_tag


def read_elements(
    source: str | Path | BufferedIOBase, tag: str, limits: Limits | None = None
) -> Iterator[Document | DocumentError]:
    """Each element of a name as a document of its own, as its end tag comes; what cannot be read as an error.

    Of a file only a window is held, however large it is. A binary stream, such as `sys.stdin.buffer`, is read as it
    comes; its elements are named after it.
    """
    check_row_tag(tag)
    if isinstance(source, str | Path):
        for file in find_files(source):
            yield from read_piece(Piece(file), tag, limits or Limits())
    else:
        name = getattr(source, "name", None)
        yield from read_stream(name if isinstance(name, str) else "stream", source, tag, limits or Limits())
