"""The node table and its fragments say what lxml says, whatever the encoding and the declarations."""

import codecs
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from oracle import Oracle, described, table_of
from strategies import PIECES, TAGS, Open, documents, namespaced_documents
from weft.documents import Document, Fragments, Limits, NodeTable
from weft.documents.build import build
from weft.documents.scan import scan

UNICODE = ("utf-8", "utf-8-sig", "utf-16", "utf-16le", "utf-16be")
ENCODINGS = (*UNICODE, "iso-8859-1", "iso-8859-15", "windows-1252", "us-ascii", "shift_jis", "euc-jp", "koi8-r")
#: Entities of text, of elements and of each other; attributes that are added, or read as lists of tokens.
SUBSET = """<!DOCTYPE a [
  <!-- not of the document -->
  <!ENTITY t "x &#38;lt; y">
  <!ENTITY e "<b x='&t;'>in</b> &t; tail">
  <!ENTITY c "<![CDATA[&foo;]]><!-- &foo; --><?p &foo;?>">
  <!ENTITY p SYSTEM "never-read.xml">
  <!ATTLIST a y CDATA "default&t;" xml:lang NMTOKEN "en">
  <!ATTLIST b x NMTOKENS #IMPLIED>
]>
"""
SPECIAL = {
    "CDATA": b"<a>1<![CDATA[<b>&amp;]]>2<b><![CDATA[]]></b><![CDATA[]]><!--c-->]]&gt;</a>",
    "line ends": b'<a\r\n  x="1\r\n2"\ty="\r">\r\n<b>\r</b>\r\r\n<!--\r\n--><?p \r\n?></a>\r\n',
    "references": b'<a x="&#10;&#9;&#13;&lt;&quot;&#x20;">&#13;&#10;&lt;&amp;&gt;&apos;&#x1F600;<b/>&#xA0;</a>',
    "quotes": b"""<a x=">" y='"/>'><b x="/>"></b><c x='/>'/><d x="/"></d><e x='/' /></a>""",
    "spaces in tags": b"<a ><b ></b ><c /><d\n></d\n></a\t>",
    "outside the root": b'<?xml version="1.0"?>\n<!--c-->\n<?p?>\n<a>1<b/></a>\n<!--d--><?q?>',
    "language": b'<a xml:lang="en" xml:space="preserve"><b> <c xml:lang="de"/></b></a>',
    "prefixes": b'<p:a xmlns:p="urn:p" xmlns="urn:d"><b p:x="1"><c xmlns=""><d/><p:e xmlns:p="urn:q"/></c></b></p:a>',
    "a namespace to escape": b'<p:a xmlns:p="http://w/?a=1&amp;b"><p:b><c/></p:b></p:a>',
    "declared by default": b'<!DOCTYPE a [<!ATTLIST a xmlns:p CDATA #FIXED "urn:p" xmlns CDATA "urn:d">]><a><p:b/></a>',
    "wide characters": '<a日本 ключ="знач">語<б/>\U0001f600<a日本/></a日本>'.encode(),
    "Latin letters": '<?xml version="1.0" encoding="iso-8859-1"?><a>é</a>'.encode("iso-8859-1"),
    "an empty DOCTYPE": b"<!DOCTYPE a><a>1<b/></a>",
    "markup in entities": SUBSET.encode() + b"<a>&e;<b x='  1  2 '/>&t;<![CDATA[&t;]]><a y='&t;&#13;'/>&e;&e;</a>",
    "an instruction in a DOCTYPE": b"<!DOCTYPE a [<?p q?><!ENTITY e '<?p r?>'>]><?p s?><a>1&e;2</a><?p t?>",
}


def tree(node: Any) -> tuple[Any, ...]:
    """All there is to an element: names, prefixes, attributes, texts, comments and instructions.

    lxml's canonical form of an inner element cannot serve: it puts in declarations that are not there.
    """
    if not isinstance(node.tag, str):
        return type(node).__name__, getattr(node, "target", None), node.text
    content = [(tree(child), child.tail) for child in node]
    return node.tag, node.prefix, list(node.attrib.items()), node.text, content


def declared_and_used(root: Any) -> tuple[set[str | None], set[str | None]]:
    """The prefixes that a root declares, and those that names in it go by, as far as it is it that declares them."""
    used = set()
    for element in root.iter("*"):
        names = [(element.prefix, etree.QName(element).namespace)]
        names += [(prefix, uri) for prefix, uri in element.nsmap.items() for name in element.attrib if uri in name]
        used |= {prefix for prefix, uri in names if uri and root.nsmap.get(prefix) == uri}
    return {prefix for prefix, uri in root.nsmap.items() if uri}, used


def lxml_elements(document: bytes | str) -> list[etree._Element]:
    return list(Oracle(document).root.iter("*"))


def assert_fragments_are_the_elements(table: NodeTable, document: bytes) -> None:
    fragments = Fragments(table)
    elements = lxml_elements(document)
    assert table.elements == len(elements)
    for row, element in enumerate(elements):
        assert tree(etree.fromstring(fragments.xml(row))) == tree(element)


def encoded(document: bytes, encoding: str) -> bytes:
    """The document in an encoding that it declares."""
    declared = "utf-8" if encoding == "utf-8-sig" else encoding
    text = f'<?xml version="1.0" encoding="{declared}"?>\n{document.decode()}'
    return text.encode(encoding, "xmlcharrefreplace")


# -- any document

