"""Documents that are taken out of node tables, or put together, are what a scan of them gives."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from strategies import documents, namespaced_documents
from weft.documents import Document, Fragments, NodeTable, read
from weft.documents.gather import concatenate, select

ANY = st.one_of(documents(), namespaced_documents())


def told(table: NodeTable) -> list[object]:
    """Every column, names instead of their numbers; events by their order alone."""
    shown: list[object] = []
    for field in fields(table):
        value = getattr(table, field.name)
        if field.name in ("name", "attribute_name"):
            value = [table.names[at] for at in value]
        elif field.name in ("tag", "attribute_tag"):
            value = [table.tags[at] for at in value]
        elif field.name in ("event", "text_event", "name_table"):
            continue
        shown.append((field.name, value.tolist() if isinstance(value, np.ndarray) else value))
    shown.append(np.argsort(table.order, kind="stable").tolist())
    fragments = Fragments(table)
    return [*shown, [fragments.text(node) for node in range(table.nodes)]]


@given(st.lists(ANY, min_size=1, max_size=6), st.data())
def test_a_selection_is_what_a_scan_of_its_documents_gives(texts: list[bytes], data: st.DataObject) -> None:
    batch = [Document(text, str(at)) for at, text in enumerate(texts)]
    places = sorted(data.draw(st.sets(st.integers(0, len(batch) - 1), min_size=1)))

    selected = select(read(batch), places)

    assert told(selected) == told(read([batch[place] for place in places]))


@given(st.lists(st.lists(ANY, min_size=1, max_size=3), min_size=1, max_size=4))
def test_tables_put_together_are_what_one_scan_gives(parts: list[list[bytes]]) -> None:
    batches = [[Document(text, f"{at}-{number}") for number, text in enumerate(part)] for at, part in enumerate(parts)]

    together = concatenate([read(batch) for batch in batches])

    assert told(together) == told(read([document for batch in batches for document in batch]))
