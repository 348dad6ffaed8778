"""Documents in, expat's events as flat lists out; what cannot be read is rejected and leaves no trace."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from itertools import accumulate, pairwise
from typing import Any
from xml.parsers import expat

from weft.documents.document import Document, Limits
from weft.documents.rewrite import without_doctype
from weft.documents.source import Source, read_source
from weft.errors import DocumentError, failure_of

try:
    from weft.documents.plain import Plain
except ImportError:  # installed without a C compiler: expat scans all
    Plain = None  # type: ignore[assignment, misc]

#: Between uri, local name and prefix of a name as expat gives it; no uri that can be trusted holds it.
SEPARATOR = "\x1f"
#: Events that are not the start of an element; a start is the element's name.
END, TEXT, BREAK = None, "", False
Event = str | bool | None

_CHUNK = 1 << 20


class _DoctypeError(Exception):
    """Raised out of the parser when the document must be written anew first."""


class Scan:
    """The events of a batch, in flat lists that grow document by document.

    `events` holds names, END, TEXT and BREAK; `offsets` one byte offset for each start and end; `texts` one string
    for each TEXT; attributes and namespace declarations tell the event that they belong to.
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
        self._plain = Plain(*self._columns, _most_events(limits)) if compiled and Plain is not None else None

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

    def _scan(self, document: Document, marks: list[int]) -> Source:
        source = read_source(document)
        if (size := max(len(document.data), len(source.data))) > self.limits.max_bytes:
            raise DocumentError(document.id, 1, 1, 0, f"{size} bytes, more than {self.limits.max_bytes}")
        try:
            if self._plain is None or not self._plain.scan(source.data):
                self._cut(marks)
                self._parse(source, self._interned)
        except _DoctypeError as doctype:
            if self.limits.doctype == "reject":
                at = source.data.rfind(b"<!DOCTYPE", 0, doctype.args[0] + 9)  # expat tells where its name ends
                raise source.error(at, "a DOCTYPE is not allowed here") from None
            rewritten = without_doctype(source, self.limits)
            self._cut(marks)
            self._parse_rewritten(source, rewritten)
            source = rewritten
        self._check(source, marks[0], marks[3])
        return source

    def _parse_rewritten(self, source: Source, rewritten: Source) -> None:
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

    def _check(self, source: Source, mark: int, first_attribute: int) -> None:
        """The limits on what was read; a document far beyond the limit on nodes is not read to its end."""
        limits = self.limits
        attributes = len(self.attribute_events) - first_attribute
        if len(self.events) - mark + attributes > limits.max_nodes:
            events = self.events[mark:]
            texts = sum(1 for before, event in pairwise([END, *events]) if event == TEXT and before != TEXT)
            if sum(1 for event in events if event) + texts + attributes > limits.max_nodes:
                raise source.error(len(source.data), f"more than {limits.max_nodes} nodes")
        if len(self.events) - mark > limits.max_depth:
            events = self.events[mark:]
            depths = accumulate(1 if event else -1 if event is END else 0 for event in events)
            over = next((at for at, depth in enumerate(depths) if depth > limits.max_depth), None)
            if over is not None:
                raise self._error(source, mark, over, f"nested deeper than {limits.max_depth}")
        if attributes > limits.max_attributes:
            for event, number in Counter(self.attribute_events[first_attribute:]).items():
                if number > limits.max_attributes:
                    reason = f"an element with {number} attributes, more than {limits.max_attributes}"
                    raise self._error(source, mark, event - mark, reason)

    def _error(self, source: Source, mark: int, event: int, reason: str) -> DocumentError:
        ticks = sum(1 for entry in self.events[mark : mark + event] if entry or entry is END)
        total = sum(1 for entry in self.events[mark:] if entry or entry is END)
        return source.error(self.offsets[len(self.offsets) - total + ticks], reason)


def scan(documents: Iterable[Document], limits: Limits) -> Scan:
    """Scan a batch."""
    result = Scan(limits)
    for document in documents:
        result.add(document)
    return result


def _most_events(limits: Limits) -> int:
    """Starts, ends, texts between them, and comments: a document with more has too many nodes."""
    return 4 * limits.max_nodes + 65_536


def _make_parse(into: Scan) -> Callable[[Source, dict[str, str]], None]:
    """The parser of a batch. Its handlers are closures over bound methods: they run for every tag and text."""
    parser: expat.XMLParserType
    events, limits = into.events, into.limits
    most_events = _most_events(limits)
    add_event, add_offset, add_text = events.append, into.offsets.append, into.texts.append
    add_attribute_events, add_attribute_names = into.attribute_events.extend, into.attribute_names.extend
    add_attribute_values = into.attribute_values.extend

    def start(name: str, attributes: list[str]) -> None:
        if attributes:
            add_attribute_events([len(events)] * (len(attributes) // 2))
            add_attribute_names(attributes[::2])
            add_attribute_values(attributes[1::2])
        add_event(name)
        add_offset(parser.CurrentByteIndex)

    def end(_: str) -> None:
        add_event(END)
        add_offset(parser.CurrentByteIndex)

    def text(data: str) -> None:
        add_event(TEXT)
        add_text(data)

    def part(*_: str) -> None:
        add_event(BREAK)

    def declare(prefix: str | None, uri: str | None) -> None:
        into.namespace_events.append(len(events))
        into.namespaces.append((prefix, uri))

    def doctype(_name: str, system: str | None, public: str | None, has_internal: int) -> None:
        if system or public or has_internal or limits.doctype == "reject":
            raise _DoctypeError(parser.CurrentByteIndex)

    def parse(source: Source, interned: dict[str, str]) -> None:
        nonlocal parser
        parser = expat.ParserCreate("utf-8", SEPARATOR, interned)
        parser.namespace_prefixes = True
        parser.ordered_attributes = True
        parser.buffer_text = True
        parser.StartElementHandler = start
        parser.EndElementHandler = end
        parser.CharacterDataHandler = text
        parser.CommentHandler = part
        parser.ProcessingInstructionHandler = part
        parser.StartNamespaceDeclHandler = declare
        parser.StartDoctypeDeclHandler = doctype
        data = source.data
        first = len(events)
        try:
            if len(data) <= _CHUNK:
                parser.Parse(data, True)
            for at in range(0, len(data), _CHUNK) if len(data) > _CHUNK else ():
                parser.Parse(data[at : at + _CHUNK], at + _CHUNK >= len(data))
                if len(events) - first > most_events:
                    raise source.error(parser.CurrentByteIndex, f"more than {limits.max_nodes} nodes")
        except expat.ExpatError as error:
            raise source.error(parser.ErrorByteIndex, expat.ErrorString(error.code)) from None

    return parse
