"""Values at byte offsets of a source: a start tag, an attribute or a text is read from there, and nothing else is.

Most values are plain text up to the next tag, which one regular expression finds. Whatever else there is (references,
sections, elements inside, line ends to be normalized) expat reads, in pieces that grow until the node ends.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from xml.parsers import expat

from weft.documents.escaping import escape_attribute
from weft.documents.kind import Kind
from weft.documents.names import SEPARATOR
from weft.kernel import find_attribute, find_text

_PIECE = 512  # bytes that expat is given first
_TAG = rb"""<[^\s<>/="']+(?:\s+[^\s<>/="']+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*\s*"""
_PLAIN_ELEMENT = re.compile(_TAG + rb"(?:>([^<&\r]*)</|/>)")
_BEGIN = re.compile(rb"<[^\s<>/!?]")
_START_TAG = re.compile(_TAG + rb"/?>")
_WRITTEN_NAME = re.compile(rb"""[^\s<>/="']+""")
_PLAIN_ATTRIBUTE = re.compile(rb"""[^\s<>/="']+\s*=\s*(?:"([^"<&\t\r\n]*)"|'([^'<&\t\r\n]*)')""")
_ATTRIBUTE = re.compile(rb"""([^\s<>/="']+)\s*=\s*("[^"<]*"|'[^'<]*')""")
_PLAIN_TEXT = re.compile(rb"([^<&\r]*)<(?!!\[)")
_MISMATCH = expat.errors.codes[expat.errors.XML_ERROR_TAG_MISMATCH]


class _Done(Exception):  # noqa: N818 it is no error
    """The node has ended."""


def value_at(source: bytes, offset: int, kind: Kind) -> str:
    """The string-value of the node whose first byte stands at an offset; raises ValueError where there is none."""
    if kind is Kind.ELEMENT:
        plain = _PLAIN_ELEMENT.match(source, offset)
        return (plain[1] or b"").decode("utf-8") if plain else element_at(source, offset).value()
    if kind is Kind.ATTRIBUTE:
        return _attribute_value(source, offset)
    plain = _PLAIN_TEXT.match(source, offset)
    return plain[1].decode("utf-8") if plain else _text_value(source, offset)


def _attribute_value(source: bytes, offset: int) -> str:
    plain = _PLAIN_ATTRIBUTE.match(source, offset)
    if plain:
        return (plain[1] if plain[1] is not None else plain[2]).decode("utf-8")
    found = _ATTRIBUTE.match(source, offset)
    if found is None:
        raise ValueError(f"expected an attribute at byte {offset}, found {source[offset : offset + 20]!r}")
    values: list[str] = []
    parser = expat.ParserCreate("utf-8")
    parser.StartElementHandler = lambda _, attributes: values.extend(attributes.values())
    try:
        parser.Parse(b"<a v=%b/>" % found[2], True)
    except expat.ExpatError as error:
        raise ValueError(f"expected an attribute at byte {offset}, found {error}") from None
    return values[0]


def _text_value(source: bytes, offset: int) -> str:
    parts: list[str] = []

    def stop(*_: object) -> None:
        raise _Done

    parser = expat.ParserCreate("utf-8")
    parser.Parse(b"<a>", False)
    parser.CharacterDataHandler = parts.append
    parser.StartElementHandler = parser.EndElementHandler = stop
    parser.CommentHandler = parser.ProcessingInstructionHandler = stop
    _feed(parser, source, offset, is_ended_by_tag=True)
    return "".join(parts)


@dataclass(slots=True)
class Fragment:
    """An element that was read alone: its expanded name, its attributes, and the elements and texts in it."""

    name: str
    attributes: dict[str, str]
    texts: list[str]  # of the whole that was read; from `first` to before `last` they are in this element
    first: int
    last: int = 0
    parts: list[Fragment | str] = field(default_factory=list)

    def value(self) -> str:
        """Its string-value."""
        return "".join(self.texts[self.first : self.last])


def element_at(source: bytes, offset: int, declarations: bytes | None = None) -> Fragment:
    """The element whose start tag stands at an offset; raises ValueError where there is none.

    With `declarations`, those of the namespaces around it, names are expanded; without they are as written.
    """
    if _BEGIN.match(source, offset) is None:  # expat would take the next element that it finds
        raise ValueError(f"expected a start tag at byte {offset}, found {source[offset : offset + 20]!r}")
    builder = _Builder()
    parser = expat.ParserCreate("utf-8", None if declarations is None else SEPARATOR)
    parser.ordered_attributes = False
    parser.Parse(b"<a%b>" % (declarations or b""), False)
    parser.StartElementHandler, parser.EndElementHandler = builder.start, builder.end
    parser.CharacterDataHandler = builder.text
    parser.CommentHandler = parser.ProcessingInstructionHandler = builder.part
    parser.buffer_text = True
    _feed(parser, source, offset)
    return builder.root


def _feed(parser: expat.XMLParserType, source: bytes, offset: int, is_ended_by_tag: bool = False) -> None:
    """Give expat what stands at an offset, until its handlers have enough. It does not stop at once: they must.

    With `is_ended_by_tag` also until an end tag, whose start tag expat did not see.
    """
    at, size = offset, _PIECE
    try:
        while at < len(source):
            parser.Parse(source[at : at + size], False)
            at += size
            size *= 4
    except _Done:
        return
    except expat.ExpatError as error:
        if is_ended_by_tag and error.code == _MISMATCH:
            return
        raise ValueError(f"expected a node at byte {offset}, found {error}") from None
    raise ValueError(f"expected a node at byte {offset}, found the end of the document")


class _Builder:
    """Puts one element together."""

    def __init__(self) -> None:
        self._open: list[Fragment] = []
        self._pieces: list[str] = []  # of the text that is read
        self._texts: list[str] = []
        self.root = Fragment("", {}, self._texts, 0)

    def start(self, name: str, attributes: dict[str, str]) -> None:
        self.part()
        named = {_expanded(key): value for key, value in attributes.items()}
        element = Fragment(_expanded(name), named, self._texts, len(self._texts))
        if self._open:
            self._open[-1].parts.append(element)
        else:
            self.root = element
        self._open.append(element)

    def end(self, _: str) -> None:
        self.part()
        if self._open:
            self._open.pop().last = len(self._texts)
        if not self._open:
            raise _Done

    def text(self, data: str) -> None:
        self._pieces.append(data)

    def part(self, *_: object) -> None:
        """A text ends here."""
        if self._pieces and self._open:
            self._texts.append("".join(self._pieces))
            self._open[-1].parts.append(self._texts[-1])
        self._pieces.clear()


def _expanded(raw: str) -> str:
    uri, separator, local = raw.rpartition(SEPARATOR)
    return f"{{{uri}}}{local}" if separator else raw


@dataclass(frozen=True, slots=True)
class StartTag:
    """A start tag that was read alone: expanded names, and its namespace declarations as they may be written again."""

    name: str
    attributes: dict[str, str]
    declarations: bytes


def start_tag_at(source: bytes, offset: int, around: bytes = b"") -> StartTag:
    """The start tag at an offset, given the namespace declarations around it; raises ValueError if there is none."""
    found = _START_TAG.match(source, offset)
    if found is None:
        raise ValueError(f"expected a start tag at byte {offset}, found {source[offset : offset + 20]!r}")
    tags: list[tuple[str, dict[str, str]]] = []
    declared: list[str] = []

    def declare(prefix: str | None, uri: str | None) -> None:
        declared.append(f' xmlns{":" + prefix if prefix else ""}="{escape_attribute(uri or "")}"')

    parser = expat.ParserCreate("utf-8", SEPARATOR)
    try:
        parser.Parse(b"<a%b>" % around, False)
        parser.StartElementHandler = lambda name, attributes: tags.append((name, attributes))
        parser.StartNamespaceDeclHandler = declare
        parser.Parse(found[0], False)
    except expat.ExpatError as error:
        raise ValueError(f"expected a start tag at byte {offset}, found {error}") from None
    name, attributes = tags[0]
    expanded = {_expanded(key): value for key, value in attributes.items()}
    return StartTag(_expanded(name), expanded, "".join(declared).encode("utf-8"))


def root_name_at(source: bytes, offset: int) -> str:
    """The expanded name of a root element, whose start tag stands at an offset; raises ValueError if there is none."""
    found = _START_TAG.match(source, offset)
    if found is None or b":" in found[0] or b"xmlns" in found[0]:
        return start_tag_at(source, offset).name
    return _WRITTEN_NAME.match(source, offset + 1)[0].decode("utf-8")  # type: ignore[index] # a tag begins with one


def attribute_offset(source: bytes, start: int, name: str) -> int:
    """The offset of an attribute, by its name as written, in the start tag at an offset."""
    found = find_attribute(source, start, name.encode("utf-8"))
    if found >= 0:
        return found
    raise ValueError(f"expected an attribute {name} in the tag at byte {start}, found none")


def text_offset(source: bytes, start: int, place: int) -> int:
    """The offset of one of the texts that are children of the element at an offset."""
    found = find_text(source, start) if place == 0 else -1
    return found if found >= 0 else text_offsets(source, start)[place]


def text_offsets(source: bytes, start: int) -> list[int]:
    """The offsets of the texts that are children of the element at an offset, in their order."""
    places = _TextPlaces(start)
    _feed(places.parser, source, start)
    return places.offsets


class _TextPlaces:
    """Where the texts right inside an element begin."""

    def __init__(self, start: int) -> None:
        self.offsets: list[int] = []
        self._start, self._depth = start, 0
        self._in_text = False
        self._section: int | None = None  # where the section that is open begins: a text may begin with it
        self.parser = parser = expat.ParserCreate("utf-8")
        parser.StartElementHandler, parser.EndElementHandler = self._open, self._close
        parser.CommentHandler = parser.ProcessingInstructionHandler = self._part
        parser.CharacterDataHandler = self._text
        parser.StartCdataSectionHandler, parser.EndCdataSectionHandler = self._open_section, self._close_section

    def _open(self, *_: object) -> None:
        self._depth += 1
        self._in_text = False

    def _close(self, _: str) -> None:
        self._depth -= 1
        self._in_text = False
        if not self._depth:
            raise _Done

    def _part(self, *_: object) -> None:
        self._in_text = False

    def _open_section(self) -> None:
        self._section = self.parser.CurrentByteIndex

    def _close_section(self) -> None:
        self._section = None

    def _text(self, _: str) -> None:
        if self._depth == 1 and not self._in_text:
            at = self.parser.CurrentByteIndex if self._section is None else self._section
            self.offsets.append(self._start + at)
        self._in_text = True
