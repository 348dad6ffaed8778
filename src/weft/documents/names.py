"""Names as documents write them, or as expat gives them, in; numbers out that stay as long as their table is used."""

from __future__ import annotations

import re
from typing import TypeVar
from xml.parsers import expat

from weft.documents.tags import LONGEST_NAMESPACE

#: Between uri, local name and prefix of a name as expat gives it; no uri that can be trusted holds it.
SEPARATOR = "\x1f"
_XML = "http://www.w3.org/XML/1998/namespace"
_ASCII_NAME = re.compile(rb"[A-Za-z_][A-Za-z0-9_.\-]*+(?::[A-Za-z_][A-Za-z0-9_.\-]*+)?")
_LONGEST = 1_000  # bytes of a name or a declaration that is kept; what is longer is read by expat each time
_MOST_BINDINGS = 64  # declarations around a name: one after the other is looked at when a name is new
_MOST = 20_000  # names, tags and declarations of a table before the next batch begins another one
_BYTES = 64  # of names count as one more

_IN_DOUBT = -1
_ENCODING = rb"""(?: encoding=(?:"[A-Za-z][\w.\-]*+"|'[A-Za-z][\w.\-]*+'))?"""
_STANDALONE = rb"""(?: standalone=(?:"(?:yes|no)"|'(?:yes|no)'))?"""
#: What stands before most documents. Whatever is declared, the source is UTF-8 by now.
_DECLARATION = re.compile(rb"""<\?xml version=(?:"1\.0"|'1\.0')%b%b\?>""" % (_ENCODING, _STANDALONE))
_BEYOND_XML = re.compile(rb"\xef\xbf[\xbe\xbf]")  # U+FFFE and U+FFFF

Declared = tuple[str | None, str | None]
NameOrPair = TypeVar("NameOrPair", str, tuple[str | None, str | None])


