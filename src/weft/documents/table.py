"""The events of a scan in, the node table out: a batch of documents as columns of integers.

Elements, attributes and texts are *nodes*; a node is one integer in the whole batch: elements first (their row),
then attributes, then texts, each in document order. `parent` is right for all three.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, pairwise
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from weft.documents.columns import Ints, Longs, expand
from weft.documents.document import Document, Limits
from weft.documents.kind import Kind
from weft.documents.scan import BREAK, END, SEPARATOR, TEXT, Event, Scan, scan
from weft.errors import DocumentError

_END, _TEXT, _BREAK = -1, -2, -3
Whole = TypeVar("Whole", np.int32, np.int64)


@dataclass(frozen=True)
class NodeTable:
    """A batch of documents as columns. Rows are elements in document order, document after document."""

    documents: tuple[Document, ...]
    sources: tuple[bytes, ...]
    rejected: tuple[DocumentError, ...]
    names: tuple[str, ...]  # expanded: `{uri}local`; the columns `name` and `attribute_name` point here
    tags: tuple[str, ...]  # as written: `prefix:local`; `attribute_tag` points here
    # one entry an element
    document: Ints
    name: Ints
    parent: Ints  # the element's parent row, -1 for a root; then the owners of attributes and of texts
    last: Ints  # last row of the subtree
    depth: Ints  # 1 for a root
    start: Longs  # byte offset of the start tag in the document's source
    end: Longs  # byte offset where the end tag starts, or of the end of an empty-element tag
    text_first: Ints  # the subtree's texts are texts[text_first:text_last]
    text_last: Ints
    event: Ints  # position in the batch's event order
    # one entry an attribute
    attribute_name: Ints
    attribute_tag: Ints
    attribute_values: tuple[str, ...]
    # one entry a text
    texts: tuple[str, ...]
    text_event: Ints
    # declared namespaces: row, prefix, uri (None undeclares the default)
    namespaces: tuple[tuple[int, str | None, str | None], ...]

    @property
    def elements(self) -> int:
        """How many elements there are: nodes below it are elements."""
        return len(self.name)

    @property
    def first_text(self) -> int:
        """The node of the first text."""
        return len(self.name) + len(self.attribute_name)

    @property
    def nodes(self) -> int:
        """How many nodes there are in all."""
        return len(self.parent)

    @cached_property
    def node_document(self) -> Ints:
        """The document of every node."""
        return np.concatenate([self.document, self.document[self.parent[self.elements :]]])

    @cached_property
    def order(self) -> Longs:
        """A key for every node that puts nodes of all kinds in document order."""
        width = int(self.attribute_name.size) + 1
        event = self.event.astype(np.int64) * width
        owners = self.parent[self.elements : self.first_text]
        attribute = event[owners] + np.arange(1, owners.size + 1)
        # An attribute's rank among all attributes is below `width`, so it stays before the next event.
        return np.concatenate([event, attribute, self.text_event.astype(np.int64) * width])

    @cached_property
    def _open_rows(self) -> tuple[Longs, Longs]:
        """Rows by depth, and keys that find the row open at a depth."""
        by_depth = np.argsort(self.depth, kind="stable")
        return by_depth, self.depth[by_depth].astype(np.int64) * self.elements + by_depth

    def at_depth(self, nodes: Ints, depths: Ints) -> Ints:
        """The ancestor of each node at a depth above its own."""
        rows = np.where(nodes < self.elements, nodes, self.parent[nodes])
        by_depth, keys = self._open_rows
        found = np.searchsorted(keys, depths.astype(np.int64) * self.elements + rows, side="right") - 1
        return by_depth[found].astype(np.int32)

    def ancestors(self, nodes: Ints, ups: Ints) -> Ints:
        """The ancestor of each node so many levels up."""
        nodes = nodes.copy()
        for level in range(int(ups.max(initial=0))):
            nodes = np.where(ups > level, self.parent[nodes], nodes)
        return nodes

    @cached_property
    def _by_parent(self) -> dict[Kind, tuple[Longs, Ints]]:
        """For each kind its nodes by their parents, and where each parent's nodes begin."""
        bounds = {Kind.ELEMENT: (0, self.elements), Kind.ATTRIBUTE: (self.elements, self.first_text)}
        bounds[Kind.TEXT] = (self.first_text, self.nodes)
        result = {}
        for kind, (first, end) in bounds.items():
            parents = self.parent[first:end]
            order = np.argsort(parents, kind="stable")
            starts = np.searchsorted(parents[order], np.arange(self.elements + 1))
            result[kind] = starts, (order + first).astype(np.int32)
        return result

    def reach(self, rows: Ints, kind: Kind, deep: bool) -> tuple[Longs, Ints]:
        """All nodes of a kind that a step leads to from rows: (position in the input, node)."""
        rows = rows[rows < self.elements] if rows.size and rows.max() >= self.elements else rows
        starts, nodes = self._by_parent[kind]
        if not deep:
            which, inside = expand(starts[rows], starts[rows + np.int64(1)])
            return which, nodes[inside]
        last = self.last[rows]
        if kind is Kind.ELEMENT:
            which, inside = expand(rows + np.int64(1), last + np.int64(1))
        elif kind is Kind.ATTRIBUTE:
            which, inside = expand(starts[rows] + self.elements, starts[last + np.int64(1)] + self.elements)
        else:
            which, inside = expand(self.text_first[rows] + self.first_text, self.text_last[rows] + self.first_text)
        return which, inside.astype(np.int32)

    def string_value(self, node: int) -> str:
        """XPath's string-value of a node."""
        if node < self.elements:
            return "".join(self.texts[self.text_first[node] : self.text_last[node]])
        if node < self.first_text:
            return self.attribute_values[node - self.elements]
        return self.texts[node - self.first_text]

    def string_values(self, nodes: Ints) -> list[str]:
        """The string-values of many nodes."""
        elements, first_text, texts = self.elements, self.first_text, self.texts
        if nodes.size and int(nodes.max()) < elements:
            spans = zip(self.text_first[nodes].tolist(), self.text_last[nodes].tolist(), strict=True)
            return [texts[a] if b - a == 1 else "".join(texts[a:b]) for a, b in spans]
        if nodes.size and int(nodes.min()) >= first_text:
            return [texts[node] for node in (nodes - first_text).tolist()]
        return [self.string_value(node) for node in nodes.tolist()]


