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
from weft.documents.fragment import Fragments
from weft.documents.offsets import attribute_offset, text_offsets
from weft.documents.table import NodeTable
from weft.engine.engine import Engine
from weft.errors import DocumentError
from weft.plans.numbers import number
from weft.plans.plan import Selection

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
        pa.field("path", pa.list_(pa.field("element", pa.string(), nullable=False)), nullable=False),
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
    source: str, documents: Sequence[Document], selections: Sequence[Selection], limits: Limits | None = None
) -> Selected:
    """Answer selections over the documents of a source, all of them in one pass.

    A document of which a selection would have more than the limits allow is rejected: half an answer is none.
    """
    limits = limits or Limits()
    engine = _engine(tuple(selections), limits, get_ident())
    parts: list[list[pa.Table]] = [[SCHEMA.empty_table()] for _ in selections]
    rejected: list[DocumentError] = []
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


class _RowMaker:
    """Makes rows of the nodes of a node table."""

    def __init__(self, source: str, table: NodeTable) -> None:
        self._source, self._table = source, table
        self._fragments = Fragments(table)
        self._versions: dict[int, str] = {}
        self._paths: dict[int, list[str]] = {-1: []}
        self._texts: dict[int, list[int]] = {}  # the offsets of the texts right inside elements

    def of(self, nodes: Ints) -> pa.Table:
        """The rows of nodes, in their order."""
        table = self._table
        places = table.node_document[nodes].tolist()
        listed: list[int] = nodes.tolist()
        values = [self._value(node) for node in listed]
        numbers = np.array([number(value or "") for value in values])
        columns = [
            pa.array([self._source] * nodes.size, pa.string()),
            pa.array([table.documents[place].id for place in places], pa.string()),
            pa.array([self._version(place) for place in places], pa.string()),
            pa.array([self._offset(node) for node in listed], pa.int64()),
            pa.array([self._length(node) for node in listed], pa.int64()),
            pa.array([self._path(node) for node in listed], SCHEMA.field("path").type),
            pa.array(values, pa.string()),
            pa.array(numbers, pa.float64(), mask=np.isnan(numbers)),
            pa.array([self._fragments.text(node) for node in listed], pa.string()),
        ]
        return pa.table(columns, schema=SCHEMA)

    def _value(self, node: int) -> str | None:
        has_elements = node < self._table.elements and self._table.last[node] > node
        return None if has_elements else self._table.string_value(node)

    def _length(self, node: int) -> int:
        return self._fragments.length(node) if node < self._table.elements else 0

    def _version(self, place: int) -> str:
        if place not in self._versions:
            self._versions[place] = version_of(self._table.documents[place].data)
        return self._versions[place]

    def _path(self, node: int) -> list[str]:
        known = self._paths.get(node)
        if known is None:
            table = self._table
            known = [*self._path(int(table.parent[node])), self._name(node)]
            if node < table.elements:
                self._paths[node] = known
        return known

    def _name(self, node: int) -> str:
        table = self._table
        if node < table.elements:
            return str(table.names[table.name[node]])
        if node < table.first_text:
            return f"@{table.names[table.attribute_name[node - table.elements]]}"
        return "text()"

    def _offset(self, node: int) -> int:
        table = self._table
        if node < table.elements:
            return int(table.start[node])
        owner = int(table.parent[node])
        source, start = table.sources[int(table.document[owner])], int(table.start[owner])
        if node < table.first_text:
            return attribute_offset(source, start, table.tags[table.attribute_tag[node - table.elements]])
        if owner not in self._texts:
            self._texts[owner] = text_offsets(source, start)
        before, last = table.text_first[owner] + table.first_text, node + 1  # all of them are inside the owner
        own = np.count_nonzero(table.parent[before:last] == owner)
        return self._texts[owner][own - 1]
