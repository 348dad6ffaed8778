"""A document with a DOCTYPE in, the same document without it out: entities expanded, default attributes written.

Slices of such a document would lie, since what they mean stands in declarations outside them. So it is written
anew once, before the scan, and from then on it is a document like any other.
"""

from __future__ import annotations

from xml.parsers import expat
from xml.parsers.expat import errors

from weft.documents.doctype import Doctype
from weft.documents.document import Limits
from weft.documents.entities import UNDECLARED, Entities, colon
from weft.documents.escaping import escape_attribute, escape_text
from weft.documents.source import SourceBytes
from weft.documents.tags import LONGEST_NAMESPACE, namespace_size, too_long_namespace
from weft.documents.tally import Tally

_EXTERNAL_IN_VALUE = errors.codes[errors.XML_ERROR_ATTRIBUTE_EXTERNAL_ENTITY_REF]


def without_doctype(source: SourceBytes, doctype: Doctype, limits: Limits) -> SourceBytes:
    """The document with its internal declarations applied; raises DocumentError where it needs external ones."""
    return SourceBytes(source.document, _Rewriter(source, doctype, limits).write())


class _Rewriter:
    """expat's events as XML text, without the DOCTYPE."""

    def __init__(self, source: SourceBytes, doctype: Doctype, limits: Limits) -> None:
        self.out: list[bytes] = []
        self.source, self.doctype, self.limits = source, doctype, limits
        self.entities = Entities(source, doctype, limits)
        self.tally = Tally(limits)
        self.added = self.entities.declarations()
        self.size = 0
        self.in_doctype = self.in_text = False
        self.parser = self.make_parser()

    def make_parser(self) -> expat.XMLParserType:
        """Without namespaces: a name is written as it was."""
        parser = expat.ParserCreate(encoding="utf-8")
        parser.ordered_attributes = True
        parser.buffer_text = True
        parser.StartElementHandler = self.start
        parser.EndElementHandler = self.end
        parser.CharacterDataHandler = self.text
        parser.CommentHandler = self.comment
        parser.ProcessingInstructionHandler = self.instruction
        parser.EntityDeclHandler = self.declare_entity
        parser.NotationDeclHandler = self.declare_notation
        parser.SkippedEntityHandler = self.skipped
        parser.ExternalEntityRefHandler = self.external
        parser.StartDoctypeDeclHandler = self.start_doctype
        parser.EndDoctypeDeclHandler = self.end_doctype
        return parser

    def write(self) -> bytes:
        """The document; declarations of what it does not declare are put before its own."""
        data, at, added = memoryview(self.source.data), self.doctype.at, self.added
        if self.doctype.has_subset:
            at += 1
        elif added:
            added = self.added = b"[%b]" % added
        try:
            for piece in (data[:at], added, data[at:]):
                self.parser.Parse(piece, False)
            self.parser.Parse(b"", True)
        except expat.ExpatError as error:
            raise self.source.error(self.offset(self.parser.ErrorByteIndex), self.reason_of(error)) from None
        finally:
            del self.parser  # which holds this writer, and all that it has written
        return b"".join(self.out)

    # -- from expat

    def start(self, name: str, attributes: list[str]) -> None:
        if reason := self.tally.start(len(attributes) // 2):
            self.refuse(reason)
        written = [f"<{name}"]
        for at in range(0, len(attributes), 2):
            key, value = attributes[at], attributes[at + 1]
            if key.startswith("xmlns") and (size := namespace_size(key, value)) > LONGEST_NAMESPACE:
                self.refuse(too_long_namespace(size))
            written.append(f' {key}="{escape_attribute(value)}"')
        written.append(">")
        self.in_text = False
        self.grow("".join(written))

    def end(self, name: str) -> None:
        self.tally.end()
        self.in_text = False
        self.grow(f"</{name}>")

    def text(self, data: str) -> None:
        if not self.in_text and (reason := self.tally.text()):
            self.refuse(reason)
        self.in_text = True
        self.grow(escape_text(data))

    def comment(self, data: str) -> None:
        if not self.in_doctype:
            self.in_text = False
            self.grow(f"<!--{data}-->")

    def instruction(self, target: str, data: str) -> None:
        self.refuse_colon("an instruction", target)
        if not self.in_doctype:
            self.in_text = False
            self.grow(f"<?{target} {data}?>")

    def start_doctype(self, *_: object) -> None:
        self.in_doctype = True

    def end_doctype(self) -> None:
        self.in_doctype = False

    def declare_entity(self, name: str, _is_parameter: int, *rest: str | None) -> None:
        if rest[3] != UNDECLARED:
            self.refuse_colon("an entity", name)

    def declare_notation(self, name: str, *_: object) -> None:
        self.refuse_colon("a notation", name)

    def skipped(self, name: str, is_parameter: bool) -> None:
        if not is_parameter:
            self.refuse(_undeclared(name))

    def external(self, context: str | None, _base: str | None, system: str | None, public: str | None) -> int:
        if public == UNDECLARED:
            self.refuse(_undeclared(system or ""))
        self.refuse(f"external entity &{(context or '').split(chr(12))[-1]}; is never fetched")
        return 0

    # -- what is wrong

    def reason_of(self, error: expat.ExpatError) -> str:
        """What expat says, but for what it says of the declarations that were added."""
        if error.code == _EXTERNAL_IN_VALUE:
            name = self.entities.find_undeclared(self.offset(self.parser.ErrorByteIndex))
            if name is not None:
                return _undeclared(name)
        return expat.ErrorString(error.code)

    def refuse_colon(self, what: str, name: str) -> None:
        if ":" in name:
            self.refuse(colon(what, name))

    def refuse(self, reason: str) -> None:
        raise self.source.error(self.offset(self.parser.CurrentByteIndex), reason)

    def offset(self, index: int) -> int:
        """An offset in the document of one in what expat was given."""
        begin = self.doctype.at + self.doctype.has_subset
        return index if index < begin else max(begin, index - len(self.added))

    def grow(self, text: str) -> None:
        written = text.encode("utf-8")
        self.size += len(written)
        if self.size > self.limits.max_bytes:
            self.refuse(f"more than {self.limits.max_bytes} bytes once its entities are expanded")
        self.out.append(written)


def _undeclared(name: str) -> str:
    if ":" in name:
        return colon("an entity", name)
    return f"entity &{name}; is declared outside the document, which is never fetched"
