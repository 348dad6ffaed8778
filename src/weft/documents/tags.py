"""The tags of a source in; DocumentError out for what would cost expat far more than the source is long.

expat writes the namespace name of a tag's attributes out for each of them before anybody hears of the tag: one tag of
400 KB can take 8 GB so. So the number of attributes and the length of namespace names are checked before it reads on.
"""

from __future__ import annotations

import re
from functools import lru_cache
from xml.parsers import expat

from weft.documents.document import Limits
from weft.documents.source import Source

#: Bytes of a namespace name, which a document writes once and every name in it has.
LONGEST_NAMESPACE = 1_024
_LITERAL = rb"""(?:"[^"<]*+"|'[^'<]*+')"""
#: A start tag, or as much of it as is well-formed.
TAG = re.compile(rb"""<[^<>"'!?/\s][^<>"']*+(?:%b[^<>"']*+)*+>?""" % _LITERAL)
_VALUE = re.compile(_LITERAL)
_LONG_NAMESPACE = re.compile(
    rb"""xmlns(?::[^\s="'<>]*+)?\s*+=\s*+(?:"[^"<]{%d}|'[^'<]{%d})""" % ((LONGEST_NAMESPACE + 1,) * 2)
)


def refuse_floods(source: Source, limits: Limits) -> None:
    """Raise DocumentError for a tag with too many attributes or with a namespace name that is too long."""
    data = source.data
    long, flood = _floods(limits.max_attributes)
    if long.search(data):
        for found in flood.finditer(data):
            if found[1] and (tag := TAG.match(data, found.start())):
                number = sum(1 for _ in _VALUE.finditer(data, tag.start(), tag.end()))
                raise source.error(found.start(), too_many_attributes(number, limits))
    if _LONG_NAMESPACE.search(data):
        _refuse_long_namespaces(source)


def too_many_attributes(number: int, limits: Limits) -> str:
    """The reason to reject an element with so many attributes."""
    return f"an element with {number} attributes, more than {limits.max_attributes}"


def too_long_namespace(name: str, value: str) -> str | None:
    """The reason to reject an attribute that declares a namespace whose name is too long."""
    if len(value) * 4 <= LONGEST_NAMESPACE or not (name == "xmlns" or name.startswith("xmlns:")):
        return None
    size = len(value.encode("utf-8"))
    return f"a namespace name of {size} bytes, more than {LONGEST_NAMESPACE}" if size > LONGEST_NAMESPACE else None


class _DoctypeError(Exception):
    """Raised out of the parser."""


@lru_cache
def _floods(most: int) -> tuple[re.Pattern[bytes], re.Pattern[bytes]]:
    """What is long enough for more attributes; a tag that has them, and what may hold anything that looks like one."""
    aside = rb"<!--(?:.*?-->|.*)|<!\[CDATA\[(?:.*?\]\]>|.*)|<\?(?:.*?\?>|.*)"
    flood = rb"""(<[^<>"'!?/\s][^<>"']*+(?:%b[^<>"']*+){%d})""" % (_LITERAL, most + 1)
    return re.compile(rb"<[^<]{%d}" % (len(b' a=""') * most)), re.compile(aside + b"|" + flood, re.DOTALL)


def _refuse_long_namespaces(source: Source) -> None:
    """Without namespaces nothing is written out, so expat itself can be asked for the values."""
    parser = expat.ParserCreate("utf-8")

    def start(_: str, attributes: dict[str, str]) -> None:
        for name, value in attributes.items():
            if reason := too_long_namespace(name, value):
                raise source.error(parser.CurrentByteIndex, reason)

    def stop(*_: object) -> None:
        raise _DoctypeError

    parser.StartElementHandler = start
    parser.StartDoctypeDeclHandler = stop  # it is rewritten without namespaces first
    try:
        parser.Parse(source.data, True)
    except (expat.ExpatError, _DoctypeError):
        return  # who reads it with namespaces tells
    finally:
        parser.StartElementHandler = None  # which holds the parser, which holds it