def read(documents: Iterable[Document], limits: Limits | None = None) -> NodeTable:
    """Read a batch of documents; what cannot be read is in the table's `rejected`."""
    return build(scan(documents, limits or Limits()))


class _Codes(dict[Event, int]):
    """Names as expat gives them, numbered as they come. Every event is looked up, so it must be a plain dict else."""

    def __missing__(self, raw: Event) -> int:
        self[raw] = code = len(self) - 3
        return code


def build(scanned: Scan) -> NodeTable:
    """The node table of a scan."""
    codes = _Codes({END: _END, TEXT: _TEXT, BREAK: _BREAK})
    kinds = np.fromiter(map(codes.__getitem__, scanned.events), np.int32, len(scanned.events))
    texts = _merge_texts(kinds, scanned.texts)
    is_start, is_text = kinds >= 0, kinds == _TEXT
    rows_before = np.cumsum(is_start, dtype=np.int32) - is_start
    starts, text_at = np.flatnonzero(is_start), np.flatnonzero(is_text)
    shape = _shape(kinds, is_start, rows_before, np.array(scanned.offsets, dtype=np.int64))
    attribute_codes = np.fromiter(
        map(codes.__getitem__, chain.from_iterable(pairs[::2] for pairs in scanned.attributes)), np.int32
    )
    names, tags, name_of, tag_of = _names(codes)
    return NodeTable(
        documents=tuple(scanned.documents),
        sources=tuple(scanned.sources),
        rejected=tuple(scanned.rejected),
        names=names,
        tags=tags,
        document=np.searchsorted(np.array(scanned.ends), starts, side="right").astype(np.int32),
        name=name_of[kinds[starts]],
        parent=np.concatenate([shape.parent, _attribute_owners(scanned, rows_before), shape.text_owner]),
        last=shape.last,
        depth=shape.depth,
        start=shape.start,
        end=shape.end,
        text_first=shape.text_first,
        text_last=shape.text_last,
        event=starts.astype(np.int32),
        attribute_name=name_of[attribute_codes],
        attribute_tag=tag_of[attribute_codes],
        attribute_values=tuple(chain.from_iterable(pairs[1::2] for pairs in scanned.attributes)),
        texts=texts,
        text_event=text_at.astype(np.int32),
        namespaces=tuple(
            (int(rows_before[event]), prefix, uri)
            for event, (prefix, uri) in zip(scanned.namespace_events, scanned.namespaces, strict=True)
        ),
    )


