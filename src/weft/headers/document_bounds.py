"""The documents of a node table in, from which to before which node each has its elements, attributes and texts out."""

from __future__ import annotations

import numpy as np

from weft.columns.integers import Ints
from weft.documents.table import NodeTable

#: Of one document: its first element and the one behind its last, then the same of its attributes and of its texts.
FIRST, END, FIRST_ATTRIBUTE, END_ATTRIBUTE, FIRST_TEXT, END_TEXT = range(6)


def document_bounds(table: NodeTable) -> Ints:
    """A row for each document, in their order; all of them have a root, which is their first element."""
    documents = len(table.documents)
    elements, first_text, nodes = table.elements, table.first_text, table.nodes
    if documents == 1:
        return np.array([(0, elements, elements, first_text, first_text, nodes)], np.int32)
    # of the columns' own type: else numpy would convert the columns
    roots = np.searchsorted(table.document, np.arange(documents, dtype=np.int32)).astype(np.int32)
    bounds = np.empty((documents, 6), np.int32)
    bounds[:, FIRST] = roots
    bounds[:, FIRST_ATTRIBUTE] = np.searchsorted(table.parent[elements:first_text], roots) + elements
    bounds[:, FIRST_TEXT] = table.text_first[roots] + first_text
    bounds[:-1, 1::2] = bounds[1:, ::2]
    bounds[-1:, 1::2] = elements, first_text, nodes
    return bounds
