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
    parser.StartDoctypeDeclHandler = lambda *_: writer.in_doctype(True)
    parser.EndDoctypeDeclHandler = lambda: writer.in_doctype(False)
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
        self.doctype = False
        self.write: Callable[[str], None] = self.out.append

    def start(self, name: str, attributes: list[str]) -> None:
        self.refuse_unknown_references()
        pairs = zip(attributes[::2], attributes[1::2], strict=True)
        written = "".join(f' {key}="{escape_attribute(value)}"' for key, value in pairs)
        self.grow(f"<{name}{written}>")

    def end(self, name: str) -> None:
        self.grow(f"</{name}>")

    def text(self, data: str) -> None:
        self.grow(escape_text(data))

    def comment(self, data: str) -> None:
        if not self.doctype:
            self.grow(f"<!--{data}-->")

    def instruction(self, target: str, data: str) -> None:
        if not self.doctype:
            self.grow(f"<?{target} {data}?>")

    def in_doctype(self, inside: bool) -> None:
        self.doctype = inside

    def declare(self, name: str, is_parameter: int, *_: object) -> None:
        if not is_parameter:
            self.declared.add(name.encode("utf-8"))

    def skipped(self, name: str, is_parameter: bool) -> None:
        if not is_parameter:
            self.refuse(f"entity &{name}; is declared outside the document, which is never fetched")

    def external(self, context: str | None, *_: object) -> int:
        self.refuse(f"external entity &{(context or '').split(chr(12))[-1]}; is never fetched")
        return 0

    def refuse_unknown_references(self) -> None:
        """expat reads an undeclared entity in an attribute as nothing where an external DTD might declare it."""
        tag = _TAG.match(self.source.data, self.parser.CurrentByteIndex)
        for name in _REFERENCE.findall(tag[0]) if tag else ():
            if name not in self.declared:
                self.skipped(name.decode("utf-8", "replace"), False)

    def grow(self, text: str) -> None:
        self.size += len(text)
        if self.size > self.limits.max_bytes:
            self.refuse(f"more than {self.limits.max_bytes} bytes once its entities are expanded")
        self.write(text)

    def refuse(self, reason: str) -> None:
        raise self.source.error(self.parser.CurrentByteIndex, reason)
