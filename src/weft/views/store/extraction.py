"""Rows of a part in, the same with all fragments out: those of nested nodes are taken from what they lie in."""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from weft.columns.integers import Flags, Longs
from weft.documents.build import read
from weft.documents.document import Document, Limits
from weft.documents.escaping import escape_attribute
from weft.documents.fragment import Fragments
from weft.views.nodes import SCHEMA

_NAME = re.compile(rb"[^\s=]+")
_MOST, _MOST_ATTRIBUTES = 1 << 62, 1 << 20
#: What has been read from a source within its limits is read again, whatever these were.
_UNLIMITED = Limits(max_bytes=_MOST, max_depth=_MOST, max_attributes=_MOST_ATTRIBUTES, max_nodes=_MOST)


def extract(rows: pa.Table, is_wanted: Flags) -> pa.Table:
    """The wanted rows of a part (PART_SCHEMA, a nested one behind what it lies in) as nodes.select gives them."""
    has_fragment = rows["fragment"].is_valid().to_numpy()
    places = np.flatnonzero(is_wanted)
    wanted = rows.select(SCHEMA.names).take(places)
    nested = np.flatnonzero(~has_fragment[places])
    if nested.size:
        around = np.maximum.accumulate(np.where(has_fragment, np.arange(has_fragment.size), 0))[places[nested]]
        tops, top_of = np.unique(around, return_inverse=True)
        found = _fragments(rows.take(tops), top_of, wanted.take(nested))
        mask = np.zeros(places.size, bool)
        mask[nested] = True
        fragments = pc.replace_with_mask(wanted["fragment"].combine_chunks(), mask, pa.array(found, pa.string()))
        wanted = wanted.set_column(SCHEMA.get_field_index("fragment"), SCHEMA.field("fragment"), fragments)
    return wanted.cast(SCHEMA)


def _fragments(tops: pa.Table, top_of: Longs, nested: pa.Table) -> list[str]:
    """The fragments of nested rows, given for each the number of the row that it lies in."""
    sources = [text.encode("utf-8") for text in tops["fragment"].to_pylist()]
    # Declarations that were put into a fragment stand behind its first name, before all that lies inside.
    shift = np.array([len(source) for source in sources]) - tops["length"].to_numpy()
    offsets = (nested["offset"].to_numpy() - tops["offset"].to_numpy()[top_of] + shift[top_of]).tolist()
    declaring = {at for at, source in enumerate(sources) if b"xmlns" in source}
    parsed = _Parsed(sources, declaring)
    found: list[str] = []
    paths = nested["path"].combine_chunks()
    names = paths.values.take(pc.subtract(paths.offsets[1:], 1))
    columns = (names.to_pylist(), nested["length"].to_pylist(), nested["value"].to_pylist())
    for top, offset, last, length, value in zip(top_of.tolist(), offsets, *columns, strict=True):
        if last == "text()":
            found.append(value)
        elif last[0] == "@":
            name = _NAME.match(sources[top], offset)
            assert name is not None, "an attribute begins with its name"
            found.append(f'{name[0].decode("utf-8")}="{escape_attribute(value)}"')
        elif top in declaring:
            found.append(parsed.text(top, offset))
        else:
            found.append(sources[top][offset : offset + length].decode("utf-8"))
    return found


class _Parsed:
    """Fragments that have namespaces, parsed: what an element in them needs is put in as it was at the source."""

    def __init__(self, sources: list[bytes], numbers: Iterable[int]) -> None:
        self._numbers = {number: at for at, number in enumerate(sorted(numbers))}
        table = read([Document(sources[number], id=str(number)) for number in self._numbers], _UNLIMITED)
        assert not table.rejected, "a fragment is well-formed"
        self._fragments = Fragments(table)
        self._rows = {
            key: row for row, key in enumerate(zip(table.document.tolist(), table.start.tolist(), strict=True))
        }

    def text(self, number: int, offset: int) -> str:
        """The fragment of the element at an offset."""
        return self._fragments.text(self._rows[self._numbers[number], offset])
