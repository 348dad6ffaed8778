"""Candidates that are too much at once in, facts in parts out; what is too much alone is refused, and told why."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from weft.columns.integers import Flags, Ints
from weft.documents.table import NodeTable
from weft.errors import failure_of

Facts = tuple[Ints, Ints]  # node of the shared plan, row
_PARTS = 8  # in which the rows of one node in one document may come


class Refusals:
    """The nodes of the shared plan that are not worked out for a document, and why."""

    def __init__(self, table: NodeTable) -> None:
        self._table = table
        self.reasons: dict[int, dict[int, str]] = {}  # by document, then node

    def refuse(self, document: int, nodes: Ints, reason: str) -> None:
        """What depends on these nodes is not known for a document; the first reason counts."""
        known = self.reasons.setdefault(document, {})
        for node in nodes.tolist():
            known.setdefault(node, reason)

    def in_parts(self, verify: Callable[[Ints, Ints], Facts], nodes: Ints, rows: Ints, parts: int = _PARTS) -> Facts:
        """The facts among candidates. If they are too much at once: fewer documents, fewer nodes, then fewer rows."""
        try:
            return verify(nodes, rows)
        except MemoryError as error:
            reason = failure_of(error)
        documents = self._table.node_document[rows]
        first, parts_left = upper_half(documents), parts
        if first is None:
            first = upper_half(nodes)
        is_single = first is None  # one node in one document
        if is_single and parts > 1:
            first, parts_left = upper_half(rows), parts // 2
        if first is None:
            self.refuse(int(documents[0]), nodes[:1], reason)
            return nodes[:0], rows[:0]
        found = [(nodes[:0], rows[:0])]
        for half in (first, ~first):
            if not (is_single and int(nodes[0]) in self.reasons.get(int(documents[0]), ())):
                found.append(self.in_parts(verify, nodes[half], rows[half], parts_left))
        return np.concatenate([some for some, _ in found]), np.concatenate([some for _, some in found])


def upper_half(keys: Ints) -> Flags | None:
    """The entries with the greater keys; nothing where all keys are the same."""
    distinct = np.unique(keys)
    return np.asarray(keys >= distinct[distinct.size // 2]) if distinct.size > 1 else None
