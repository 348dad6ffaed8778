"""The compiled scan and expat read the same, and reject the same."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzz.documents import Documents, observed
from fuzz.mutate import mutate
from profiles import examples, rounds
from weft.documents.build import build
from weft.documents.document import Document, Limits
from weft.documents.names import NameTable
from weft.documents.scan import scan
from weft.documents.table import NodeTable
from weft.kernel import Scanner
from weft.workload import generate_documents, shipped

# Pieces that make and break documents; whatever comes of them, both scans must say the same.
PIECES = (
    r"""
<a>|</a>|<b>|</b>|<a/>|<b/>|<p:a>|</p:a>|<a |<b |/|>|=|"|'|&|;|#|x|<|]|[|!|-|?|:|<a.b-c_1/>|<-a/>|<a:b/>|<:a/>|<a:/>
<é/>| xmlns="u"| xmlns=""| xmlns:p="u"| xmlns:p='v'| xmlns:p=""| xmlns:q="u"| xmlns:xml="u"| xmlns:xmlns="u"| xmlns:="u"
 xmlns:p:q="u"| xmlns:p="http://www.w3.org/2000/xmlns/"| xmlns="http://www.w3.org/XML/1998/namespace"| xmlns:p="&#117;"
 xmlns:p="ü"| xmlns:xml="http://www.w3.org/XML/1998/namespace"| xml:lang="en"| p:a="1"| q:a="2"| a="1"| b='2'| a="&lt;"
 a="<"| a=1| a| a="x&#10;y"| a="x	y"| a = "1"| :a="1"| a:="1"| a:b:c="1"| p:1="x"| 1="x"| é="1"| a="é"| a="]]>"| a='"'
 a="&amp;&quot;'"|text|é|]]>|]]|&lt;|&amp;|&gt;|&quot;|&apos;|&nbsp;|&#65;|&#x41;|&#xD;|&#0;|&#xFFFE;|&#xD800;|&#x110000;
