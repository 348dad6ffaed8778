"""A node in, its XML out: a slice of the source, with the namespace declarations that it needs put in."""

from __future__ import annotations

import re

from weft.documents.escaping import escape_attribute
from weft.documents.scopes import Scopes
from weft.documents.table import NodeTable

_TAG_NAME = re.compile(rb"<[^\s/>]+")


class Fragments:
    """The fragments of a node table.

    Every source is UTF-8 without declarations of its own (see `source` and `rewrite`), so a slice is faithful but
    for prefixes that are declared outside it. Those that names in it use are declared; a prefix in a text or in the
    value of an attribute is text.
    """

    def __init__(self, table: NodeTable) -> None:
        self._table = table
        self._scopes = Scopes(table) if table.namespaces else None
        self._written: dict[int, str] = {}

    def xml(self, row: int) -> bytes:
        """The XML of an element."""
        table = self._table
        source = table.sources[int(table.document[row])]
        start, end = int(table.start[row]), self._end(row, source)
        if self._scopes is None or not (missing := self._scopes.missing(row)):
            return source[start:end]
        name = _TAG_NAME.match(source, start)
        assert name is not None, "an element starts with its tag"
        declarations = "".join(map(self._write, missing)).encode("utf-8")
        return source[start : name.end()] + declarations + source[name.end() : end]

    def text(self, node: int) -> str:
        """Any node as it is shown: an element's XML, `name="value"` for an attribute, a text as it is."""
        table = self._table
        if node < table.elements:
            return self.xml(node).decode("utf-8")
        if node < table.first_text:
            at = node - table.elements
            return f'{table.tags[table.attribute_tag[at]]}="{escape_attribute(table.attribute_values[at])}"'
        return table.texts[node - table.first_text]

    def length(self, row: int) -> int:
        """The bytes that an element has in its source, without declarations that are put in."""
        return self._end(row, self._table.sources[int(self._table.document[row])]) - int(self._table.start[row])

    def declaration(self, node: int) -> str:
        """The declaration of an attribute's prefix, to stand before it in another element; "" if it has none."""
        at = node - self._table.elements
        prefix, colon, _ = self._table.tags[self._table.attribute_tag[at]].rpartition(":")
        if not colon or prefix == "xml":
            return ""
        return declaration(prefix, self._table.names[self._table.attribute_name[at]][1:].rpartition("}")[0])

    def _end(self, row: int, source: bytes) -> int:
        """Where the element ends: behind its end tag, or behind `/>`, which has no end tag."""
        table = self._table
        end = int(table.end[row])
        childless = table.last[row] == row and table.text_first[row] == table.text_last[row]
        if childless and source[end - 2 : end] == b"/>":
            return end
        return source.index(b">", end) + 1

    def _write(self, number: int) -> str:
        written = self._written.get(number)
        if written is None:
            _, prefix, uri = self._table.namespaces[number]
            written = self._written[number] = declaration(prefix, uri)
        return written


def declaration(prefix: str | None, uri: str | None) -> str:
    """A namespace declaration as it stands in a start tag, with the blank before it."""
    name = f"xmlns:{prefix}" if prefix else "xmlns"
    return f' {name}="{escape_attribute(uri or "")}"'
