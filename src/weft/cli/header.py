"""`weft header`: views and documents in, the header of each document as JSON Lines out."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from weft.cli.sources import Documents, Rejected, find_documents, read_batches
from weft.documents.build import read
from weft.documents.document import Document, Limits
from weft.errors import ConfigurationError
from weft.headers.configuration import Configuration, read_configurations
from weft.headers.header import ABSENT, HIDDEN, SEVERAL, decode
from weft.headers.producer import Producer

_REASONS = {ABSENT: "absent", SEVERAL: "several", HIDDEN: "hidden"}
ViewsFile = Annotated[
    Path,
    typer.Option(
        "--views", metavar="FILE", show_default=False, help="The configurations of views: TOML, or one XPath a line."
    ),
]


def header(
    views: ViewsFile,
    documents: Documents,
    output: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Also write each header, in its binary form, as DIR/NAME.views.")
    ] = None,
) -> None:
    """Compute the headers that let servers downstream skip parsing.

    A header tells where in the document's bytes the node of each view begins: its offset, or absent (there is none),
    several (there are more than one), or hidden (what it means stands in declarations elsewhere). It travels in the
    transport's own header, in the text form that is shown here or in the binary form.

    Each document gets the header of the first configuration that is for it. A document that cannot be read is told on
    standard error, has none, and the exit code is 1.

    \b
      weft header --views views.toml news/
      weft header --views views.xpath --output headers/ news/001.xml
    """
    configurations = {each.tag: each for each in read_configurations(views)}
    producer, limits, rejected = Producer(tuple(configurations.values())), Limits(), Rejected()
    written: dict[Path, str] = {}
    for batch in read_batches(find_documents(documents, rejected), None, limits, rejected):
        table = read(batch, limits)
        for error in table.rejected:
            rejected.tell(error)
        headers = producer.headers(table)
        for document in table.documents:
            found = headers.get(id(document))
            sys.stdout.write(json.dumps(_line(document, found, configurations), ensure_ascii=False) + "\n")
            if output is not None and found is not None:
                _write(output / f"{Path(document.id).name}.views", found, document.id, written)
    if rejected.any:
        raise typer.Exit(1)


def _write(path: Path, found: bytes, document: str, written: dict[Path, str]) -> None:
    """Write a header; `written` has the document of each file so far: none takes the place of another's."""
    if (other := written.setdefault(path, document)) != document:
        raise ConfigurationError(f"{path}: expected one document of this name, found {other} and {document}")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(found)


def _line(document: Document, found: bytes | None, configurations: dict[str, Configuration]) -> dict[str, Any]:
    if found is None:
        return {"document": document.id, "header": None}
    told = decode(found)
    names = [view.text for view in configurations[told.tag].views]
    entries = {name: _REASONS.get(entry, entry) for name, entry in zip(names, told.entries, strict=False)}
    return {
        "document": document.id,
        "configuration": told.tag,
        "header": told.to_text(),
        "bytes": len(found),
        "views": entries,
    }
