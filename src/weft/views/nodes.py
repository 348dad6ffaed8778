"""Documents and selections in, the selected nodes as rows out: what sources answer, views store and queries give."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from threading import get_ident

import numpy as np
import pyarrow as pa
from xxhash import xxh3_128_hexdigest

from weft.columns.integers import Ints, Longs
from weft.documents.build import read
from weft.documents.document import Document, Limits
from weft.documents.table import NodeTable
from weft.engine.engine import Engine
from weft.errors import DocumentError
from weft.plans.plan import Selection
from weft.views.bounds import AnswerBounds
from weft.views.row_columns import PATH_TYPE, RowColumns

#: A node. Its *reference* is (source, document, version, offset): where its first byte stands in the document's source
#: (see weft.documents.source). Its length is the bytes that an element has there; attributes and texts, with nothing
#: inside, have 0. An element's fragment has as many bytes, and of the namespace declarations that are put in behind
#: its first name. Its path has the names from the root to it, expanded as `{uri}local`; an attribute's ends in `@name`,
#: a text's in `text()`. Its value is its string-value, null where elements are inside (see the fragment); its number is
#: what XPath reads the value as, null if that is none.
SCHEMA = pa.schema(
    [
        pa.field("source", pa.string(), nullable=False),
        pa.field("document", pa.string(), nullable=False),
        pa.field("version", pa.string(), nullable=False),
        pa.field("offset", pa.int64(), nullable=False),
        pa.field("length", pa.int64(), nullable=False),
        pa.field("path", PATH_TYPE, nullable=False),
        pa.field("value", pa.string()),
        pa.field("number", pa.float64()),
        pa.field("fragment", pa.string(), nullable=False),
    ]
)
AnsweredRows = Mapping[str, Sequence[pa.Table]]  # by source those of each query
REFERENCE = ["source", "document", "version", "offset"]
_BATCH_BYTES = 16 << 20  # of documents that are read at once


def version_of(data: bytes | str) -> str:
    """The version of a document: its content's hash."""
    return xxh3_128_hexdigest(data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data)


@dataclass(frozen=True, slots=True)
class Selected:
    """The rows of each selection, in the order of the documents and in document order, and what could not be read."""

    rows: tuple[pa.Table, ...]
    rejected: tuple[DocumentError, ...] = ()


def select(
    source: str,
    documents: Sequence[Document],
    selections: Sequence[Selection],
    limits: Limits | None = None,
    bounds: AnswerBounds | None = None,
) -> Selected:
    """Answer selections over the documents of a source, all of them in one pass.

    A document of which a selection would have more than the limits allow is rejected: half an answer is none. With
    bounds nothing is written of an answer that has too many nodes or bytes for them.
    """
    limits = limits or Limits()
    engine = _engine(tuple(selections), limits, get_ident())
    parts: list[list[pa.Table]] = [[SCHEMA.empty_table()] for _ in selections]
    rejected: list[DocumentError] = []
    counted = _CountedNodes(bounds or AnswerBounds())
    for batch in _batches(documents):
        table = read(batch, limits)
        rejected += table.rejected
        matches = engine.match(table)
        places, number_of, nodes = matches.nodes()
        if matches.refused:
            refused = {place: reason for place, _, reason in matches.refused}
            rejected += [DocumentError(table.documents[place].id, 1, 1, 0, refused[place]) for place in refused]
            is_kept = ~np.isin(places, list(refused))
            number_of, nodes = number_of[is_kept], nodes[is_kept]
        rows = _RowMaker(source, table)
        counted.add(rows, nodes)
        for at in range(len(selections)):
            if (chosen := nodes[number_of == at]).size:
                parts[at].append(rows.of(chosen))
    return Selected(tuple(pa.concat_tables(each) for each in parts), tuple(rejected))


def select_places(document: Document, selection: Selection, limits: Limits) -> Longs:
    """Where the selected elements of a document begin, or those that have a selected attribute or text."""
    table = read([document], limits)
    assert not table.rejected, "a document that is known to be one"
    _, _, nodes = _engine((selection,), limits, get_ident()).match(table).nodes()
    elements = np.where(nodes < table.elements, nodes, table.parent[nodes])
    return table.start[elements].astype(np.int64)


@lru_cache(maxsize=64)
def _engine(selections: tuple[Selection, ...], limits: Limits, _thread: int) -> Engine:
    """An engine learns while it answers, so each thread has its own."""
    engine = Engine(limits=limits)
    for at, selection in enumerate(selections):
        engine.add(at, selection)
    return engine


def _batches(documents: Sequence[Document]) -> list[list[Document]]:
    batches: list[list[Document]] = []
    size = _BATCH_BYTES
    for document in documents:
        if size >= _BATCH_BYTES:
            batches.append([])
            size = 0
        batches[-1].append(document)
        size += len(document.data)
    return batches


class _CountedNodes:
    """How much an answer has so far, by what elements have in their documents, before anything of it is written."""

    def __init__(self, bounds: AnswerBounds) -> None:
        self._bounds, self._nodes, self._bytes = bounds, 0, 0

    def add(self, rows: _RowMaker, nodes: Ints) -> None:
        self._nodes += nodes.size
        if self._bounds.max_bytes is not None:
            self._bytes += rows.bytes_of(nodes)
        self._bounds.check(self._nodes, self._bytes)


class _RowMaker:
    """Makes rows of the nodes of a node table."""

    def __init__(self, source: str, table: NodeTable) -> None:
        self._source, self._table, self._columns = source, table, RowColumns(table)
        self._versions: dict[int, str] = {}

    def bytes_of(self, nodes: Ints) -> int:
        """The bytes that elements have in their documents; their fragments have no less."""
        return int(self._columns.lengths(nodes).sum())

    def of(self, nodes: Ints) -> pa.Table:
        """The rows of nodes, in their order."""
        places, at = np.unique(self._table.node_document[nodes], return_inverse=True)
        documents = [(self._table.documents[place].id, self._version(place)) for place in places.tolist()]
        columns = [
            pa.repeat(self._source, nodes.size),
            *(pa.array(each, pa.string()).take(pa.array(at)) for each in zip(*documents, strict=True)),
            self._columns.offsets(nodes),
            self._columns.lengths(nodes),
            self._columns.paths(nodes),
            *self._columns.values(nodes),
            self._columns.fragments(nodes),
        ]
        return pa.table(columns, schema=SCHEMA)

    def _version(self, place: int) -> str:
        if place not in self._versions:
            self._versions[place] = version_of(self._table.documents[place].data)
        return self._versions[place]
