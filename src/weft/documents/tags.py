"""The tags of a source in; DocumentError out for what would cost expat far more than the source is long.

expat writes the namespace name of a tag's attributes out for each of them before anybody hears of the tag: one tag of
400 KB can take 8 GB so. So the number of attributes and the length of namespace names are checked before it reads on.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from weft.documents.document import Limits
from weft.documents.source import SourceBytes

#: Bytes of a namespace name, which a document writes once and every name in it has.
LONGEST_NAMESPACE = 1_024
#: What may hold anything, up to its end or, if it has none and is not well-formed, up to the end of all.
ASIDE = rb"<!--(?:.*?-->|.*)|<\?(?:.*?\?>|.*)|<!\[CDATA\[(?:.*?\]\]>|.*)"
_LITERAL = rb"""(?:"[^"<]*+"|'[^'<]*+')"""
#: A start tag, or as much of it as is well-formed.
TAG = re.compile(rb"""<[^<>"'!?/\s][^<>"']*+(?:%b[^<>"']*+)*+>?""" % _LITERAL)
_VALUE = re.compile(_LITERAL)
_ASIDE_OR_TAG = re.compile(b"%b|(%b)" % (ASIDE, TAG.pattern), re.DOTALL)
_ATTRIBUTE = re.compile(rb"""(?<=\s)([^\s="'<>]++)\s*+=\s*+(%b)""" % _LITERAL)
_LONG_NAMESPACE = re.compile(
    rb"""xmlns(?::[^\s="'<>]*+)?\s*+=\s*+(?:"[^"<]{%d}|'[^'<]{%d})""" % ((LONGEST_NAMESPACE + 1,) * 2)
)
_REFERENCE = re.compile(rb"&(?:#x([0-9A-Fa-f]{1,8})|#([0-9]{1,8})|(amp|lt|gt|quot|apos)|[^&;\s]*+);|\r\n")


def refuse_floods(source: SourceBytes, limits: Limits) -> None:
    """Raise DocumentError for a tag with too many attributes or with a namespace name that is too long."""
    data = source.data
    long, flood = _floods(limits.max_attributes)
    if long.search(data):
        for found in flood.finditer(data):
            if found[1] and (tag := TAG.match(data, found.start())):
                number = sum(1 for _ in _VALUE.finditer(data, tag.start(), tag.end()))
                raise source.error(found.start(), too_many_attributes(number, limits))
    if _LONG_NAMESPACE.search(data):
        for offset, written in namespaces_in(data):
            if (size := len(_REFERENCE.sub(_character, written))) > LONGEST_NAMESPACE:
                raise source.error(offset, too_long_namespace(size))


def namespaces_in(data: bytes) -> Iterator[tuple[int, bytes]]:
    """The namespace names that tags declare, as written, and the offsets of the tags."""
    for found in _ASIDE_OR_TAG.finditer(data):
        if found[1] and b"xmlns" in found[1]:
            for attribute in _ATTRIBUTE.finditer(found[1]):
                if attribute[1] == b"xmlns" or attribute[1].startswith(b"xmlns:"):
                    yield found.start(), attribute[2][1:-1]


def too_many_attributes(number: int, limits: Limits) -> str:
    """The reason to reject an element with so many attributes."""
    return f"an element with {number} attributes, more than {limits.max_attributes}"


def too_long_namespace(size: int) -> str:
    """The reason to reject an element that declares a namespace whose name has so many bytes."""
    return f"a namespace name of {size} bytes, more than {LONGEST_NAMESPACE}"


def namespace_size(name: str, value: str) -> int:
    """The bytes of the namespace name that an attribute declares, 0 if it declares none."""
    return len(value.encode("utf-8")) if name == "xmlns" or name.startswith("xmlns:") else 0


@lru_cache
def _floods(most: int) -> tuple[re.Pattern[bytes], re.Pattern[bytes]]:
    """What is long enough for more attributes; a tag that has them, and what may hold anything that looks like one."""
    flood = rb"""%b|(<[^<>"'!?/\s][^<>"']*+(?:%b[^<>"']*+){%d})""" % (ASIDE, _LITERAL, most + 1)
    return re.compile(rb"<[^<]{%d}" % (len(b' a=""') * most)), re.compile(flood, re.DOTALL)


def _character(reference: re.Match[bytes]) -> bytes:
    """What a reference stands for, or something of the same length; nothing for an entity of the document."""
    if reference[1] or reference[2]:
        code = int(reference[1], 16) if reference[1] else int(reference[2])
        return chr(min(code, 0x10FFFF)).encode("utf-8", "replace")
    return b"x" if reference[3] or reference[0] == b"\r\n" else b""
