"""What stands outside the rows of a file in; what its rows need of it out: namespaces in scope and the DOCTYPE.

expat reads it, with every row left out: so a file is well-formed outside its rows if and only if expat says so.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from xml.parsers import expat

from weft.documents.rewrite import escape_attribute
from weft.documents.scan import SEPARATOR

#: A whole `<!DOCTYPE …>`; the group is its internal subset, in which literals, comments and instructions hold anything.
DOCTYPE = re.compile(
    rb"""<!DOCTYPE(?:[^\["'>]++|"[^"]*+"|'[^']*+')*+
    (?:\[((?:[^\]"'<]++|"[^"]*+"|'[^']*+'|<!--.*?-->|<\?.*?\?>|<(?!!--|\?))*+)\]\s*+)?>""",
    re.DOTALL | re.VERBOSE,
)
_ATTRIBUTE = re.compile(rb"""\s([^\s=<>"']+)\s*=\s*(?:"[^"]*"|'[^']*')""")


class OutlineError(Exception):
    """What is outside the rows is not well-formed: a byte offset in the file, and the reason."""

    def __init__(self, offset: int, reason: str) -> None:
        self.offset, self.reason = offset, reason
        super().__init__(offset, reason)


@dataclass(frozen=True, slots=True)
class OpenElement:
    """An element that rows lie in: its name as written and its own namespace declarations, by prefix ("" if none)."""

    name: str
    namespaces: tuple[tuple[str, str], ...] = ()

    def start_tag(self) -> bytes:
        """A start tag that reads as this element."""
        declared = "".join(_declaration(prefix, uri) for prefix, uri in self.namespaces)
        return f"<{self.name}{declared}>".encode()


class Outline:
    """The elements that are open where the next row may begin."""

    def __init__(self, row_tag: str, doctype: bytes = b"", open_elements: tuple[OpenElement, ...] = ()) -> None:
        self.open: list[OpenElement] = []
        self.doctype = self._subset = b""
        self._row_tag = row_tag
        self._declares = False
        self._pending: list[tuple[str, str]] = []
        self._by_default: dict[bytes, set[str]] = {}
        self._scope: dict[str, bytes] | None = None
        self._declarations = b""
        self._fed = self._shift = 0
        self._is_behind_row = self._is_started = False
        self._parser = self._make_parser()
        if doctype:
            self.feed(doctype, 0)
            self.declare(doctype)
        for element in open_elements:
            self.feed(element.start_tag(), 0)

    def _make_parser(self) -> expat.XMLParserType:
        parser = expat.ParserCreate("utf-8", SEPARATOR)
        parser.namespace_prefixes = True
        parser.ordered_attributes = True
        parser.StartNamespaceDeclHandler = self._declare
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.EntityDeclHandler = self._declare_entity
        parser.AttlistDeclHandler = self._declare_attribute
        if hasattr(parser, "SetReparseDeferralEnabled"):
            parser.SetReparseDeferralEnabled(False)  # every tag must have been read when a row begins
        return parser

    # -- from the file

    def feed(self, data: bytes | bytearray, offset: int) -> None:
        """Read on: bytes outside the rows, which begin at an offset of the file. Raises OutlineError."""
        self._shift = offset - self._fed
        self._fed += len(data)
        self._is_behind_row = False
        try:
            self._parser.Parse(data, False)
        except expat.ExpatError as error:
            raise self._error(error) from None

    def feed_row(self, before: bytearray, offset: int) -> None:
        """Read on up to a row, whose place is taken by something that is allowed exactly where the row is."""
        if self._is_behind_row and self.open and (not before or before.isspace()):
            return  # the usual case: a row after a row
        self.feed(before, offset)
        start = offset + len(before)
        self._is_started = bool(self.open)
        try:
            self.feed(b"<!---->" if self.open else b"<row/>", start)
        except OutlineError as error:
            raise OutlineError(min(error.offset, start), error.reason) from None
        if not self._is_started:  # it went into a literal that a stray quote has opened
            raise OutlineError(start, "text outside the root element")
        self._is_behind_row = True

    def close(self, offset: int) -> None:
        """The file ends here. Raises OutlineError if it must not."""
        self._shift = offset - self._fed
        try:
            self._parser.Parse(b"", True)
        except expat.ExpatError as error:
            raise self._error(error) from None

    def declare(self, doctype: bytes) -> None:
        """Take note of a DOCTYPE that has been read."""
        self.doctype = doctype
        found = DOCTYPE.match(doctype) if self._declares else None
        self._subset = (found and found[1]) or b""

    # -- for a row

    def row_needs(self, name: bytes, tag: bytearray) -> tuple[bytes, bytes]:
        """What a row with that start tag lacks to mean the same on its own: a DOCTYPE, namespace declarations."""
        if self._scope is None:
            uris = {prefix: uri for element in self.open for prefix, uri in element.namespaces}
            self._scope = {prefix: _declaration(prefix, uri).encode() for prefix, uri in uris.items() if uri}
            self._declarations = b"".join(self._scope.values())
        doctype = b"<!DOCTYPE %b [%b]>" % (name, self._subset) if self._subset else b""
        own = self._by_default.get(name, set())
        if b"xmlns" in tag:
            keys = (key.decode("utf-8", "replace").partition(":") for key in _ATTRIBUTE.findall(tag))
            own = own | {prefix for xmlns, _, prefix in keys if xmlns == "xmlns"}
        if not own:
            return doctype, self._declarations
        return doctype, b"".join(text for prefix, text in self._scope.items() if prefix not in own)

    # -- from expat

    def _declare(self, prefix: str | None, uri: str | None) -> None:
        self._pending.append((prefix or "", uri or ""))

    def _start(self, name: str, _: list[str]) -> None:
        uri_local_prefix = name.split(SEPARATOR)
        local = uri_local_prefix[1] if len(uri_local_prefix) > 1 else name
        written = f"{uri_local_prefix[2]}:{local}" if len(uri_local_prefix) > 2 else local
        if self.open and self._row_tag in (written, local):  # rows as such are never fed
            reason = f"<{written}> comes from an entity and cannot be taken out"
            raise OutlineError(self._parser.CurrentByteIndex + self._shift, reason)
        self._is_started = True
        self.open.append(OpenElement(written, tuple(self._pending)))
        if self._pending:
            self._pending, self._scope = [], None

    def _end(self, _: str) -> None:
        if self.open.pop().namespaces:
            self._scope = None

    def _declare_entity(self, *_: object) -> None:
        self._declares = True

    def _declare_attribute(
        self, element: str, attribute: str, _type: str, default: str | None, _is_required: int
    ) -> None:
        self._declares = True
        xmlns, _, prefix = attribute.partition(":")
        if xmlns == "xmlns" and default is not None:
            self._by_default.setdefault(element.encode(), set()).add(prefix)

    def _error(self, error: expat.ExpatError) -> OutlineError:
        return OutlineError(self._parser.ErrorByteIndex + self._shift, expat.ErrorString(error.code))


def _declaration(prefix: str, uri: str) -> str:
    return f' {f"xmlns:{prefix}" if prefix else "xmlns"}="{escape_attribute(uri)}"'
