"""A DTD in, how far an element must be read until some of its patterns are decided out: the rest can be passed over.

A DTD says in which order the children of the bottom input element stand. Where those that patterns begin with come at
most once, the element's *lead* is all up to the end of the last of them, and nothing if that is not there; with an end
tag behind it, it is a document of its own. That none of them comes later is looked for in the bytes, unless documents
are trusted: so an element that does not keep to the DTD is answered like any other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from weft.columns.integers import Ints
from weft.documents.build import read
from weft.documents.document import Document, Limits
from weft.documents.dtd import Child, ContentGroup, Dtd
from weft.documents.kind import Kind
from weft.documents.table import NodeTable
from weft.optimizer.algebra import Inside
from weft.optimizer.pattern_tree import PatternTree
from weft.plans.walk import walk

_AT_MOST_ONCE = ("once", "opt")
_ASIDE = (b"!", b"?", b"\0", b"")
_NOTHING = b"<nothing/>"  # the lead of an element without the child that decides
_OPENING, _CLOSING = b"<leads>", b"</leads>"


@dataclass(frozen=True, slots=True)
class Lead:
    """Where an element's lead ends, and which tags must not begin behind it."""

    end: bytes  # the end tag of its last child
    last: bytes  # with what that begins
    opening: tuple[bytes, ...]
    closing: bytes  # of the element
    trusted: bool

    def cut(self, data: bytes) -> bytes | None:
        """The lead as a document; None where it cannot be told."""
        if data[1:2] in _ASIDE or data[:1] != b"<":  # entities may hold anything, and encodings too
            return None
        found = data.find(self.last)
        if found < 0:
            return _NOTHING
        found = data.find(self.end, found)
        if found < 0:  # it is empty
            return None
        found += len(self.end)
        if not self.trusted:
            for opening in self.opening:
                if data.find(opening, found) >= 0:
                    return None
        return data[:found] + self.closing


@dataclass(frozen=True, slots=True)
class ReadLeads:
    """The leads of a batch as children of one document, which costs far less to read than many."""

    table: NodeTable
    roots: Ints  # their rows
    places: Ints  # the place of each one's element in the batch


def read_leads(lead: Lead, documents: Sequence[Document], limits: Limits) -> ReadLeads | None:
    """The leads of the elements that have one; None if there are none, or one is not well-formed."""
    places, parts = [], [_OPENING]
    for at, document in enumerate(documents):
        data = document.data
        if isinstance(data, bytes) and (cut := lead.cut(data)) is not None:
            places.append(at)
            parts.append(cut)
    if not places:
        return None
    sizes = np.array([len(part) for part in parts], np.int64)
    data = b"".join([*parts, _CLOSING])
    table = read([Document(data, "leads")], replace(limits, max_bytes=len(data), max_depth=limits.max_depth + 1))
    if table.rejected:
        return None
    roots = np.flatnonzero(table.parent[: table.elements] == 0).astype(np.int32)
    # One that is not well-formed may swallow others; then some do not begin where they were put.
    if not np.array_equal(table.start[roots], np.cumsum(sizes)[:-1]):
        return None
    return ReadLeads(table, roots, np.array(places, np.int32))


def share_of_leads(lead: Lead, documents: Sequence[Document]) -> float:
    """The share of the bytes of elements that must be read to decide; of one without a lead all must."""
    whole = read = 0
    for document in documents:
        data = document.data
        cut = lead.cut(data) if isinstance(data, bytes) else None
        whole += len(data)
        read += len(data if cut is None else cut)
    return read / max(whole, 1)


class Leads:
    """The leads of one query's elements."""

    def __init__(self, tree: PatternTree, dtd: Dtd | None, *, trusted: bool = False) -> None:
        self._tree, self._trusted = tree, trusted
        self._order = _order(dtd, tree.label) if dtd is not None and isinstance(tree.label, str) else []
        self._share: dict[int, float] = {}  # by the place of the last child: the share of bytes, as seen

    def lead(self, inside: Inside) -> Lead | None:
        """The lead that decides these patterns, if the DTD tells one that is shorter than the element."""
        last = self._last(inside)
        if last is None:
            return None
        names = {self._first_name(each) for each in inside}
        return self._lead(last, tuple(f"<{name}".encode() for name in sorted(name for name in names if name)))

    def _lead(self, last: int, opening: tuple[bytes, ...]) -> Lead:
        name = self._order[last]
        closing = f"</{self._tree.label}>".encode()
        return Lead(f"</{name}>".encode(), f"<{name}".encode(), opening, closing, self._trusted)

    def share(self, inside: Inside) -> float | None:
        """The share of an element that is its lead; as many children of so many, until it was seen."""
        last = self._last(inside)
        return None if last is None else self._share.get(last, (last + 1) / len(self._order))

    def probe(self, some: Sequence[Document]) -> int:
        """Find on some elements which share the leads are that no plan has asked for yet; how many were taken."""
        taken = 0
        for last, name in enumerate(self._order):
            if name and some:
                self._share[last] = share_of_leads(self._lead(last, (f"<{name}".encode(),)), some)
                taken += len(some)
        return taken

    def saw(self, inside: Inside, share: float) -> None:
        """The share of bytes in some elements of a batch."""
        last = self._last(inside)
        if last is not None:
            known = self._share.get(last, share)
            self._share[last] = known + (share - known) / 4

    def _last(self, inside: Inside) -> int | None:
        """The place of the last child that some pattern begins with, if not nearly all of the element is before it."""
        places = []
        for each in inside:
            name = self._first_name(each)
            if name is None or name not in self._order:
                return None
            places.append(self._order.index(name))
        last = max(places, default=None)
        return last if last is not None and last + 1 < len(self._order) else None

    def _first_name(self, pattern: int) -> str | None:
        """The child of the element that a pattern lies in; None where it may lie in any."""
        first = self._tree.full_path(pattern)[0]
        is_child = first.kind is Kind.ELEMENT and not first.deep and isinstance(first.label, str)
        return str(first.label) if is_child else None


def _order(dtd: Dtd, element: str) -> list[str]:
    """The children of an element in their order; "" for what may come several times, or in turns."""
    content = dtd.content(element) if element in dtd else None
    if not isinstance(content, ContentGroup) or content.kind != "sequence" or content.occurs not in _AT_MOST_ONCE:
        return []
    parts = content.parts
    single = [part.name if isinstance(part, Child) and part.occurs in _AT_MOST_ONCE else "" for part in parts]
    names = Counter(leaf.name for leaf in walk(content) if isinstance(leaf, Child))
    return [name if names[name] == 1 else "" for name in single]
