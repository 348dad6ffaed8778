"""The events of a scan in, the node table out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from weft.columns.integers import Flags, Ints, Longs
from weft.documents.document import Document, Limits
from weft.documents.scan import BREAK, END, SEPARATOR, TEXT, Event, Scan, scan
from weft.documents.table import NodeTable

_END, _TEXT, _BREAK = -1, -2, -3
Whole = TypeVar("Whole", np.int32, np.int64)


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
    attribute_names = scanned.attribute_names
    attribute_codes = np.fromiter(map(codes.__getitem__, attribute_names), np.int32, len(attribute_names))
    attribute_owners = rows_before[np.array(scanned.attribute_events, dtype=np.int64)]
    names, tags, name_of, tag_of = _names(codes)
    return NodeTable(
        documents=tuple(scanned.documents),
        sources=tuple(scanned.sources),
        rejected=tuple(scanned.rejected),
        names=names,
        tags=tags,
        document=np.searchsorted(np.array(scanned.ends), starts, side="right").astype(np.int32),
        name=name_of[kinds[starts]],
        tag=tag_of[kinds[starts]],
        parent=np.concatenate([shape.parent, attribute_owners, shape.text_owner]),
        last=shape.last,
        depth=shape.depth,
        start=shape.start,
        end=shape.end,
        text_first=shape.text_first,
        text_last=shape.text_last,
        event=starts.astype(np.int32),
        attribute_name=name_of[attribute_codes],
        attribute_tag=tag_of[attribute_codes],
        attribute_values=tuple(scanned.attribute_values),
        texts=texts,
        text_event=text_at.astype(np.int32),
        namespaces=tuple(
            (int(rows_before[event]), prefix, uri)
            for event, (prefix, uri) in zip(scanned.namespace_events, scanned.namespaces, strict=True)
        ),
    )


@dataclass(frozen=True, slots=True)
class _TreeShape:
    """How the elements of a batch lie in each other and in their sources."""

    parent: Ints
    depth: Ints
    last: Ints
    start: Longs
    end: Longs
    text_first: Ints
    text_last: Ints
    text_owner: Ints


def _shape(kinds: Ints, is_start: Flags, rows_before: Ints, offsets: Longs) -> _TreeShape:
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
    return _TreeShape(
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


def _names(codes: _Codes) -> tuple[tuple[str, ...], tuple[str, ...], Ints, Ints]:
    """Expanded names and written tags of the raw names, and for each raw name the index of both."""
    names: dict[str, int] = {}
    tags: dict[str, int] = {}
    name_of, tag_of = [], []
    for raw in map(str, list(codes)[3:]):
        name = tag = raw
        if SEPARATOR in raw:
            uri, local, prefix = split_name(raw)
            name, tag = f"{{{uri}}}{local}", f"{prefix}:{local}" if prefix else local
        name_of.append(names.setdefault(name, len(names)))
        tag_of.append(tags.setdefault(tag, len(tags)))
    return tuple(names), tuple(tags), np.array(name_of, np.int32), np.array(tag_of, np.int32)


def split_name(raw: str) -> tuple[str, str, str]:
    """Uri, local name and prefix of a name as expat gives it; empty where there is none."""
    parts = raw.split(SEPARATOR)
    if len(parts) == 1:
        return "", raw, ""
    return parts[0], parts[1], parts[2] if len(parts) == 3 else ""
