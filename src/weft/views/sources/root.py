"""The first bytes of a document in, the name of its root out: what names a source."""

from __future__ import annotations

from xml.parsers import expat

from weft.documents.names import SEPARATOR
from weft.documents.source import encoding_of
from weft.errors import DocumentError

LOOK = 64 << 10  # bytes in which nearly every root begins


class _Root(Exception):  # noqa: N818 it is what was looked for
    """Ends the parse where the root begins."""


def root_of(document: str, head: bytes) -> str | None:
    """The root's expanded name; None if it begins behind these bytes. Raises DocumentError for what is no XML.

    >>> root_of("a.xml", b"<?xml version='1.0'?><a xmlns='u'><b>")
    '{u}a'
    """
    encoding = encoding_of(document, head)
    data = head if encoding is None else head.decode(encoding, "ignore").encode("utf-8")
    parser = expat.ParserCreate("utf-8", SEPARATOR)

    def start(name: str, _attributes: object) -> None:
        raise _Root(name)

    parser.StartElementHandler = start
    try:
        parser.Parse(data, False)
    except _Root as found:
        uri, _, local = str(found).rpartition(SEPARATOR)
        return f"{{{uri}}}{local}" if uri else local
    except expat.ExpatError as error:
        reason = expat.ErrorString(error.code)
        raise DocumentError(document, error.lineno, error.offset + 1, parser.ErrorByteIndex, reason) from None
    return None
