"""A node in, its XML out: a slice of the source, with the namespace declarations that it needs put in."""

from __future__ import annotations

import re

from weft.documents.rewrite import escape_attribute
from weft.documents.table import NodeTable

_TAG_NAME = re.compile(rb"<[^\s/>]+")


class Fragments:
    """The fragments of a node table.

    Every source is UTF-8 without declarations of its own (see `source` and `rewrite`), so a slice is faithful but
    for prefixes that are declared outside it.
    """

    def __init__(self, table: NodeTable) -> None:
        self._table = table
        self._declared: dict[int, dict[str | None, str | None]] = {}
        for row, prefix, uri in table.namespaces:
            self._declared.setdefault(row, {})[prefix] = uri
        self._documents = {int(table.document[row]) for row in self._declared}
        self._inherited: dict[int, dict[str | None, str | None]] = {-1: {}}

    def xml(self, row: int) -> bytes:
        """The XML of an element."""
        table = self._table
        document = int(table.document[row])
        source = table.sources[document]
        start, end = int(table.start[row]), self._end(row, source)
        if document not in self._documents:
            return source[start:end]
        own = self._declared.get(row, {})
        outside = self._in_scope(int(table.parent[row]))
        missing = "".join(
            _declaration(prefix, uri) for prefix, uri in outside.items() if prefix not in own and uri is not None
        )
        if not missing:
            return source[start:end]
        name = _TAG_NAME.match(source, start)
        assert name is not None, "an element starts with its tag"
        return source[start : name.end()] + missing.encode("utf-8") + source[name.end() : end]

    def text(self, node: int) -> str:
        """Any node as it is shown: an element's XML, `name="value"` for an attribute, a text as it is."""
        table = self._table
        if node < table.elements:
            return self.xml(node).decode("utf-8")
        if node < table.first_text:
            at = node - table.elements
            return f'{table.tags[table.attribute_tag[at]]}="{escape_attribute(table.attribute_values[at])}"'
        return table.texts[node - table.first_text]

    def declaration(self, node: int) -> str:
        """The declaration of an attribute's prefix, to stand before it in another element; "" if it has none."""
        at = node - self._table.elements
        prefix, colon, _ = self._table.tags[self._table.attribute_tag[at]].rpartition(":")
        if not colon or prefix == "xml":
            return ""
        return _declaration(prefix, self._table.names[self._table.attribute_name[at]][1:].rpartition("}")[0])

    def _end(self, row: int, source: bytes) -> int:
        """Where the element ends: behind its end tag, or behind `/>`, which has no end tag."""
        table = self._table
        end = int(table.end[row])
        childless = table.last[row] == row and table.text_first[row] == table.text_last[row]
        if childless and source[end - 2 : end] == b"/>":
            return end
        return source.index(b">", end) + 1

    def _in_scope(self, row: int) -> dict[str | None, str | None]:
        """The namespaces in scope at an element, by prefix."""
        chain = []
        while (known := self._inherited.get(row)) is None:
            chain.append(row)
            row = int(self._table.parent[row])
        for below in reversed(chain):
            own = self._declared.get(below)
            known = {**known, **own} if own else known
            self._inherited[below] = known
        return known


def _declaration(prefix: str | None, uri: str | None) -> str:
    name = f"xmlns:{prefix}" if prefix else "xmlns"
    return f' {name}="{escape_attribute(uri or "")}"'
