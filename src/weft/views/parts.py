"""The answers of a source's queries in; their nodes out, each once, in classes by the set of queries that they answer.

A node that lies in another answer's node is *nested*: it belongs where the topmost node around it belongs, its *home*,
and needs no fragment of its own, since that one has it. So the classes of the topmost nodes are the *parts* that all
answers are made of: disjoint, and nothing is in two of them (Tajima and Fukui's minimal view set).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from weft.columns.integers import Flags, Longs
from weft.errors import WeftError
from weft.views.nodes import SCHEMA

#: The names of queries whose answers a node is in.
Signature = frozenset[str]

#: What a part has of a node: a nested one has no fragment, but the offset of the topmost node around it.
PART_SCHEMA = pa.schema(
    [
        *(field.with_nullable(True) if field.name == "fragment" else field for field in SCHEMA),
        pa.field("inside", pa.int64()),
        pa.field("views", pa.list_(pa.field("element", pa.string(), nullable=False)), nullable=False),
    ]
)


class MixedVersionsError(WeftError):
    """Answers of one source that are about two versions of a document."""

    def __init__(self, source: str, document: str) -> None:
        self.source, self.document = source, document
        super().__init__(source, document)

    def __str__(self) -> str:
        return f"{self.source}: expected answers from one version of {self.document}, found several: it has changed"


@dataclass(frozen=True, slots=True)
class Classes:
    """The nodes of a source's answers, each once, by document and offset.

    `around` is for each the place of the topmost node around it, its own if it is a topmost one; `number` tells which
    of the signatures is its own.
    """

    source: str
    nodes: pa.Table
    around: Longs
    number: Longs
    signatures: tuple[Signature, ...]

    @property
    def is_nested(self) -> Flags:
        """Which nodes lie in others."""
        is_nested: Flags = self.around != np.arange(self.around.size)
        return is_nested

    def homes(self) -> dict[Signature, Longs]:
        """The parts: for each signature of topmost nodes the places of these, and of all that lie in them."""
        home = self.number[self.around]
        order = np.argsort(home, kind="stable")
        found, first = np.unique(home[order], return_index=True)
        places = np.split(order, first[1:])
        return {self.signatures[at]: each for at, each in zip(found.tolist(), places, strict=False)}

    def required(self, view: str) -> frozenset[Signature]:
        """The parts that hold a view's nodes, or what these lie in."""
        has_view = np.array([view in signature for signature in self.signatures], bool)
        homes: Longs = np.unique(self.number[self.around[has_view[self.number]]])
        return frozenset(self.signatures[at] for at in homes.tolist())

    def rows(self, places: Longs) -> pa.Table:
        """What a part has of nodes (see PART_SCHEMA)."""
        is_nested = pa.array(self.is_nested[places])
        nodes = self.nodes.take(places)
        offsets = self.nodes["offset"].take(self.around[places])
        names = pa.array([sorted(each) for each in self.signatures], PART_SCHEMA.field("views").type)
        columns = {name: nodes[name] for name in SCHEMA.names}
        columns["fragment"] = pc.if_else(is_nested, None, nodes["fragment"])
        columns["inside"] = pc.if_else(is_nested, offsets, None)
        columns["views"] = names.take(pa.array(self.number[places]))
        return pa.table(columns, schema=PART_SCHEMA)


def part_id(source: str, signature: Iterable[str]) -> str:
    """The id of a source's part with this signature, the same wherever it is asked for."""
    digest = blake2b(digest_size=8)
    for text in (source, *sorted(signature)):
        digest.update(b"%d:" % len(data := text.encode("utf-8")) + data)
    return digest.hexdigest()


def definition_of(signature: Iterable[str], texts: Mapping[str, str]) -> str:
    """The part with this signature as XPath, for people, given the texts of all views."""
    names = sorted(signature)
    inside = [texts[name] for name in names]
    outside = [text for name, text in texts.items() if name not in names]
    common = " intersect ".join(f"({text})" for text in inside)
    return f"{common} except ({' | '.join(outside)})" if outside else common


def classify(source: str, rows: Mapping[str, pa.Table], documents: Iterable[str] = ()) -> Classes:
    """The classes of a source's nodes, from the rows that each view has there.

    `documents` tells the order of the documents; any that it does not name come behind, by their ids. Raises
    MixedVersionsError where rows are about different versions of a document.
    """
    table = pa.concat_tables([SCHEMA.empty_table(), *rows.values()]).combine_chunks()
    view = np.repeat(np.arange(len(rows)), [each.num_rows for each in rows.values()])
    codes, rank = _documents(source, table, documents)
    offset = table["offset"].to_numpy()
    order = np.lexsort((view, offset, rank[codes]))
    codes, offset = codes[order], offset[order]
    is_first = np.ones(order.size, bool)
    is_first[1:] = (codes[1:] != codes[:-1]) | (offset[1:] != offset[:-1])
    node_of = np.cumsum(is_first) - 1
    number, signatures = _signatures(node_of, view[order], tuple(rows), int(is_first.sum()))
    nodes = table.take(order[is_first])
    around = _topmost(rank[codes[is_first]], offset[is_first], nodes["length"].to_numpy())
    return Classes(source, nodes, around, number, signatures)


def _documents(source: str, table: pa.Table, documents: Iterable[str]) -> tuple[Longs, Longs]:
    """For each row the number of its document, and for each number its place among the documents."""
    encoded = table["document"].combine_chunks().dictionary_encode()
    ids: list[str] = encoded.dictionary.to_pylist()
    versions = table.group_by("document").aggregate([("version", "count_distinct")])
    for at in np.flatnonzero(versions["version_count_distinct"].to_numpy() > 1)[:1]:
        raise MixedVersionsError(source, versions["document"][int(at)].as_py())
    named = {document: at for at, document in enumerate(documents)}
    in_order = sorted(range(len(ids)), key=lambda at: (named.get(ids[at], len(named)), ids[at]))
    rank = np.empty(len(ids), np.int64)
    rank[in_order] = np.arange(len(ids))
    return encoded.indices.to_numpy().astype(np.int64), rank


def _signatures(node: Longs, view: Longs, names: tuple[str, ...], nodes: int) -> tuple[Longs, tuple[Signature, ...]]:
    """For each node the number of its signature: views part the classes one after the other."""
    number = np.zeros(nodes, np.int64)
    signatures: list[Signature] = [frozenset()]
    by_view = np.argsort(view, kind="stable")
    bounds = np.searchsorted(view[by_view], np.arange(len(names) + 1))
    for at, name in enumerate(names):
        members = np.unique(node[by_view[bounds[at] : bounds[at + 1]]])
        before, new = np.unique(number[members], return_inverse=True)
        number[members] = len(signatures) + new
        signatures += [signatures[each] | {name} for each in before.tolist()]
    used, number = np.unique(number, return_inverse=True)
    return number, tuple(signatures[at] for at in used.tolist())


def _topmost(document: Longs, offset: Longs, length: Longs) -> Longs:
    """For each node, all in order, the place of the topmost one around it: nodes lie in each other or apart."""
    width = int((offset + length).max(initial=0)) + 1
    start = document * width + offset
    end_before = np.maximum.accumulate(np.append(0, start + length))[:-1]
    places = np.arange(offset.size)
    found: Longs = np.maximum.accumulate(np.where(start >= end_before, places, 0))
    return found
