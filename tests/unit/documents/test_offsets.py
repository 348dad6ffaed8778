"""Values at byte offsets: what is read from there is the node's value, and where there is no node it is told."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from random import Random
from xml.parsers import expat

import pytest
from lxml import etree

from fuzz.grammar import document
from profiles import rounds
from weft.documents.kind import Kind
from weft.documents.offsets import (
    Fragment,
    attribute_offset,
    element_at,
    start_tag_at,
    text_offsets,
    value_at,
)


def start_tags(source: bytes) -> list[int]:
    """Where expat says that start tags begin."""
    parser, starts = expat.ParserCreate("utf-8"), list[int]()
    parser.StartElementHandler = lambda *_: starts.append(parser.CurrentByteIndex)
    parser.Parse(source, True)
    return starts


def good_documents(seed: int) -> Iterator[bytes]:
    """Documents with namespaces and all kinds of content; a few that are drawn are not well-formed."""
    chance = Random(seed)
    for _ in range(rounds(300)):
        source = document(chance)
        with suppress(expat.ExpatError):
            start_tags(source)
            yield source


def elements(source: bytes) -> list[etree._Element]:
    """The elements as lxml has them, in the order of their start tags."""
    parser = etree.XMLParser(strip_cdata=True, resolve_entities=True)
    return [each for each in etree.fromstring(source, parser).iter() if isinstance(each.tag, str)]


def texts(element: etree._Element) -> list[str]:
    """The texts right inside an element; comments and instructions lie between them."""
    found = [element.text, *(child.tail for child in element)]
    return [str(text) for text in found if text]


def name(each: Fragment) -> str:
    return each.name


# -- whole documents against lxml


def test_the_value_of_every_element_is_what_lxml_says() -> None:
    for source in good_documents(1):
        for start, element in zip(start_tags(source), elements(source), strict=True):
            assert value_at(source, start, Kind.ELEMENT) == element.xpath("string()")


def test_the_value_of_every_attribute_is_what_lxml_says() -> None:
    for source in good_documents(2):
        for start, element in zip(start_tags(source), elements(source), strict=True):
            tag = start_tag_at(source, start, b' xmlns:p="urn:p" xmlns:q="urn:q"')
            for given, value in element.attrib.items():
                written = qualified(element, str(given))
                assert value_at(source, attribute_offset(source, start, written), Kind.ATTRIBUTE) == value
                if not str(given).startswith("{"):
                    assert tag.attributes[str(given)] == value


def qualified(element: etree._Element, given: str) -> str:
    uri, _, local = given.rpartition("}")
    if not uri:
        return local
    if uri == "{http://www.w3.org/XML/1998/namespace":
        return f"xml:{local}"
    return f"{next(prefix for prefix, known in element.nsmap.items() if prefix and known == uri[1:])}:{local}"


def test_the_value_of_every_text_is_what_lxml_says() -> None:
    for source in good_documents(3):
        for start, element in zip(start_tags(source), elements(source), strict=True):
            found = [value_at(source, offset, Kind.TEXT) for offset in text_offsets(source, start)]
            assert found == texts(element), source


def test_an_element_is_read_alone_with_all_that_is_in_it() -> None:
    for source in good_documents(4):
        root = start_tag_at(source, start_tags(source)[0])
        found = element_at(source, start_tags(source)[0], root.declarations)
        inside = [found]
        for each in inside:
            inside += [part for part in each.parts if isinstance(part, Fragment)]
        assert sorted(map(name, inside)) == sorted(str(each.tag) for each in elements(source))


# -- by hand


@pytest.mark.parametrize(
    ("source", "value"),
    [
        (b"<a>x</a>", "x"),
        (b"<a/>", ""),
        (b"<a />", ""),
        (b"<a></a>", ""),
        (b"<a x='>' y=\"/>\">x</a>", "x"),
        (b"<a>x<b>y</b>z</a>", "xyz"),
        (b"<a>x<a>y</a>z</a>", "xyz"),
        (b"<a>x<!-- y -->z</a>", "xz"),
        (b"<a>x<?y y?>z</a>", "xz"),
        (b"<a>x<![CDATA[<b>&amp;]]>z</a>", "x<b>&amp;z"),
        (b"<a><![CDATA[]]></a>", ""),
        (b"<a>&lt;&#65;&#x42;&amp;</a>", "<AB&"),
        (b"<a>x\r\ny\rz\n</a>", "x\ny\nz\n"),
        (b"<a>&#13;</a>", "\r"),
        ("<ä>é€😀</ä>".encode(), "é€😀"),
        (b"<p:a>x</p:a>", "x"),
        (b"<a xmlns:p='u'><p:b>x</p:b></a>", "x"),
        (b"<a>" + b"x" * 100_000 + b"<b/></a>", "x" * 100_000),
    ],
)
def test_the_value_of_an_element(source: bytes, value: str) -> None:
    around = b"<r>..." + source + b"<a>other</a></r>"

    assert value_at(source, 0, Kind.ELEMENT) == value
    assert value_at(around, 6, Kind.ELEMENT) == value


@pytest.mark.parametrize(
    ("source", "value"),
    [
        (b"x='1'", "1"),
        (b'x="1"', "1"),
        (b"x = '1'", "1"),
        (b"x\n=\n'1'", "1"),
        (b"p:x=''", ""),
        (b"x='\"'", '"'),
        (b"x='>'", ">"),
        (b"x='a\tb\nc\r\nd'", "a b c d"),
        (b"x='&lt;&#10;&#9;&amp;'", "<\n\t&"),
        ("x='é😀'".encode(), "é😀"),
        (b"x='" + b"v" * 1_000_000 + b"'", "v" * 1_000_000),
    ],
)
def test_the_value_of_an_attribute(source: bytes, value: str) -> None:
    assert value_at(b"<a y='2' " + source + b"/>", 9, Kind.ATTRIBUTE) == value


@pytest.mark.parametrize(
    ("source", "value"),
    [
        (b"x<", "x"),
        (b"x</a>", "x"),
        (b"x<b/>y", "x"),
        (b"x<!-- c -->y</a>", "x"),
        (b"x<?p?>y</a>", "x"),
        (b"x<![CDATA[y]]>z</a>", "xyz"),
        (b"<![CDATA[y]]>z</a>", "yz"),
        (b"x<![CDATA[]]>z</a>", "xz"),
        (b"&amp;x</a>", "&x"),
        (b"x\r\ny</a>", "x\ny"),
        (b"&amp;x</other>", "&x"),
        (b"<![CDATA[y]]></p:other>", "y"),
    ],
)
def test_the_value_of_a_text(source: bytes, value: str) -> None:
    assert value_at(source, 0, Kind.TEXT) == value


@pytest.mark.parametrize(
    ("kind", "source"),
    [
        *((Kind.ELEMENT, source) for source in (b"", b"<", b"<a", b"<a>", b"<a>x", b"<a>&e;</a>", b"</a>", b"x<a/>")),
        *((Kind.ELEMENT, source) for source in (b"<a><b></a>", b"<!-- c --><a/>", b"<?p?><a/>", b"\xff<\xff")),
        *(
            (Kind.ATTRIBUTE, source)
            for source in (b"", b"x", b"x=", b"x='1", b"='1'", b"x='&e;'", b"x='&'", b"<a x='1'>")
        ),
        *((Kind.TEXT, source) for source in (b"", b"x", b"&", b"&e;<", b"\xff<", b"<![CDATA[x")),
    ],
)
def test_where_there_is_no_such_node_it_is_told(kind: Kind, source: bytes) -> None:
    with pytest.raises(ValueError, match=r"expected a|codec"):
        value_at(source, 0, kind)


@pytest.mark.parametrize("offset", [-1, 0, 1, 3, 4, 100])
def test_a_start_tag_that_is_not_there_is_told(offset: int) -> None:
    with pytest.raises((ValueError, IndexError)):
        start_tag_at(b"x<a></a", offset if offset != 1 else 2)


def test_a_start_tag_has_the_declarations_that_it_may_be_written_with_again() -> None:
    source = b"<p:a xmlns:p='urn:&quot;p&lt;' xmlns='d&amp;&#10;' p:x='1' y='2'>"

    tag = start_tag_at(source, 0)
    again = start_tag_at(b"<a%b/>" % tag.declarations, 0)

    assert tag.name == '{urn:"p<}a'
    assert tag.attributes == {'{urn:"p<}x': "1", "y": "2"}
    assert again.declarations == tag.declarations


def test_an_attribute_is_found_by_its_name_alone() -> None:
    source = b"<a y='x=\"1\" z' xx='2' p:x='3' x = '4'/>"

    found = attribute_offset(source, 0, "x")

    assert source[found:] == b"x = '4'/>"
    with pytest.raises(ValueError, match="expected an attribute z in the tag at byte 0, found none"):
        attribute_offset(source, 0, "z")


def test_only_the_texts_right_inside_an_element_have_offsets() -> None:
    source = b"<r>no<a>one<b>not<!-- -->this</b>two<!-- c -->three<![CDATA[]]><?p?><![CDATA[four]]>&amp;</a>no</r>"

    found = [source[offset : offset + 3] for offset in text_offsets(source, source.index(b"<a>"))]

    assert found == [b"one", b"two", b"thr", b"<!["]
