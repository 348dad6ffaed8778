"""Documents in, their node table out: the columns of a scan, with names and declarations."""

from __future__ import annotations

from collections.abc import Iterable

from weft.documents.document import Document, Limits
from weft.documents.scan import Scanned, scan
from weft.documents.table import NodeTable


def read(documents: Iterable[Document], limits: Limits | None = None) -> NodeTable:
    """Read a batch of documents; what cannot be read is in the table's `rejected`."""
    return build(scan(documents, limits or Limits()))


def build(scanned: Scanned) -> NodeTable:
    """The node table of a scan."""
    columns = dict(scanned.columns)
    rows, numbers = columns.pop("declared_row").tolist(), columns.pop("declared").tolist()
    declared = scanned.names.declared
    return NodeTable(
        documents=scanned.documents,
        sources=scanned.sources,
        rejected=scanned.rejected,
        name_table=scanned.names,
        namespaces=tuple((row, *declared[number]) for row, number in zip(rows, numbers, strict=True)),
        **columns,
    )
