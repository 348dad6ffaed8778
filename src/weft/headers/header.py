"""The header of a document: for each view of a configuration a byte offset, or why there is none; and its two forms.

The binary form, which travels in the transport's own header:

    magic "WV"  version 1  flags  length of the tag, the tag in UTF-8  length of the document  its checksum (4 bytes)
    number of views  root  entries  checksum of all this (4 bytes)

Numbers are varints, seven bits a byte, the low ones first. An entry is ABSENT (0), SEVERAL (1), HIDDEN (2), or an
offset: 3 and its difference to the offset before it, folded so that small differences in either direction are small
numbers. Differences below 2**16 need at most three bytes. The text form is the binary one in URL-safe base64.
"""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as Base64Error
from collections.abc import Iterator
from typing import NamedTuple

from xxhash import xxh3_64_digest, xxh3_64_intdigest

from weft.columns.integers import Longs
from weft.errors import WeftError
from weft.kernel import fold, fold_all, unfold

#: Why a view has no offset: it selects no node (so the answer is known), several nodes, or one that cannot be read
#: from its offset, because what it means stands in declarations elsewhere.
ABSENT, SEVERAL, HIDDEN = -1, -2, -3
_VERSION = 1
PLAIN, UTF8 = 1, 2  # flags
_CHECK = 4  # bytes of a checksum
_MASK = (1 << 8 * _CHECK) - 1
#: What a header is called on its way: a record's header has the binary form, HTTP's the text form, which is ASCII.
RECORD_HEADER = "weft-views"
HTTP_HEADER = "Weft-Views"


#: The fields of a header, in the order of Header, and its own checksum.
Fields = tuple[str, int, int, int, tuple[int, ...], int, int]


class HeaderError(WeftError):
    """A header that cannot be trusted: it is ignored, and the document is parsed."""


class Header(NamedTuple):
    """What a producer tells of a document: whose views (`tag`), of which bytes, and where their nodes are.

    `root` is the offset of the root element; `flags` are PLAIN (all namespaces are declared there, so that an element
    can be read alone) and UTF8 (the document's bytes are read as they are).
    """

    tag: str
    length: int
    checksum: int
    root: int
    entries: tuple[int, ...]
    flags: int

    def encode(self) -> bytes:
        """The binary form."""
        return _sealed(fold(*self))

    def to_text(self) -> str:
        """The text form."""
        return urlsafe_b64encode(self.encode()).decode("ascii").rstrip("=")


def encode_all(
    tag: str, seed: int, documents: list[bytes], roots: list[int], entries: Longs, flags: list[int]
) -> Iterator[bytes]:
    """The binary forms of the headers of documents: a root, flags and a row of entries for each."""
    checksums = [xxh3_64_intdigest(document, seed) for document in documents]
    return map(_sealed, fold_all(tag, documents, checksums, roots, entries.ravel(), flags))


def _sealed(fields: bytes) -> bytes:
    """The binary form with these fields."""
    return fields + xxh3_64_digest(fields)[: -_CHECK - 1 : -1]  # the digest has the high byte first


def check(data: bytes | bytearray, seed: int = 0) -> int:
    """The checksum of bytes: it finds accidents, not forgeries. That of a document has its configuration's seed."""
    return xxh3_64_intdigest(data, seed) & _MASK


def decode(data: bytes | str) -> Header:
    """The header of either form; raises HeaderError unless every byte of it is as it was written."""
    return Header(*fields_of(data)[:6])


def fields_of(data: bytes | str) -> Fields:
    """The fields of a header in either form, in the order of Header; raises HeaderError as `decode` does."""
    if type(data) is not bytes:
        data = _as_bytes(data)
    try:
        fields = unfold(data)
    except ValueError:
        raise HeaderError(f"header: expected one of version {_VERSION}, found {bytes(data[:4])!r}") from None
    if xxh3_64_intdigest(data[:-_CHECK]) & _MASK != fields[6]:
        raise HeaderError(f"header: expected the checksum of its {len(data)} bytes, found another: cut or changed")
    return fields


def _as_bytes(data: object) -> bytes:
    """The binary form of what a transport gave."""
    if isinstance(data, str):
        return _from_text(data)
    if isinstance(data, bytes | bytearray | memoryview):
        return bytes(data)
    raise HeaderError(f"header: expected bytes or text, found {type(data).__name__}")


def _from_text(text: str) -> bytes:
    try:
        return urlsafe_b64decode(text.encode("ascii") + b"=" * (-len(text) % 4))
    except (Base64Error, ValueError):
        raise HeaderError(f"header: expected base64, found {text[:20]!r}") from None
