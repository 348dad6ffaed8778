"""The documents of a node table in, from which to before which node each has its elements, attributes and texts out."""

from __future__ import annotations

import numpy as np

from weft.documents.table import NodeTable

#: Of one document: its first element and the one behind its last, then the same of its attributes and of its texts.
DocumentBounds = tuple[int, int, int, int, int, int]


def document_bounds(table: NodeTable) -> list[DocumentBounds]:
    """In the order of the documents; all of them have a root, which is their first element."""
    documents = len(table.documents)
    if documents <= 1:
        return documents * [(0, table.elements, table.elements, table.first_text, table.first_text, table.nodes)]
    # of the columns' own type: else numpy would convert the columns
    roots = np.searchsorted(table.document, np.arange(documents, dtype=np.int32)).astype(np.int32)
    attributes = np.searchsorted(table.parent[table.elements : table.first_text], roots) + table.elements
    texts = table.text_first[roots] + table.first_text
    ends = ((roots, table.elements), (attributes, table.first_text), (texts, table.nodes))
    columns = (part for starts, end in ends for part in (starts.tolist(), [*starts[1:].tolist(), end]))
    return list(zip(*columns, strict=True))