any_documents = documents() | namespaced_documents()
with_subset = documents(
    tags=(*TAGS, Open("a", ('x="&t;"',)), Open("b", ('x=" 1\n 2 "', 'y="&#9;&t;"'))),
    pieces=(*PIECES, "&t;", "&e;", "&t;", "&e;", "&c;"),
).map(SUBSET.encode().__add__)


@given(st.lists(any_documents | with_subset, min_size=1, max_size=4))
def test_nodes_stand_in_document_order_with_names_owners_and_values(batch: list[bytes]) -> None:
    table = table_of(batch)

    found = described(table)

    assert found == [Oracle(document).described for document in batch]


@given(st.lists(any_documents | with_subset, min_size=1, max_size=4))
def test_depths_subtrees_and_string_values_are_those_of_lxml(batch: list[bytes]) -> None:
    table = table_of(batch)

    found = [
        (int(table.document[row]), int(table.depth[row]), int(table.last[row]) - row, table.string_value(row))
        for row in range(table.elements)
    ]

    assert found == [
        (at, 1 + len(list(element.iterancestors())), len(list(element.iter("*"))) - 1, element.xpath("string()"))
        for at, document in enumerate(batch)
        for element in lxml_elements(document)
    ]


@given(any_documents | with_subset)
def test_offsets_point_to_start_and_end_tags(document: bytes) -> None:
    table = table_of([document])
    source = table.sources[0]

    for row, element in enumerate(lxml_elements(document)):
        name = etree.QName(element).localname
        tag = (f"{element.prefix}:{name}" if element.prefix else name).encode()
        start, end = int(table.start[row]), int(table.end[row])

        assert source.startswith(b"<" + tag, start)
        assert source.startswith(b"</" + tag, end) or source.endswith(b"/>", start, end)


@given(documents())
def test_a_slice_of_the_source_is_the_element(document: bytes) -> None:
    table = table_of([document])

    for row, element in enumerate(lxml_elements(document)):
        end = int(table.end[row]) + len(f"</{element.tag}>")
        whole = etree.fromstring(document[table.start[row] : end])

        assert tree(whole) == tree(element)


@given(any_documents | with_subset, st.sampled_from(ENCODINGS))
def test_a_fragment_of_any_element_reads_as_the_element(document: bytes, encoding: str) -> None:
    document = encoded(document, encoding)

    table = table_of([document])

    assert_fragments_are_the_elements(table, document)


@given(namespaced_documents(), st.booleans())
def test_a_fragment_declares_what_it_uses_and_what_it_declared_already(document: bytes, compiled: bool) -> None:
    table = build(scan([Document(document)], Limits(), compiled=compiled))
    fragments = Fragments(table)
    own = [{prefix for row, prefix, _ in table.namespaces if row == at} for at in range(table.elements)]

    for row in range(table.elements):
        declared, used = declared_and_used(etree.fromstring(fragments.xml(row)))

        assert declared <= used | own[row]


@given(any_documents | with_subset, st.sampled_from(ENCODINGS))
def test_an_encoding_changes_no_node(document: bytes, encoding: str) -> None:
    document = encoded(document, encoding)

    found = described(table_of([document]))

    assert found == [Oracle(document).described]


@given(any_documents)
def test_text_is_read_whatever_encoding_it_declares(document: bytes) -> None:
    text = f'<?xml version="1.0" encoding="iso-8859-1"?>{document.decode()}'

    found = described(table_of([text]))

    assert found == [Oracle(document).described]


# -- documents with something special


@pytest.mark.parametrize("document", SPECIAL.values(), ids=SPECIAL.keys())
def test_special_documents_have_the_nodes_that_lxml_reads(document: bytes) -> None:
    table = table_of([document])

    found = described(table)

    assert found == [Oracle(document).described]


@pytest.mark.parametrize("document", SPECIAL.values(), ids=SPECIAL.keys())
def test_fragments_of_special_documents_read_as_the_elements(document: bytes) -> None:
    table = table_of([document])

    assert_fragments_are_the_elements(table, document)


@pytest.mark.parametrize("mark", [codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF8])
def test_a_byte_order_mark_alone_tells_the_encoding(mark: bytes) -> None:
    names = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be", codecs.BOM_UTF8: "utf-8"}
    document = mark + "<a é='ü'>日本<b/></a>".encode(names[mark])

    table = table_of([document])

    assert described(table) == [Oracle(document).described]
    assert_fragments_are_the_elements(table, document)


@pytest.mark.slow
def test_nothing_is_lost_where_a_long_document_is_read_in_parts() -> None:
    pieces = [f"<b x='{number}'>{'é日本' * 40}\n<c/>{number}</b>" for number in range(9_000)]
    document = f"<a>{''.join(pieces)}{'ü' * 3_000_000}</a>".encode()

    table = table_of([document])
    fragments = Fragments(table)

    assert described(table) == [Oracle(document).described]
    assert [fragments.text(1 + 2 * number) for number in range(9_000)] == pieces


@given(any_documents)
def test_attributes_and_texts_are_shown_so_that_they_read_the_same(document: bytes) -> None:
    table = table_of([document])
    fragments = Fragments(table)

    for node in range(table.elements, table.nodes):
        shown, value = fragments.text(node), table.string_value(node)
        if node < table.first_text:
            name, _, quoted = shown.partition("=")
            assert etree.fromstring(f"<a x={quoted}/>").get("x") == value
            assert name.endswith(table.names[table.attribute_name[node - table.elements]].rpartition("}")[2])
        else:
            assert shown == value
