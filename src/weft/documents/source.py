"""Document bytes or text in, UTF-8 bytes that expat reads as such out; places in them mapped back."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

from weft.documents.document import Document
from weft.errors import DocumentError

_DECLARED = re.compile(rb"""^(?:\xef\xbb\xbf)?<\?xml\s[^>]*?encoding\s*=\s*["']([A-Za-z][\w.\-]*)["']""")
_UTF16 = ((b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"), (b"<\0", "utf-16-le"), (b"\0<", "utf-16-be"))
# Python's codecs that are not encodings of XML: they would give a document a second, hidden reading.
_NOT_FOR_XML = frozenset({"idna", "punycode", "raw-unicode-escape", "unicode-escape", "undefined", "utf-7", "utf-8"})


@dataclass(frozen=True, slots=True)
class Source:
    """The UTF-8 bytes of a document; `encoding` is what they were before, `None` if they are as given."""

    document: str
    data: bytes
    encoding: str | None = None

    def error(self, offset: int, reason: str) -> DocumentError:
        """A rejection at a byte offset of these bytes, told as a place of the document as given."""
        offset = min(max(offset, 0), len(self.data))
        before = self.data[:offset]
        line = before.count(b"\n") + 1
        column = len(before[before.rfind(b"\n") + 1 :].decode("utf-8", "replace")) + 1
        if self.encoding is not None:
            offset = len(before.decode("utf-8", "replace").encode(self.encoding, "replace"))
        return DocumentError(self.document, line, column, offset, reason)


def read_source(document: Document) -> Source:
    """The document as UTF-8; raises DocumentError where it has an encoding that is unknown or broken."""
    data = document.data
    if isinstance(data, str):
        return Source(document.id, _encode(document.id, data))
    encoding = _foreign_encoding(document.id, data)
    if encoding is None:
        return Source(document.id, data)
    try:
        return Source(document.id, data.decode(encoding).encode("utf-8"), encoding)
    except UnicodeDecodeError as error:
        before = data[: error.start].decode(encoding, "replace")
        line, column = before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1
        reason = f"not {encoding}: {error.reason}"
        raise DocumentError(document.id, line, column, error.start, reason) from None


def _encode(document: str, text: str) -> bytes:
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        before = text[: error.start]
        line, column = before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1
        offset = len(before.encode("utf-8", "replace"))
        raise DocumentError(document, line, column, offset, "a lone surrogate is not a character") from None


def _foreign_encoding(document: str, data: bytes) -> str | None:
    """The encoding of bytes that are not UTF-8 by byte-order mark or XML declaration."""
    for mark, encoding in _UTF16:
        if data.startswith(mark):
            return encoding
    if (declared := _DECLARED.match(data[:256])) is None:
        return None
    name = declared[1].decode("ascii")
    if name.lower() in ("utf-8", "utf8"):
        return None
    try:
        encoding = codecs.lookup(name).name
        if encoding in _NOT_FOR_XML:
            raise LookupError(name)
        b"".decode(encoding)  # a codec such as "hex" is known to Python and no text encoding
        is_wrong = encoding.startswith("utf-16")
    except LookupError:
        raise DocumentError(
            document, 1, declared.start(1) + 1, declared.start(1), f"unknown encoding {name!r}"
        ) from None
    if is_wrong:
        reason = f"declared to be {name}, which it is not"
        raise DocumentError(document, 1, declared.start(1) + 1, declared.start(1), reason)
    return encoding
