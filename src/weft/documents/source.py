"""Document bytes or text in, UTF-8 bytes that expat reads as such out; places in them mapped back."""

from __future__ import annotations

import re
from dataclasses import dataclass

from weft.documents.charsets import codec_of
from weft.documents.document import Document
from weft.errors import DocumentError

_UTF8_MARK = b"\xef\xbb\xbf"
_UTF16 = ((b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"), (b"<\0", "utf-16-le"), (b"\0<", "utf-16-be"))
_DECLARED = re.compile(
    r"""\ufeff?<\?xml\s++version\s*+=\s*+(?:"[^"<>]*+"|'[^'<>]*+')\s++encoding\s*+=\s*+["']([A-Za-z][\w.\-]*+)["']""",
    re.ASCII,
)
HEAD = 4 * 1024  # bytes in which an encoding is declared


@dataclass(frozen=True, slots=True)
class SourceBytes:
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


def read_source(document: Document) -> SourceBytes:
    """The document as UTF-8; raises DocumentError where it has an encoding that is unknown or broken."""
    data = document.data
    if isinstance(data, str):
        return SourceBytes(document.id, _encode(document.id, data))
    encoding = encoding_of(document.id, data)
    if encoding is None:
        return SourceBytes(document.id, data)
    try:
        return SourceBytes(document.id, data.decode(encoding).encode("utf-8"), encoding)
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


def encoding_of(document: str, head: bytes) -> str | None:
    """Python's codec for what begins with these bytes, `None` for UTF-8; raises DocumentError where they lie about it.

    A byte order mark says what a document is. An 8-bit encoding that is declared behind one yields to it, as in lxml
    (and in HTML); what differs in the width of its characters is an error, as in expat.
    """
    wide = next((codec for mark, codec in _UTF16 if head.startswith(mark)), None)
    if wide is None and not head.startswith((b"<?xml", _UTF8_MARK)):
        return None
    end = head.find(b"?>", 0, HEAD) if wide is None else -1
    text = head[: end + 2 if end >= 0 else HEAD].decode(wide or "utf-8", "replace")
    if (declared := _DECLARED.match(text)) is None:
        if len(head) >= HEAD and "?>" not in text and re.match(r"\ufeff?<\?xml\s", text):
            raise DocumentError(document, 1, 1, 0, f"an XML declaration of more than {HEAD} bytes")
        return wide
    codec = codec_of(declared[1])
    if codec is None:
        raise _encoding_error(document, declared, wide, f"unknown encoding {declared[1]!r}")
    is_little = head.startswith((b"\xff\xfe", b"<\0"))
    possible = ("utf_16", "utf_16_le" if is_little else "utf_16_be") if wide else None
    if (codec not in possible) if possible else codec.startswith("utf_16"):
        raise _encoding_error(document, declared, wide, f"declared to be {declared[1]}, which it is not")
    if wide is not None:
        return wide
    return None if codec == "utf_8" or head.startswith(_UTF8_MARK) else codec


def _encoding_error(document: str, declared: re.Match[str], wide: str | None, reason: str) -> DocumentError:
    before = declared.string[: declared.start(1)]
    line, column = before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1
    return DocumentError(document, line, column, len(before.encode(wide or "utf-8")), reason)
