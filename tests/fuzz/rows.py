"""Rows of a file: lxml says which they are; chunks and parts of any size give the same."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from lxml import etree

from fuzz.case import Case
from fuzz.grammar import document
from weft.documents.document import Limits
from weft.errors import DocumentError
from weft.inputs.rows import WHOLE, Rows, cut_rows, read_rows

_LIMITS = Limits()
_WORDS = rb"""
<item>|</item>|<item/>|<item |<p:item>|</p:item>|<items>|</items>|<w>|</w>|<!--|-->|<![CDATA[|]]>|<?p |?>|"|'|>|<|/>|=
 xmlns="u"| xmlns:p="v"| xmlns=""| a=">"| a='/>'| a="<item>"|&amp;|&lt;|&#60;|&e;|\n|<!DOCTYPE r [|]>|<!ENTITY e "x">
""".strip().replace(b"\n", b"|")


class FileRows:
    """Mutated files of rows."""

    words = (*_WORDS.split(b"|"), b"\xc3\xa9", b"\xff", b"\0", b"\r\n")
    most_memory = 1_000

    def seeds(self) -> list[Case]:
        plain = (
            b'<?xml version="1.0"?>\n<r xmlns="u" xmlns:p="v"><w><item a=">">1</item></w><item/>t<p:item>2</p:item></r>'
        )
        nested = b"<r><!-- <item> --><item><item>in</item><![CDATA[</item>]]></item><?p <item>?><item b='1' /></r>"
        typed = b"<!DOCTYPE r [<!ENTITY e 'in'><!ATTLIST item g CDATA 'given'>]><r><item>&e;</item><w>&e;</w></r>"
        return [Case(data, ".xml") for data in (plain, nested, typed, b"<item/>")]

    def fresh(self, chance: Random) -> Case:
        return Case(document(chance, "item item p:item w items q"), ".xml")

    def check(self, case: Case) -> None:
        rows = rows_of(case.data, 100_000)
        size = 7 + len(case.data) // 500  # what is cut by the edge of a chunk is looked at again
        small = rows_of(case.data, size)
        assert told(small) == told(rows), f"in chunks of {size}: {told(small)!r:.300}, as a whole: {told(rows)!r:.300}"
        parts = cut_rows("file", cut(case.data, 2 * size), "item", 40)
        in_parts = [row for part in parts for row in rows_of(case.data, 6 * size, part)]
        assert told(in_parts) == told(rows), f"in parts: {told(in_parts)!r:.300}, as a whole: {told(rows)!r:.300}"
        expected = rows_by_lxml(case.data)
        if expected is not None:
            assert not any(isinstance(row, DocumentError) for row in rows), f"well-formed, yet {told(rows)!r:.300}"
            assert [canonical(row[1]) for row in rows if not isinstance(row, DocumentError)] == expected


def cut(data: bytes, size: int, start: int = 0, end: int | None = None) -> Iterator[bytes]:
    last = len(data) if end is None else end
    return (data[at : min(at + size, last)] for at in range(start, last, size))


def rows_of(data: bytes, size: int, rows: Rows = WHOLE) -> list[tuple[int, bytes] | DocumentError]:
    return list(read_rows("file", cut(data, size, rows.start, rows.end), "item", _LIMITS, rows))


def told(rows: list[tuple[int, bytes] | DocumentError]) -> list[object]:
    """What can be compared: where expat finds fault with what is no token depends on the chunks."""
    return [row.document if isinstance(row, DocumentError) else row for row in rows]


def rows_by_lxml(data: bytes) -> list[bytes] | None:
    """The canonical form of the outermost rows; None where the file is not well-formed, or in another encoding."""
    parser = etree.XMLParser(no_network=True, resolve_entities=True)
    try:
        root = etree.fromstring(data, parser)
    except (etree.XMLSyntaxError, ValueError):
        return None
    if b"encoding" in data[:200] or b"<!DOCTYPE" in data:
        return None  # lxml and expat differ in which declarations they read; the tests of rows have an eye on them
    found = [row for row in root.iter("{*}item") if not any(_is_row(above) for above in row.iterancestors())]
    try:
        return [canonical(etree.tostring(row, encoding="utf-8", with_tail=False)) for row in found]
    except etree.C14NError:
        return None  # names of namespaces that have no canonical form


def _is_row(element: etree._Element) -> bool:
    return isinstance(element.tag, str) and etree.QName(element).localname == "item"


def canonical(row: bytes) -> bytes:
    """Exclusive: a row declares the namespaces that it uses, and lxml all that are in scope."""
    written: bytes = etree.tostring(etree.fromstring(row), method="c14n", exclusive=True, with_comments=False)
    return written
