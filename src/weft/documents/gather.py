"""Node tables in, another node table out: some of their documents as one batch, without a second scan."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import accumulate, chain, compress

import numpy as np

from weft.columns.integers import Flags, Ints, Longs
from weft.documents.document import Document
from weft.documents.names import NameTable
from weft.documents.strings import Characters
from weft.documents.table import NodeTable


def select(table: NodeTable, places: Sequence[int]) -> NodeTable:
    """The documents at these places of a table, in the table's order; the table itself if they are all."""
    if len(places) == len(table.documents):
        return table
    is_kept = np.zeros(len(table.documents), bool)
    is_kept[list(places)] = True
    rows = is_kept[table.document]
    attributes, texts = (rows[owners] for owners in _owners(table))
    # Where a row, or a text, stands behind those before it that are kept; one more for the end of the last text.
    row_at = np.cumsum(rows, dtype=np.int32) - 1
    text_at = np.append(0, np.cumsum(texts, dtype=np.int32))
    parent = table.parent[np.concatenate([rows, attributes, texts])]
    return NodeTable(
        documents=tuple(compress(table.documents, is_kept)),
        sources=tuple(compress(table.sources, is_kept)),
        rejected=(),
        name_table=table.name_table,
        document=(np.cumsum(is_kept, dtype=np.int32) - 1)[table.document[rows]],
        name=table.name[rows],
        tag=table.tag[rows],
        parent=np.where(parent >= 0, row_at[parent], -1).astype(np.int32),
        last=row_at[table.last[rows]],
        depth=table.depth[rows],
        start=table.start[rows],
        end=table.end[rows],
        text_first=text_at[table.text_first[rows]],
        text_last=text_at[table.text_last[rows]],
        event=table.event[rows],
        attribute_name=table.attribute_name[attributes],
        attribute_tag=table.attribute_tag[attributes],
        attribute_characters=_kept(table.attribute_characters, table.attribute_value_start, attributes),
        attribute_value_start=_starts(np.diff(table.attribute_value_start)[attributes]),
        text_event=table.text_event[texts],
        characters=_kept(table.characters, table.text_start, texts),
        text_start=_starts(np.diff(table.text_start)[texts]),
        namespaces=tuple((int(row_at[row]), prefix, uri) for row, prefix, uri in table.namespaces if rows[row]),
    )


def with_blanks(table: NodeTable, documents: Sequence[Document], blanks: set[int]) -> NodeTable:
    """The table with documents among its own that have no node at all: `blanks` are the identities of these."""
    read = {id(document) for document in table.documents}
    together = [document for document in documents if id(document) in read or id(document) in blanks]
    # In their order: a document may be there more than once.
    moved = np.array([place for place, document in enumerate(together) if id(document) in read], np.int32)
    sources = iter(table.sources)
    together_sources = [next(sources) if id(document) in read else b"" for document in together]
    return replace(table, documents=tuple(together), sources=tuple(together_sources), document=moved[table.document])


def concatenate(tables: Sequence[NodeTable]) -> NodeTable:
    """Tables as one, document after document."""
    if len(tables) == 1:
        return tables[0]
    name_table, name_of, tag_of = _merged(tables)
    first_document = _before(len(table.documents) for table in tables)
    first_row = _before(table.elements for table in tables)
    first_text = _before(table.nodes - table.first_text for table in tables)
    first_event = _before(_events(table) for table in tables)
    parents = [np.split(table.parent, [table.elements, table.first_text]) for table in tables]
    shifted = [[_shifted(part, row) for part in parts] for parts, row in zip(parents, first_row, strict=True)]
    return NodeTable(
        documents=tuple(chain.from_iterable(table.documents for table in tables)),
        sources=tuple(chain.from_iterable(table.sources for table in tables)),
        rejected=tuple(chain.from_iterable(table.rejected for table in tables)),
        name_table=name_table,
        document=_join([table.document + at for table, at in zip(tables, first_document, strict=True)]),
        name=_join([of[table.name] for table, of in zip(tables, name_of, strict=True)]),
        tag=_join([of[table.tag] for table, of in zip(tables, tag_of, strict=True)]),
        parent=_join([part for kind in zip(*shifted, strict=True) for part in kind]),
        last=_join([table.last + row for table, row in zip(tables, first_row, strict=True)]),
        depth=_join([table.depth for table in tables]),
        start=np.concatenate([table.start for table in tables]),
        end=np.concatenate([table.end for table in tables]),
        text_first=_join([table.text_first + at for table, at in zip(tables, first_text, strict=True)]),
        text_last=_join([table.text_last + at for table, at in zip(tables, first_text, strict=True)]),
        event=_join([table.event + at for table, at in zip(tables, first_event, strict=True)]),
        attribute_name=_join([of[table.attribute_name] for table, of in zip(tables, name_of, strict=True)]),
        attribute_tag=_join([of[table.attribute_tag] for table, of in zip(tables, tag_of, strict=True)]),
        attribute_characters=np.concatenate([table.attribute_characters for table in tables]),
        attribute_value_start=_starts(np.concatenate([np.diff(table.attribute_value_start) for table in tables])),
        text_event=_join([table.text_event + at for table, at in zip(tables, first_event, strict=True)]),
        characters=np.concatenate([table.characters for table in tables]),
        text_start=_starts(np.concatenate([np.diff(table.text_start) for table in tables])),
        namespaces=tuple(
            (at + row, prefix, uri)
            for table, row in zip(tables, first_row, strict=True)
            for at, prefix, uri in table.namespaces
        ),
    )


def _owners(table: NodeTable) -> tuple[Ints, Ints]:
    """The rows that attributes and texts belong to."""
    return table.parent[table.elements : table.first_text], table.parent[table.first_text :]


def _merged(tables: Sequence[NodeTable]) -> tuple[NameTable, list[Ints], list[Ints]]:
    """One name table for all, and for each table the new number of each of its names and of its tags."""
    first = tables[0].name_table
    if all(table.name_table is first for table in tables):
        same = np.arange(max(len(first.names), len(first.tags)), dtype=np.int32)
        return first, [same] * len(tables), [same] * len(tables)
    merged = NameTable()
    name_of, tag_of = [], []
    for table in tables:
        name_of.append(_renumbered(merged.name_number, table.names, table.name, table.attribute_name))
        tag_of.append(_renumbered(merged.tag_number, table.tags, table.tag, table.attribute_tag))
    return merged, name_of, tag_of


def _renumbered(number: Callable[[str], int], entries: Sequence[str], *columns: Ints) -> Ints:
    """By the old number of each entry that columns have the new one."""
    used = np.unique(np.concatenate(columns))
    numbers = np.full(used.max(initial=-1) + 1, -1, np.int32)
    numbers[used] = [number(entries[at]) for at in used.tolist()]
    return numbers


def _kept(characters: Characters, starts: Longs, entries: Flags) -> Characters:
    """The characters of some of the strings that a buffer has."""
    return characters[np.repeat(entries, np.diff(starts))]


def _starts(sizes: Longs) -> Longs:
    return np.append(0, np.cumsum(sizes, dtype=np.int64))


def _before(sizes: Iterable[int]) -> list[int]:
    return [0, *accumulate(sizes)][:-1]


def _events(table: NodeTable) -> int:
    """A number above all events of a table."""
    return 1 + int(max(table.event.max(initial=0), table.text_event.max(initial=0)))


def _shifted(parents: Ints, row: int) -> Ints:
    return np.where(parents >= 0, parents + row, -1).astype(np.int32)


def _join(columns: Sequence[Ints]) -> Ints:
    return np.concatenate(columns, dtype=np.int32, casting="same_kind")