@dataclass(frozen=True, slots=True)
class _Shape:
    """How the elements of a batch lie in each other and in their sources."""

    parent: Ints
    depth: Ints
    last: Ints
    start: Longs
    end: Longs
    text_first: Ints
    text_last: Ints
    text_owner: Ints


def _shape(kinds: Ints, is_start: NDArray[np.bool_], rows_before: Ints, offsets: Longs) -> _Shape:
    is_end, is_text = kinds == _END, kinds == _TEXT
    depth_after = np.cumsum(is_start.astype(np.int32) - is_end, dtype=np.int32)
    texts_before = np.cumsum(is_text, dtype=np.int32) - is_text
    starts, ends, text_at = np.flatnonzero(is_start), np.flatnonzero(is_end), np.flatnonzero(is_text)
    depth, rows = depth_after[starts], starts.size
    # The k-th end at a depth closes the k-th start at that depth: two stable sorts pair them.
    by_depth = np.argsort(depth, kind="stable")
    row_of_end = np.empty(rows, np.int64)
    row_of_end[np.argsort(depth_after[ends], kind="stable")] = by_depth
    open_keys = depth[by_depth].astype(np.int64) * (rows + 1) + by_depth

    def enclosing(at_depth: Ints, before: Ints) -> Ints:
        """The last row at a depth that started before: the element that is open there."""
        keys = at_depth.astype(np.int64) * (rows + 1) + before
        return by_depth[np.searchsorted(open_keys, keys) - 1].astype(np.int32) if rows else before

    def at_end(values: NDArray[Whole]) -> NDArray[Whole]:
        """Values at the end events, put at the rows that end there."""
        result = np.empty(rows, values.dtype)
        result[row_of_end] = values[ends]
        return result

    offset_at = np.zeros(kinds.size, np.int64)
    offset_at[is_start | is_end] = offsets
    parent = enclosing(depth - 1, rows_before[starts])
    parent[depth == 1] = -1
    return _Shape(
        parent=parent,
        depth=depth,
        last=at_end(rows_before) - 1,
        start=offset_at[starts],
        end=at_end(offset_at),
        text_first=texts_before[starts],
        text_last=at_end(texts_before),
        text_owner=enclosing(depth_after[text_at], rows_before[text_at]),
    )


def _merge_texts(kinds: Ints, texts: list[str]) -> tuple[str, ...]:
    """expat gives long text in pieces: the first piece becomes the whole, the others breaks."""
    more = np.flatnonzero((kinds[1:] == _TEXT) & (kinds[:-1] == _TEXT)) + 1
    if not more.size:
        return tuple(texts)
    number = np.cumsum(kinds == _TEXT) - 1
    piece_of = np.zeros(len(texts), bool)
    piece_of[number[more]] = True
    firsts = np.flatnonzero(~piece_of)
    kinds[more] = _BREAK
    bounds = [*firsts.tolist(), len(texts)]
    return tuple("".join(texts[a:b]) for a, b in pairwise(bounds))


def _attribute_owners(scanned: Scan, rows_before: Ints) -> Ints:
    counts = np.fromiter((len(pairs) // 2 for pairs in scanned.attributes), np.int64, len(scanned.attributes))
    return np.repeat(rows_before[np.array(scanned.attribute_events, dtype=np.int64)], counts)


def _names(codes: _Codes) -> tuple[tuple[str, ...], tuple[str, ...], Ints, Ints]:
    """Expanded names and written tags of the raw names, and for each raw name the index of both."""
    names: dict[str, int] = {}
    tags: dict[str, int] = {}
    name_of, tag_of = [], []
    for raw in list(codes)[3:]:
        uri, local, prefix = split_name(str(raw))
        name_of.append(names.setdefault(f"{{{uri}}}{local}" if uri else local, len(names)))
        tag_of.append(tags.setdefault(f"{prefix}:{local}" if prefix else local, len(tags)))
    return tuple(names), tuple(tags), np.array(name_of, np.int32), np.array(tag_of, np.int32)


def split_name(raw: str) -> tuple[str, str, str]:
    """Uri, local name and prefix of a name as expat gives it; empty where there is none."""
    parts = raw.split(SEPARATOR)
    if len(parts) == 1:
        return "", raw, ""
    return parts[0], parts[1], parts[2] if len(parts) == 3 else ""
