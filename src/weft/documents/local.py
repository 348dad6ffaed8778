"""Nodes of a batch in, their numbers within their own documents out, and back.

A document alone in a node table has its elements from 0 on, then its attributes, then its texts. In a batch the
nodes of a kind stand together, so they have other numbers there; these are the ones that stay the same.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from weft.columns.integers import Ints, Longs
from weft.documents.table import NodeTable


class LocalNodes:
    """The numbers of a batch's nodes within their documents."""

    def __init__(self, table: NodeTable) -> None:
        self._table = table
        documents = len(table.documents)
        bounds = 0, table.elements, table.first_text, table.nodes
        owners = [table.node_document[first:end] for first, end in pairwise(bounds)]
        counts = [np.bincount(owner, minlength=documents) for owner in owners]
        #: By kind and document: where its nodes of the kind begin in the batch, and where in the document.
        self._first = np.array([begin + np.cumsum(count) - count for begin, count in zip(bounds, counts, strict=False)])
        self._before = np.cumsum([np.zeros(documents, np.int64), *counts[:2]], axis=0)

    def local(self, nodes: Ints) -> Ints:
        """The numbers of nodes within their documents."""
        kind, document = self._kind(nodes), self._table.node_document[nodes]
        local: Ints = (nodes - self._first[kind, document] + self._before[kind, document]).astype(np.int32)
        return local

    def node(self, document: int, local: int) -> int:
        """The node of the batch with this number in this document."""
        before = self._before[:, document]
        kind = int(np.searchsorted(before, local, side="right")) - 1
        return int(local - before[kind] + self._first[kind, document])

    def _kind(self, nodes: Ints) -> NDArray[np.intp]:
        places: Longs = np.array([self._table.elements, self._table.first_text])
        return np.searchsorted(places, nodes, side="right")