class NameTable:
    """Expanded names and written tags, each with a number: both lists only grow.

    Contexts are numbers too: what is declared around a name. Context 0 has no declarations, each other one has one
    more than the context that it was declared in. `None` for a name or a declaration means: expat must be asked.
    """

    def __init__(self) -> None:
        self.names: list[str] = []  # expanded: `{uri}local`
        self.tags: list[str] = []  # as written: `prefix:local`
        self.declared: list[Declared] = []  # prefix and uri, as expat gives them
        self._names: dict[str, int] = {}
        self._tags: dict[str, int] = {}
        self._declared: dict[Declared, int] = {}
        self._raw: dict[str, tuple[int, int]] = {}
        self._contexts: list[tuple[int, int, int]] = [(0, 0, 0)]  # around it, what is declared, how many are in all
        self._context_of: dict[tuple[int, int], int] = {}
        self._bytes = 0

    @property
    def is_full(self) -> bool:
        """Whether there is so much in it that another table should be begun."""
        entries = len(self._raw) + len(self.names) + len(self.tags) + len(self.declared) + len(self._contexts)
        return entries + self._bytes // _BYTES > _MOST

    # -- what a scan finds new

    @staticmethod
    def content(source: bytes) -> int:
        """Where a document begins behind its XML declaration, or -1: it has bytes that no document may have."""
        if not source.isascii():
            try:
                source.decode()
            except UnicodeDecodeError:
                return _IN_DOUBT
            if _BEYOND_XML.search(source):
                return _IN_DOUBT
        declaration = _DECLARATION.match(source)
        return declaration.end() if declaration else 0

    def name(self, written: bytes, context: int, is_attribute: bool) -> tuple[int, int] | None:
        """The numbers of name and tag for a written name, where a context is declared."""
        if self.is_full or len(written) > _LONGEST or not _is_name(written):
            return None
        tag = written.decode()
        prefix, _, local = tag.rpartition(":")
        uri = None if is_attribute and not prefix else self._uri(prefix or None, context)
        if uri is None:
            return None if prefix else self._numbers(tag, tag)
        return self._numbers(f"{{{uri}}}{local}", tag)

    def declaration(self, written: bytes, context: int) -> tuple[int, int] | None:
        """The context that a declaration such as `xmlns:p="u"` makes of another, and the declaration's number."""
        found = None if self.is_full or len(written) > 2 * LONGEST_NAMESPACE else _declared_by(written)
        bindings = self._contexts[context][2] + 1
        if found is None or bindings > _MOST_BINDINGS or len((found[1] or "").encode()) > LONGEST_NAMESPACE:
            return None
        number = self.declaration_number(*found)
        inner = self._context_of.get((context, number))
        if inner is None:
            inner = self._context_of[context, number] = len(self._contexts)
            self._contexts.append((context, number, bindings))
        return inner, number

    def _uri(self, prefix: str | None, context: int) -> str | None:
        """The namespace of a prefix, or the default one; None if there is none."""
        while context:
            context, number, _ = self._contexts[context]
            if self.declared[number][0] == prefix:
                return self.declared[number][1]
        return _XML if prefix == "xml" else None

    # -- what expat gives

    def expat_name(self, raw: str) -> tuple[int, int]:
        """The numbers of name and tag for a name as expat gives it."""
        found = self._raw.get(raw)
        if found is None:
            name = tag = raw
            if SEPARATOR in raw:
                uri, local, prefix = split_name(raw)
                name, tag = f"{{{uri}}}{local}", f"{prefix}:{local}" if prefix else local
            self._bytes += len(raw)
            found = self._raw[raw] = self._numbers(name, tag)
        return found

    def declaration_number(self, prefix: str | None, uri: str | None) -> int:
        """The number of a declaration as expat gives it."""
        return self._number((prefix, uri), self._declared, self.declared, len(prefix or "") + len(uri or ""))

    # -- numbers

    def name_number(self, name: str) -> int:
        """The number of an expanded name."""
        return self._number(name, self._names, self.names, len(name))

    def tag_number(self, tag: str) -> int:
        """The number of a name as written."""
        return self._number(tag, self._tags, self.tags, len(tag))

    def _numbers(self, name: str, tag: str) -> tuple[int, int]:
        return self.name_number(name), self.tag_number(tag)

    def _number(self, entry: NameOrPair, numbers: dict[NameOrPair, int], entries: list[NameOrPair], size: int) -> int:
        number = numbers.get(entry)
        if number is None:
            number = numbers[entry] = len(entries)
            entries.append(entry)
            self._bytes += size
        return number


def split_name(raw: str) -> tuple[str, str, str]:
    """Uri, local name and prefix of a name as expat gives it; empty where there is none."""
    parts = raw.split(SEPARATOR)
    if len(parts) == 1:
        return "", raw, ""
    return parts[0], parts[1], parts[2] if len(parts) == 3 else ""


def _is_name(written: bytes) -> bool:
    """Whether these bytes are a name; expat knows which characters may be in one."""
    if written.isascii():
        return _ASCII_NAME.fullmatch(written) is not None
    prefix, colon, _ = written.partition(b":")
    declared = b' xmlns:%b="u"' % prefix if colon else b""
    return _is_read(expat.ParserCreate("utf-8", SEPARATOR), b"<%b%b/>" % (written, declared))


def _declared_by(written: bytes) -> Declared | None:
    """Prefix and uri of a declaration as it is written in a tag, None if expat would not have it."""
    found: list[Declared] = []
    parser = expat.ParserCreate("utf-8", SEPARATOR)
    parser.StartNamespaceDeclHandler = lambda prefix, uri: found.append((prefix, uri))
    return found[0] if _is_read(parser, b"<a %b/>" % written) and len(found) == 1 else None


def _is_read(parser: expat.XMLParserType, document: bytes) -> bool:
    try:
        parser.Parse(document, True)
    except expat.ExpatError:
        return False
    return True
