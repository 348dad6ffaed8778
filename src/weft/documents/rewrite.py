"""A document with a DOCTYPE in, the same document without it out: entities expanded, default attributes written.

Slices of such a document would lie, since what they mean stands in declarations outside them. So it is written
anew once, before the scan, and from then on it is a document like any other.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from xml.parsers import expat
from xml.sax.saxutils import escape

from weft.documents.document import Limits
from weft.documents.source import Source

_TAG = re.compile(rb"""<[^<>"'\s/]+(?:"[^"]*"|'[^']*'|[^<>"'])*>""")
_ASIDE = re.compile(rb"<!--.*?-->|<\?.*?\?>", re.DOTALL)
_REFERENCE = re.compile(rb"&([^#&;\s][^&;\s]*);")
_PREDEFINED = frozenset({b"lt", b"gt", b"amp", b"quot", b"apos"})
_IN_TEXT = {"\r": "&#13;"}
_IN_ATTRIBUTE = {'"': "&quot;", "\n": "&#10;", "\r": "&#13;", "\t": "&#9;"}


def escape_text(text: str) -> str:
    """Character data that reads as this text."""
    return escape(text, _IN_TEXT)


def escape_attribute(text: str) -> str:
    """An attribute value, to stand in double quotes, that reads as this text."""
    return escape(text, _IN_ATTRIBUTE)


def without_doctype(source: Source, limits: Limits) -> Source:
    """The document with its internal declarations applied; raises DocumentError where it needs external ones."""
    parser = expat.ParserCreate(encoding="utf-8")
    writer = _Writer(source, parser, limits)
    parser.ordered_attributes = True
    parser.buffer_text = True
    parser.StartElementHandler = writer.start
    parser.EndElementHandler = writer.end
    parser.CharacterDataHandler = writer.text
    parser.CommentHandler = writer.comment
    parser.ProcessingInstructionHandler = writer.instruction
    parser.EntityDeclHandler = writer.declare
    parser.SkippedEntityHandler = writer.skipped
    parser.ExternalEntityRefHandler = writer.external
    parser.StartDoctypeDeclHandler = writer.start_doctype
    parser.EndDoctypeDeclHandler = writer.end_doctype
    try:
        parser.Parse(source.data, True)
    except expat.ExpatError as error:
        raise source.error(parser.ErrorByteIndex, expat.ErrorString(error.code)) from None
    return Source(source.document, "".join(writer.out).encode("utf-8"))


class _Writer:
    """expat's events as XML text, without the DOCTYPE."""

    def __init__(self, source: Source, parser: expat.XMLParserType, limits: Limits) -> None:
        self.out: list[str] = []
        self.source, self.parser, self.limits = source, parser, limits
        self.declared = set(_PREDEFINED)
        self.size = 0
        self.depth = 0
        self.doctype = False
        self.doctype_at = 0
        self.write: Callable[[str], None] = self.out.append

    def start(self, name: str, attributes: list[str]) -> None:
        tag = _TAG.match(self.source.data, self.parser.CurrentByteIndex)
        self.refuse_unknown_references(tag[0] if tag else b"")
        self.check_limits(sum(1 for key in attributes[::2] if key.partition(":")[0] != "xmlns"))
        pairs = zip(attributes[::2], attributes[1::2], strict=True)
        written = "".join(f' {key}="{escape_attribute(value)}"' for key, value in pairs)
        self.grow(f"<{name}{written}>")

    def end(self, name: str) -> None:
        self.depth -= 1
        self.grow(f"</{name}>")

    def text(self, data: str) -> None:
        self.grow(escape_text(data))

    def comment(self, data: str) -> None:
        if not self.doctype:
            self.grow(f"<!--{data}-->")

    def instruction(self, target: str, data: str) -> None:
        if not self.doctype:
            self.grow(f"<?{target} {data}?>")

    def start_doctype(self, *_: object) -> None:
        self.doctype, self.doctype_at = True, self.parser.CurrentByteIndex

    def end_doctype(self) -> None:
        """What the declarations refer to must be declared in the document too."""
        self.doctype = False
        subset = self.source.data[self.doctype_at : self.parser.CurrentByteIndex]
        self.refuse_unknown_references(_ASIDE.sub(b"", subset))

    def check_limits(self, attributes: int) -> None:
        """Here, where places are those of the document as given."""
        self.depth += 1
        if self.depth > self.limits.max_depth:
            self.refuse(f"nested deeper than {self.limits.max_depth}")
        if attributes > self.limits.max_attributes:
            self.refuse(f"an element with {attributes} attributes, more than {self.limits.max_attributes}")

    def declare(self, name: str, is_parameter: int, *_: object) -> None:
        if not is_parameter:
            self.declared.add(name.encode("utf-8"))

    def skipped(self, name: str, is_parameter: bool) -> None:
        if not is_parameter:
            self.refuse(f"entity &{name}; is declared outside the document, which is never fetched")

    def external(self, context: str | None, *_: object) -> int:
        self.refuse(f"external entity &{(context or '').split(chr(12))[-1]}; is never fetched")
        return 0

    def refuse_unknown_references(self, text: bytes) -> None:
        """expat reads an undeclared entity in a value as nothing where an external DTD might declare it."""
        for name in _REFERENCE.findall(text):
            if name not in self.declared:
                self.skipped(name.decode("utf-8", "replace"), False)

    def grow(self, text: str) -> None:
        self.size += len(text)
        if self.size > self.limits.max_bytes:
            self.refuse(f"more than {self.limits.max_bytes} bytes once its entities are expanded")
        self.write(text)

    def refuse(self, reason: str) -> None:
        raise self.source.error(self.parser.CurrentByteIndex, reason)
