"""A DTD and a node table in, the documents that do not keep to it out: for these canonical paths would be wrong."""

from __future__ import annotations

import numpy as np

from weft.documents.dtd import Dtd
from weft.documents.table import NodeTable

_KEPT = 100_000  # pairs of names that are remembered


class Validity:
    """Whether elements stand where a DTD lets them; each pair of names is looked up once.

    Only elements that the DTD declares matter, because only their paths are made canonical: each must be the root, or
    in an element that may contain it. An element that the DTD does not know may be anywhere, with none of these in it.
    """

    def __init__(self, dtd: Dtd) -> None:
        self._dtd = dtd
        self._faults: dict[tuple[str, str], str] = {}  # by names of parent and element; "" if there is none

    def faults(self, table: NodeTable) -> dict[int, str]:
        """The documents of a batch that do not keep to the DTD, and the first reason for each."""
        width = len(table.names) + 1
        above = np.append(table.name, width - 1)[table.parent[: table.elements]]  # the last entry is for roots
        pairs = above.astype(np.int64) * width + table.name
        distinct, first = np.unique(pairs, return_index=True)
        bad = [(at, self._fault(table, int(pair), width)) for pair, at in zip(distinct, first, strict=True)]
        if not any(fault for _, fault in bad):
            return {}
        reasons = {int(pairs[at]): fault for at, fault in bad if fault}
        rows = np.flatnonzero(np.isin(pairs, list(reasons)))
        found: dict[int, str] = {}
        for row in rows.tolist():
            found.setdefault(int(table.document[row]), f"does not keep to the DTD: {reasons[int(pairs[row])]}")
        return found

    def _fault(self, table: NodeTable, pair: int, width: int) -> str:
        above, below = divmod(pair, width)
        key = table.names[above] if above < width - 1 else "", table.names[below]
        if key not in self._faults:
            if len(self._faults) >= _KEPT:
                self._faults.clear()
            self._faults[key] = self._reason(*key)
        return self._faults[key]

    def _reason(self, above: str, below: str) -> str:
        dtd = self._dtd
        if below not in dtd:
            return ""
        if not above:
            return "" if below == dtd.root else f"<{below}> is not its root"
        if above in dtd and below in dtd.children(above):
            return ""
        return f"<{below}> is not allowed in <{above}>"