&#x10FFFF;|&#;|&#x;|&#65|&#x1F600;|&e;|<![CDATA[|<![CDATA[]]>|<![CDATA[x&y<z]]>|<![CDATA[]]]]>|<!-- x -->|<!---->|<!-->
<!--->|<!--|-->|<!-- x -- y -->|<!-- é -->|<?t?>|<?t x?>|<?xml?>|<?XML x?>|<?p:t x?>|<?t?|<?t x|<!DOCTYPE a>|<xml:a/>
<!DOCTYPE a [<!ENTITY e "x">]>|<?xml version="1.0"?>|<?xml version="1.0" encoding="UTF-8"?>|<xmlns:a/>|</a >|< a>|</ a>
<?xml version='1.0' encoding='latin-1'?>|<a / >|<a/ >|<a b="1"c="2"/>
""".strip("\n")
    .replace("\n", "|")
    .split("|")
)
SPACES = [" ", "\n", "\r\n", "\r", "\t", "\0", "\x01", "\x7f", "\u2028", "\ufeff", "\ufffe", "\uffff", "\U0001f600"]
RAW = [b"\xff", b"\xc0\xaf", b"\xed\xa0\x80", b"\xef\xbf\xbe", b"\xef\xbb\xbf", b"\xe2\x82", b"\xf4\x90\x80\x80"]
pieces = st.sampled_from([piece.encode() for piece in PIECES + SPACES] + RAW)
soups = st.lists(pieces, max_size=12).map(b" ".join) | st.lists(pieces, max_size=12).map(b"".join)
BEFORE = [
    *(
        b"",
        b"<?xml version='1.0'?>",
        b"<!-- x -->",
        b"<!DOCTYPE a>",
        b"\xef\xbb\xbf",
        b"<?xml version='1.0' encoding='utf8'?>",
    ),
    b"<!DOCTYPE a [<!ENTITY e 'x'><!ATTLIST a q CDATA 'd' xmlns:q CDATA 'v'>]>",
    b"<!DOCTYPE a SYSTEM 'u' [<!ENTITY e '<b>&nbsp;</b><![CDATA[&e;]]>'>]>",
]
limits = st.builds(Limits, max_depth=st.integers(1, 4), max_attributes=st.integers(1, 3), max_nodes=st.integers(1, 30))
NEWS = [document for seed in range(8) for document in generate_documents(shipped("news"), number=4, seed=seed)]


def observe(data: bytes, compiled: bool, limits: Limits | None = None) -> Any:
    """All there is to see of a document, in a form that can be compared."""
    batch = [Document(b"<before/>", "before"), Document(data, "it"), Document(b"<after/>", "after")]
    return columns(build(scan(batch, limits or Limits(), compiled=compiled)))


def columns(table: NodeTable) -> Any:
    """The columns, names instead of their numbers."""
    seen = {name: getattr(table, name) for name in table.__dataclass_fields__ if name != "name_table"}
    for name, column in seen.items():
        if name in ("name", "attribute_name"):
            seen[name] = [table.names[at] for at in column]
        elif name in ("tag", "attribute_tag"):
            seen[name] = [table.tags[at] for at in column]
        elif isinstance(column, np.ndarray):
            seen[name] = column.tolist()
    seen["rejected"] = [str(error) for error in table.rejected]
    return seen


@st.composite
def elements(draw: st.DrawFn, depth: int = 3) -> bytes:
    """A document that is nearly well-formed: mostly its names and namespaces can be wrong."""
    name = draw(st.sampled_from([b"a", b"b", b"p:a", b"q:b"]))
    declared = draw(st.sampled_from([b"", b' xmlns="u"', b' xmlns:p="u" xmlns:q="v"', b' xmlns:q="u"', b' xmlns=""']))
    extra = draw(st.sampled_from([b"", b' a="1"', b' p:a="1" a="2"', b' q:a="x&amp;y"', b' xml:lang="en"']))
    inside = draw(st.lists(elements(depth - 1), max_size=3)) if depth else []
    content = [part for child in inside for part in (draw(pieces), child)] + [draw(pieces)]
    if draw(st.booleans()):
        content = inside
    return b"<" + name + declared + extra + b">" + b"".join(content) + b"</" + name + b">"


def check(data: bytes, limits: Limits | None = None) -> None:
    assert observe(data, True, limits) == observe(data, False, limits)


@examples(1_000)
@given(soups)
def test_soups(soup: bytes) -> None:
    check(soup)


@examples(1_000)
@given(soups, st.sampled_from([b"", b' xmlns:p="u"', b' xmlns="u" xmlns:p="u"']))
def test_soups_inside_of_a_root(soup: bytes, declared: bytes) -> None:
    check(b"<r" + declared + b">" + soup + b"</r>")


@examples(500)
@given(st.lists(pieces, max_size=6).map(b" ".join))
def test_soups_inside_of_a_tag(soup: bytes) -> None:
    check(b"<r xmlns:p='u'><a " + soup + b"/></r>")


@pytest.mark.slow
@examples(500)
@given(elements(), st.sampled_from(BEFORE))
def test_documents(document: bytes, before: bytes) -> None:
    check(before + document)


@examples(1_000)
@given(elements() | soups.map(b"<r>%b</r>".__mod__), st.sampled_from(BEFORE), limits)
def test_documents_that_may_break_a_limit(document: bytes, before: bytes, limits: Limits) -> None:
    check(before + document, limits)


@given(elements(), st.sampled_from([doctype for doctype in BEFORE if b"[" in doctype]), soups, st.data())
def test_documents_with_a_doctype_and_a_soup_somewhere(
    document: bytes, doctype: bytes, soup: bytes, data: st.DataObject
) -> None:
    at = data.draw(st.integers(0, len(doctype + document)))
    check((doctype + document)[:at] + soup + (doctype + document)[at:])


@examples(500)
@given(st.sampled_from(NEWS), st.data())
def test_news_with_a_byte_changed(document: bytes, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(document)))
    gone = data.draw(st.integers(0, 3))
    check(document[:at] + data.draw(pieces) + document[at + gone :])


@pytest.mark.parametrize("limits", [Limits(max_depth=3), Limits(max_nodes=20), Limits(max_attributes=1)])
@pytest.mark.parametrize("document", [*NEWS[:4], b"<a><a><a><a/></a></a></a>", b'<a b="1" c="2"/>'])
def test_limits(document: bytes, limits: Limits) -> None:
    check(document, limits)


@pytest.mark.parametrize(
    "document",
    [
        b"<a>" + b"long text &amp; " * 2_000 + b"</a>",
        b"<a>" * 900 + b"x" + b"</a>" * 900,
        b"<a " + b" ".join(b'a%d="1"' % number for number in range(40)) + b"/>",
        b"<a>" + b"".join(b"<n%d/>" % number for number in range(5_000)) + b"</a>",
        b'<r xmlns="u"><a xmlns=""><b/></a><c/></r>',
        b'<r xmlns:p="u"><p:a xmlns:p="v"><p:b/></p:a><p:c p:d="1"/></r>',
        b"".join(b'<p%d:a xmlns:p%d="u">' % (at, at) for at in range(70))
        + b"".join(b"</p%d:a>" % at for at in range(69, -1, -1)),
        b"".join(b'<p:a xmlns:p="u%d">' % at for at in range(70)) + b"</p:a>" * 70,
        *(b'<p:a xmlns:p="%b" p:b=""/>' % (b"u" * size) for size in (1_023, 1_024, 1_025)),
        *('<a xmlns="{}"/>'.format("ü" * size).encode() for size in (512, 513)),
        b"<a>" * 1_000 + b"</a>" * 1_000,
        b"<a>" * 1_001 + b"</a>" * 1_001,
        b"<a" + b"".join(b' a%d="1"' % number for number in range(1_001)) + b"/>",
        b"<!--x--><a>1<!--x--><?p?>2<?p?><b/><!--x-->3<!--x--></a><!--x-->",
    ],
)
def test_shapes(document: bytes) -> None:
    check(document)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_mutated_documents_in_batches(seed: int) -> None:
    fuzzer, chance = Documents(), Random(seed)
    seeds = fuzzer.seeds()
    for _ in range(rounds(10_000) // 10):
        batch = [mutate(chance.choice(seeds), seeds, fuzzer.words, chance).data for _ in range(10)]

        compiled, by_expat = (observed(*batch, compiled=compiled) for compiled in (True, False))

        assert compiled == by_expat


def test_documents_that_are_well_formed_are_scanned_by_the_kernel() -> None:
    scanner = Scanner(NameTable())
    scanner.limit(1_000, 1_000, 1_000_000)
    documents: list[bytes | str] = [
        *NEWS,
        b"<a/>",
        b'<feed xmlns="http://www.w3.org/2005/Atom" xmlns:p="u"><!-- x --><p:a p:b="1"/></feed>',
        "<a>é &#233; <![CDATA[<ü>]]><!-- ü --></a>".encode(),
        '<ä é="1"/>'.encode(),
        b"<a>" * 900 + b"x" + b"</a>" * 900,
        b"<a " + b" ".join(b'a%d="1"' % number for number in range(400)) + b"/>",
        b"<a>" + b"".join(b"<n%d/>" % number for number in range(5_000)) + b"</a>",
    ]

    scanner.place(documents, 1 << 30, no_source)

    assert scanner.scan(0, len(documents)) == len(documents)


def test_what_is_in_doubt_is_left_to_expat() -> None:
    scanner = Scanner(NameTable())
    scanner.limit(1_000, 1_000, 1_000_000)
    documents: list[bytes | str] = [b"<a/>", b"<!DOCTYPE a><a/>", b"<a/>", b"<a><b/>", b"<a/>"]
    scanner.place(documents, 1 << 30, no_source)

    assert scanner.scan(0, 5) == 1
    assert scanner.scan(2, 5) == 3
    assert scanner.scan(4, 5) == 5
    assert scanner.take()["document"].tolist() == [0, 1, 2]


def no_source(at: int) -> bytes:
    raise AssertionError(f"document {at} is what is given")


@pytest.mark.parametrize("name", [b"a", b"p:abcdefg", b"a" * 40])
def test_a_document_may_end_at_every_byte_of_a_tag(name: bytes) -> None:
    document = b"<" + name + b' xmlns:p="u" b="c">x</' + name + b">"

    for end in range(1, len(document) + 1):
        check(document[:end])
        check(document[:end] + b"=")
