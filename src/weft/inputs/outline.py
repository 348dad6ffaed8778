"""What stands outside the rows of a file in; what its rows need of it out: namespaces in scope and the DOCTYPE.

expat reads it, with every row left out: so a file is well-formed outside its rows if and only if expat says so.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from xml.parsers import expat

from weft.documents.document import Limits
from weft.documents.entities import Subset, declarations_for, measure, read_doctype, references_in
from weft.documents.escaping import escape_attribute
from weft.documents.names import SEPARATOR
from weft.documents.source import SourceBytes
from weft.documents.tags import LONGEST_NAMESPACE, namespace_size, namespaces_in, refuse_floods, too_long_namespace
from weft.errors import DocumentError

#: A whole `<!DOCTYPE …>`; the group is its internal subset, in which literals, comments and instructions hold anything.
DOCTYPE = re.compile(
    rb"""<!DOCTYPE(?:[^\["'>]++|"[^"]*+"|'[^']*+')*+
    (?:\[((?:[^\]"'<]++|"[^"]*+"|'[^']*+'|<!--.*?-->|<\?.*?\?>|<(?!!--|\?))*+)\]\s*+)?>""",
    re.DOTALL | re.VERBOSE,
)
_ATTRIBUTE = re.compile(rb"""\s([^\s=<>"']++)\s*+=\s*+(?:"[^"]*+"|'[^']*+')""")
_PREFIX = re.compile(rb"""[<\s/"']([^\s<>/="':&;]++):""")
_UNPREFIXED = re.compile(rb"<[^\s<>/!?:]++[\s/>]")
_FEW = 8  # prefixes that are looked for one by one, which is faster


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

    def __init__(
        self, row_tag: str, limits: Limits, doctype: bytes = b"", open_elements: tuple[OpenElement, ...] = ()
    ) -> None:
        self.open: list[OpenElement] = []
        self.doctype = b""
        self._identifiers, self._subset = b"", Subset(0)
        self._sizes: dict[bytes, int] = {}  # of entities
        self._row_tag, self._limits = row_tag, limits
        self._pending: list[tuple[str, str]] = []
        self._by_default: dict[bytes, set[bytes]] = {}
        self._scope: dict[bytes, list[bytes]] = {}  # by prefix its declarations, the innermost last
        self._fed = self._shift = 0
        self._is_behind_row = self._is_started = False
        self._parser = self._make_parser()
        if doctype:
            self.feed_doctype(doctype, 0)
        for element in open_elements:
            self.feed(element.start_tag(), 0)

    def _make_parser(self) -> expat.XMLParserType:
        parser = expat.ParserCreate("utf-8", SEPARATOR)
        parser.namespace_prefixes = True
        parser.ordered_attributes = True
        parser.StartNamespaceDeclHandler = self._declare
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.AttlistDeclHandler = self._declare_attribute
        if hasattr(parser, "SetReparseDeferralEnabled"):
            parser.SetReparseDeferralEnabled(False)  # every tag must have been read when a row begins
        return parser

    # -- from the file

    def feed(self, data: bytes | bytearray, offset: int) -> None:
        """Read on: bytes outside the rows, which begin at an offset of the file. Raises OutlineError."""
        try:
            refuse_floods(SourceBytes("", bytes(data)), self._limits)
        except DocumentError as error:
            raise OutlineError(offset + error.offset, error.reason) from None
        if self._sizes and b"xmlns" in data:
            self._refuse_long_namespaces(bytes(data), offset)
        self._shift = offset - self._fed
        self._fed += len(data)
        self._is_behind_row = False
        try:
            self._parser.Parse(data, False)
        except expat.ExpatError as error:
            raise self._error(error) from None

    def feed_doctype(self, doctype: bytes, offset: int) -> None:
        """Read on: a whole DOCTYPE, whose declarations rows may need."""
        self.doctype = doctype
        self._identifiers, self._subset = read_doctype(doctype)
        self._sizes, reason = measure(self._subset, self._limits.max_attributes)
        if reason:
            raise OutlineError(offset, reason)
        self.feed(doctype, offset)

    def _refuse_long_namespaces(self, data: bytes, offset: int) -> None:
        """A name that an entity stands for is as long as that."""
        for at, written in namespaces_in(data):
            size = sum(self._sizes.get(name, 0) for name in references_in(written))
            if size > LONGEST_NAMESPACE:
                raise OutlineError(offset + at, too_long_namespace(size))

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

    # -- for a row

    def row_needs(self, name: bytes, row: bytes, tag: int) -> tuple[bytes, bytes]:
        """What a row, whose start tag ends at `tag`, lacks on its own: a DOCTYPE, namespace declarations."""
        doctype = self._row_doctype(name, row)
        return doctype, self._row_declarations(name, row, tag, doctype) if self._scope else b""

    def _row_doctype(self, name: bytes, row: bytes) -> bytes:
        subset = self._subset
        references = set(references_in(row)) if self.doctype else set()
        identifiers = b" " + self._identifiers if references and self._identifiers else b""
        if subset.has_parameters and (references or subset.lists):  # what is declared behind them may not count
            found = DOCTYPE.match(self.doctype)
            declared = (found and found[1]) or b""
        else:
            declared = declarations_for(subset, references)
        declared = b" [%b]" % declared if declared else b""
        return b"<!DOCTYPE %b%b%b>" % (name, identifiers, declared) if identifiers or declared else b""

    def _row_declarations(self, name: bytes, row: bytes, tag: int, doctype: bytes) -> bytes:
        """Of the prefixes that stand anywhere in it or, in its DOCTYPE, in the text of an entity."""
        text = doctype + row
        if len(self._scope) <= _FEW:
            used = {prefix for prefix in self._scope if prefix and prefix + b":" in text}
        else:
            used = self._scope.keys() & set(_PREFIX.findall(text))
        if b"" in self._scope and (b":" not in name or _UNPREFIXED.search(text)):
            used.add(b"")
        used -= self._by_default.get(name, set())
        if b"xmlns" in row[:tag]:
            keys = (key.partition(b":") for key in _ATTRIBUTE.findall(row, 0, tag))
            used -= {prefix for xmlns, _, prefix in keys if xmlns == b"xmlns"}
        return b"".join(self._scope[prefix][-1] for prefix in sorted(used))

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
        if len(self.open) == self._limits.max_depth:
            reason = f"nested deeper than {self._limits.max_depth}"
            raise OutlineError(self._parser.CurrentByteIndex + self._shift, reason)
        self._is_started = True
        self.open.append(OpenElement(written, tuple(self._pending)))
        for prefix, uri in self._pending:
            self._scope.setdefault(prefix.encode(), []).append(_declaration(prefix, uri).encode() if uri else b"")
        self._pending = []

    def _end(self, _: str) -> None:
        for prefix, _uri in self.open.pop().namespaces:
            declarations = self._scope[prefix.encode()]
            declarations.pop()
            if not declarations:
                del self._scope[prefix.encode()]

    def _declare_attribute(
        self, element: str, attribute: str, _type: str, default: str | None, _is_required: int
    ) -> None:
        xmlns, _, prefix = attribute.partition(":")
        if xmlns == "xmlns" and default is not None:
            if (size := namespace_size(attribute, default)) > LONGEST_NAMESPACE:
                raise OutlineError(self._parser.CurrentByteIndex + self._shift, too_long_namespace(size))
            self._by_default.setdefault(element.encode(), set()).add(prefix.encode())

    def _error(self, error: expat.ExpatError) -> OutlineError:
        return OutlineError(self._parser.ErrorByteIndex + self._shift, expat.ErrorString(error.code))


def _declaration(prefix: str, uri: str) -> str:
    return f' {f"xmlns:{prefix}" if prefix else "xmlns"}="{escape_attribute(uri)}"'
