"""One document in, its nodes put into the columns of a scan out: read by expat, which decides what is rejected."""

from __future__ import annotations

from xml.parsers import expat

from weft.documents.document import Limits
from weft.documents.names import SEPARATOR, NameTable
from weft.documents.source import SourceBytes
from weft.documents.tally import Tally
from weft.kernel import Scanner


class ExpatScan:
    """The handlers of one document."""

    def __init__(self, source: SourceBytes, limits: Limits, into: Scanner, names: NameTable) -> None:
        self._source, self._into, self._names = source, into, names
        self._tally = Tally(limits)
        self._declared = 0  # by the tag that begins
        self._text: list[str] = []  # of the text that has begun; expat gives long ones in pieces
        self._parser = parser = expat.ParserCreate("utf-8", SEPARATOR)
        parser.namespace_prefixes = True
        parser.ordered_attributes = True
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._add_text
        parser.CommentHandler = self._part
        parser.ProcessingInstructionHandler = self._part
        parser.StartNamespaceDeclHandler = self._declare

    def read(self) -> None:
        """Raises DocumentError where the document is not well-formed or breaks a limit."""
        try:
            self._parser.Parse(self._source.data, True)
        except expat.ExpatError as error:
            raise self._source.error(self._parser.ErrorByteIndex, expat.ErrorString(error.code)) from None
        finally:
            del self._parser  # it has the handlers, and with them this

    def _start(self, raw: str, attributes: list[str]) -> None:
        self._end_text()
        if reason := self._tally.start(len(attributes) // 2 + self._declared):
            raise self._source.error(self._parser.CurrentByteIndex, reason)
        self._declared = 0
        for at in range(0, len(attributes), 2):
            self._into.add_attribute(*self._names.expat_name(attributes[at]), attributes[at + 1].encode())
        self._into.add_element(*self._names.expat_name(raw), self._parser.CurrentByteIndex)

    def _end(self, _: str) -> None:
        self._end_text()
        self._tally.end()
        self._into.end_element(self._parser.CurrentByteIndex)

    def _add_text(self, data: str) -> None:
        if not self._text and (reason := self._tally.text()):
            raise self._source.error(self._parser.CurrentByteIndex, reason)
        self._text.append(data)

    def _part(self, *_: str) -> None:
        """A comment or an instruction parts the text around it."""
        self._end_text()

    def _end_text(self) -> None:
        if self._text:
            self._into.add_text("".join(self._text).encode())
            self._text.clear()

    def _declare(self, prefix: str | None, uri: str | None) -> None:
        self._end_text()
        self._declared += 1
        self._into.add_declaration(self._names.declaration_number(prefix, uri))
