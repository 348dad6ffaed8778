"""Documents in, expat's events as flat lists out; what cannot be read is rejected and leaves no trace."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any
from xml.parsers import expat

from weft.documents.doctype import find_doctype
from weft.documents.document import Document, Limits
from weft.documents.rewrite import without_doctype
from weft.documents.source import SourceBytes, read_source
from weft.documents.tags import LONGEST_NAMESPACE, refuse_floods
from weft.documents.tally import Tally
from weft.errors import DocumentError, failure_of
from weft.kernel import Plain

#: Between uri, local name and prefix of a name as expat gives it; no uri that can be trusted holds it.
SEPARATOR = "\x1f"
#: Events that are not the start of an element; a start is the element's name.
END, TEXT, BREAK = None, "", False
Event = str | bool | None


class Scan:
    """The events of a batch, in flat lists that grow document by document.

    `events` holds names, END, TEXT and BREAK; `offsets` one byte offset for each start and end; `texts` one string
    for each TEXT; attributes and namespace declarations tell the event that they belong to. Without `compiled` expat
    scans all: what the compiled scan is compared with.
    """

    def __init__(self, limits: Limits, compiled: bool = True) -> None:
        self.limits = limits
        self.events: list[Event] = []
        self.offsets: list[int] = []
        self.texts: list[str] = []
        self.attribute_events: list[int] = []
        self.attribute_names: list[str] = []
        self.attribute_values: list[str] = []
        self.namespace_events: list[int] = []
        self.namespaces: list[tuple[str | None, str | None]] = []
        self.documents: list[Document] = []
        self.sources: list[bytes] = []
        self.ends: list[int] = []
        self.rejected: list[DocumentError] = []
        self._interned: dict[str, str] = {}
        self._parse = _make_parse(self)
        self._columns: tuple[list[Any], ...] = (self.events, self.offsets, self.texts, self.attribute_events)
        self._columns += (self.attribute_names, self.attribute_values, self.namespace_events, self.namespaces)
        most = limits.max_depth, limits.max_attributes, limits.max_nodes, LONGEST_NAMESPACE
        self._plain = Plain(*self._columns, *most) if compiled else None

    def add(self, document: Document) -> None:
        """Scan one document; if it is bad it goes to `rejected` and nothing of it stays."""
        marks = [len(column) for column in self._columns]
        try:
            source = self._scan(document, marks)
        except DocumentError as error:
            self._reject(marks, error.told())
            return
        except Exception as error:  # whatever it is, it is this document's own: the others go on
            self._reject(marks, DocumentError(document.id, 1, 1, 0, failure_of(error)))
            return
        self.documents.append(document)
        self.sources.append(source.data)
        self.ends.append(len(self.events))

    def _reject(self, marks: list[int], error: DocumentError) -> None:
        self._cut(marks)
        self.rejected.append(error)

    def _cut(self, marks: list[int]) -> None:
        for column, mark in zip(self._columns, marks, strict=True):
            del column[mark:]

    def _scan(self, document: Document, marks: list[int]) -> SourceBytes:
        self._check_size(document.id, len(document.data))
        source = read_source(document)
        self._check_size(document.id, len(source.data))
        if self._is_plain(source):
            return source
        self._cut(marks)
        refuse_floods(source, self.limits)
        doctype = find_doctype(source)
        if doctype is not None and self.limits.doctype == "reject":
            raise source.error(doctype.start, "a DOCTYPE is not allowed here")
        if doctype is None or doctype.is_empty:
            self._parse(source, self._interned)
            return source
        rewritten = without_doctype(source, doctype, self.limits)
        if not self._is_plain(rewritten):
            self._cut(marks)
            self._parse_rewritten(source, rewritten)
        return rewritten

    def _check_size(self, document: str, size: int) -> None:
        if size > self.limits.max_bytes:
            raise DocumentError(document, 1, 1, 0, f"{size} bytes, more than {self.limits.max_bytes}")

    def _is_plain(self, source: SourceBytes) -> bool:
        return self._plain is not None and self._plain.scan(source.data)

    def _parse_rewritten(self, source: SourceBytes, rewritten: SourceBytes) -> None:
        try:
            self._parse(rewritten, self._interned)
        except DocumentError as error:
            # Only a name's prefix can be wrong now; the document as given tells where.
            parser = expat.ParserCreate("utf-8", SEPARATOR)
            try:
                parser.Parse(source.data, True)
            except expat.ExpatError:
                raise source.error(parser.ErrorByteIndex, error.reason) from None
            raise


def scan(documents: Iterable[Document], limits: Limits) -> Scan:
    """Scan a batch."""
    result = Scan(limits)
    for document in documents:
        result.add(document)
    return result


# Long: the handlers are closures over one parser's columns; apart they would look up attributes for every tag.
def _make_parse(into: Scan) -> Callable[[SourceBytes, dict[str, str]], None]:
    """The parser of a batch. Its handlers are closures over bound methods: they run for every tag and text."""
    parser: expat.XMLParserType
    source: SourceBytes
    tally: Tally
    declared = 0
    events, limits = into.events, into.limits
    add_event, add_offset, add_text = events.append, into.offsets.append, into.texts.append
    add_attribute_events, add_attribute_names = into.attribute_events.extend, into.attribute_names.extend
    add_attribute_values = into.attribute_values.extend
    namespace_events, namespaces = into.namespace_events, into.namespaces

    def start(name: str, attributes: list[str]) -> None:
        nonlocal declared
        number = len(attributes) // 2
        if reason := tally.start(number + declared):
            raise source.error(parser.CurrentByteIndex, reason)
        declared = 0
        if number:
            add_attribute_events([len(events)] * number)
            add_attribute_names(attributes[::2])
            add_attribute_values(attributes[1::2])
        add_event(name)
        add_offset(parser.CurrentByteIndex)

    def end(_: str) -> None:
        tally.end()
        add_event(END)
        add_offset(parser.CurrentByteIndex)

    def text(data: str) -> None:
        if events[-1] != TEXT and (reason := tally.text()):
            raise source.error(parser.CurrentByteIndex, reason)
        add_event(TEXT)
        add_text(data)

    def part(*_: str) -> None:
        if events and events[-1] == TEXT:  # it parts nothing else
            add_event(BREAK)

    def declare(prefix: str | None, uri: str | None) -> None:
        nonlocal declared
        declared += 1
        namespace_events.append(len(events))
        namespaces.append((prefix, uri))

    def parse(document: SourceBytes, interned: dict[str, str]) -> None:
        nonlocal parser, source, tally, declared
        parser = expat.ParserCreate("utf-8", SEPARATOR, interned)
        source, tally, declared = document, Tally(limits), 0
        parser.namespace_prefixes = True
        parser.ordered_attributes = True
        parser.buffer_text = True
        parser.StartElementHandler = start
        parser.EndElementHandler = end
        parser.CharacterDataHandler = text
        parser.CommentHandler = part
        parser.ProcessingInstructionHandler = part
        parser.StartNamespaceDeclHandler = declare
        try:
            parser.Parse(document.data, True)
        except expat.ExpatError as error:
            raise document.error(parser.ErrorByteIndex, expat.ErrorString(error.code)) from None
        finally:
            del parser, source  # the handlers hold them, and the parser holds the handlers

    return parse
