"""The producer: where nodes begin in a document's bytes, in whatever encoding, and what is hidden or has no header."""

from __future__ import annotations

import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from random import Random
from time import process_time
from typing import Any
from xml.parsers import expat

import pytest

from profiles import rounds
from weft.documents.build import read
from weft.documents.document import Document, Limits
from weft.engine import Engine
from weft.engine.shared import effort
from weft.headers.configuration import configure
from weft.headers.header import ABSENT, HIDDEN, PLAIN, SEVERAL, UTF8, Header, check, decode
from weft.headers.matcher import HeaderMatcher
from weft.headers.path_automaton import PathAutomaton, TooManyStatesError
from weft.headers.producer import Producer, attach
from weft.languages import parse
from weft.plans.xscl import Xscl
from weft.workload import generate_documents, shipped

DECLARES = "<?xml version='1.0' encoding='{}'?><a><b>é</b></a>"


@pytest.mark.parametrize("encoding", ["iso-8859-1", "shift_jis", "utf-16", "no-such-encoding"])
def test_a_text_that_declares_an_encoding_has_no_header(encoding: str) -> None:
    made = attach(DECLARES.format(encoding), configure("v", ["/a/b"]))[0]

    assert made.header is None


@pytest.mark.parametrize("encoding", ["utf-8", "UTF-8"])
def test_a_text_that_declares_utf_8_has_the_header_of_its_bytes(encoding: str) -> None:
    text = DECLARES.format(encoding)

    as_text, as_bytes = attach([text, text.encode()], configure("v", ["/a/b"]))

    assert as_text.header == as_bytes.header is not None


def test_the_header_of_bytes_is_not_trusted_for_a_text_of_the_same_bytes() -> None:
    """As latin-1 the bytes say `Ã©`: what a view selects there is not what it selects in the text."""
    text, configuration = DECLARES.format("iso-8859-1"), configure("v", ["/a/b[. = 'é']"])
    matcher = HeaderMatcher(configuration)
    matcher.add(0, parse("/a/b[. = 'é']"))
    made = attach(Document(text.encode(), "it"), configuration)[0]

    assert matcher.answer(made) == []
    assert matcher.answer(replace(made, data=text)) is None


# -- offsets


def entries(data: bytes | str, *views: str, **settings: Any) -> tuple[int, ...]:
    header = attach(data, configure("v", views, **settings))[0].header
    assert header is not None
    return decode(header).entries


def expat_starts(data: bytes) -> dict[str, list[int]]:
    """By name as written, where expat says that start tags begin."""
    parser, starts = expat.ParserCreate(), dict[str, list[int]]()
    parser.StartElementHandler = lambda name, _: starts.setdefault(name, []).append(parser.CurrentByteIndex)
    parser.Parse(data, True)
    return starts


NAMES = "abcdefg"


def drawn_document(chance: Random) -> bytes:
    """Elements of few names, with all that may stand between them."""
    between = ["", "x", "é", "<!-- <a> -->", "<?p <a>?>", "<![CDATA[<a>]]>", "&lt;a&gt;", "\r\n", " "]
    tags = [chance.choice(NAMES) for _ in range(chance.randrange(1, 12))]
    inside = "".join(
        f"{chance.choice(between)}<{tag} x='&lt;'>{chance.choice(between)}</{tag}>{chance.choice(between)}"
        for tag in tags
    )
    before = chance.choice(["", "\ufeff", "<?xml version='1.0'?>", "<!-- <a> -->", "<!DOCTYPE r SYSTEM 'r.dtd'>", "\n"])
    return f"{before}<r>{inside}</r>".encode()


def test_the_offset_of_an_element_is_where_expat_says_that_its_start_tag_begins() -> None:
    chance = Random(1)
    configuration = configure("v", [f"//{name}" for name in NAMES])

    for _ in range(rounds(500)):
        data = drawn_document(chance)
        starts = expat_starts(data)
        header = attach(data, configuration)[0].header
        assert header is not None, data
        expected = [starts.get(name, []) for name in NAMES]
        assert decode(header).entries == tuple(
            ABSENT if not found else SEVERAL if len(found) > 1 else found[0] for found in expected
        )
        assert decode(header).root == starts["r"][0]


def test_generated_documents_have_the_offsets_that_expat_says() -> None:
    names = ("news", "head", "title", "body", "agency", "date", "place")
    configuration = configure("v", [f"//{name}" for name in names])

    for data in generate_documents(shipped("news"), number=rounds(60), elements=30):
        starts = expat_starts(data)
        header = attach(data, configuration)[0].header
        assert header is not None
        for name, entry in zip(names, decode(header).entries, strict=True):
            found = starts.get(name, [])
            assert entry == (ABSENT if not found else SEVERAL if len(found) > 1 else found[0])


@pytest.mark.parametrize(
    ("data", "view", "there"),
    [
        (b"<a x='1' y='2'/>", "/a/@y", b"y='2'"),
        (b"<a y='x=\"1\"' x = '2'/>", "/a/@x", b"x = '2'"),
        (b"<a\n\tx\n=\n'2'/>", "/a/@x", b"x\n=\n'2'"),
        (b"<a xml:lang='de'/>", "/a/@xml:lang", b"xml:lang"),
        (b"<a>x<b/>y</a>", "/a/b/text()", None),
        (b"<a><b>x</b></a>", "/a/b/text()", b"x</b>"),
        (b"<a><b>&amp;x</b></a>", "/a/b/text()", b"&amp;x</b>"),
        (b"<a><b><![CDATA[x]]></b></a>", "/a/b/text()", b"<![CDATA[x]]>"),
        (b"<a><b><!-- c -->x</b></a>", "/a/b/text()", b"x</b>"),
        (b"<a><b><c>no</c>x</b></a>", "/a/b/text()", b"x</b>"),
        (b"<a><b>no</b><c>y</c></a>", "/a/c[1]/text()", b"y</c>"),
        (b"\xef\xbb\xbf<a><b/></a>", "/a/b", b"<b/>"),
    ],
)
def test_the_bytes_at_an_offset_are_those_of_the_node(data: bytes, view: str, there: bytes | None) -> None:
    entry, *_ = entries(data, view, namespaces={"xml": "http://www.w3.org/XML/1998/namespace"})

    assert entry == ABSENT if there is None else data[entry:].startswith(there)


def test_why_there_is_no_offset() -> None:
    data = b"<a><b/><b/><c/></a>"

    assert entries(data, "/a/c", "/a/b", "/a/d", "//@x", "/a/text()") == (11, SEVERAL, ABSENT, ABSENT, ABSENT)


def test_a_family_has_an_entry_for_what_it_leaves_out() -> None:
    two, three = (b"<a>" + b"<b>x</b>" * number + b"</a>" for number in (2, 3))

    assert entries(two, "/a/b[1]", "/a/b[2]") == (3, 11, ABSENT)
    assert entries(three, "/a/b[1]", "/a/b[2]") == (3, 11, SEVERAL)
    assert entries(three, "/a/b[2]") == (11,)


# -- encodings

ENCODINGS = [
    ("utf-8", ""),
    ("utf-8", "utf-8"),
    ("utf-8-sig", ""),
    ("utf-8-sig", "utf-8"),
    ("utf-16", ""),
    ("utf-16", "utf-16"),
    ("utf-16-le", "utf-16"),
    ("utf-16-be", "utf-16"),
    ("iso-8859-1", "iso-8859-1"),
    ("iso-8859-15", "iso-8859-15"),
    ("windows-1252", "windows-1252"),
    ("shift_jis", "shift_jis"),
    ("euc-jp", "euc-jp"),
    ("iso-2022-jp", "iso-2022-jp"),
    ("gb18030", "gb18030"),
    ("big5", "big5"),
    ("koi8-r", "koi8-r"),
    ("ascii", "us-ascii"),
]


@pytest.mark.parametrize(("encoding", "declared"), ENCODINGS)
def test_offsets_are_of_the_bytes_as_given_in_every_encoding(encoding: str, declared: str) -> None:
    head = f"<?xml version='1.0' encoding='{declared}'?>" if declared else ""
    text = f"{head}<a é='1'><!-- 漢字 €😀 --><b x='漢é'>漢字</b><c>Ж</c></a>".replace("é='1'", "y='1'")
    data = text.encode(encoding, "xmlcharrefreplace")
    configuration = configure("v", ["/a/b", "/a/b/@x", "/a/b/text()", "/a/c"])
    queries = ["/a[b = '漢字']", "/a[b/@x = '漢é']", "/a[b/text() = '漢字']", "/a[c = 'Ж']", "/a[c = 'x']", "/a/@y"]
    matcher = HeaderMatcher(configuration)
    for number, query in enumerate(queries):
        matcher.add(number, parse(query))
    (made,) = attach(data, configuration)
    expected = [number for number, query in enumerate(queries) if matches(data, query)]

    assert made.header is not None
    for entry, start in zip(decode(made.header).entries, ("<b", "x=", "", "<c"), strict=True):
        unmarked = start.encode("utf-16-le" if data[:2] == b"\xff\xfe" else encoding.removesuffix("-sig"))
        assert data[entry:].startswith(unmarked)
    matcher.remove(5)
    assert matcher.answer(made) == expected[:-1] == [0, 1, 2, 3]


def matches(data: bytes | str, query: str) -> bool:
    engine, plan = Engine(), parse(query)
    assert not isinstance(plan, Xscl)
    engine.add(0, plan)
    return bool(len(engine.match(read([Document(data)])).subscriptions()[0]))


def test_a_document_in_text_has_the_header_of_its_utf_8() -> None:
    text = "<a><!-- é😀 --><b>漢字</b></a>"

    as_text, as_bytes = attach([text, text.encode()], configure("v", ["/a/b"]))

    assert as_text.header == as_bytes.header
    assert isinstance(as_text.data, str)


# -- declarations

DOCTYPES = [
    "<!DOCTYPE a>",
    "<!DOCTYPE a SYSTEM 'a.dtd'>",
    "<!DOCTYPE a PUBLIC '-//A' 'a.dtd'>",
    "<!DOCTYPE a []>",
    "<!DOCTYPE a [<!ENTITY e 'E'>]>",
    "<!DOCTYPE a [<!ENTITY e '<b>E</b>'>]>",
    "<!DOCTYPE a [<!ATTLIST b x CDATA 'D'>]>",
    "<!DOCTYPE a [<!ATTLIST b x NMTOKENS #IMPLIED>]>",
    "<!DOCTYPE a [<!ATTLIST b xmlns CDATA 'urn:d'>]>",
    "<!DOCTYPE a [<!ATTLIST b xmlns:p CDATA #FIXED 'urn:p'>]>",
    "<!DOCTYPE a [<!ELEMENT a ANY><!-- ]> <b> --><?p ]><b>?>]>",
    "<!DOCTYPE a SYSTEM 'a.dtd' [<!ENTITY % p SYSTEM 'p'> %p;]>",
    "<!DOCTYPE a [<!ENTITY lt '&#38;#60;'>]>",
]
BODIES = [
    "<a><b>1</b></a>",
    "<a><b x=' D  E '>1</b></a>",
    "<a><b x='&lt;'>&lt;</b></a>",
    "<a><b>&e;</b></a>",
    "<a>&e;</a>",
    "<a><b x='&e;'/></a>",
    "<a><b><![CDATA[&e;]]></b></a>",
]
ASKED = [
    "/a[b = 1]",
    "/a[b = 'E']",
    "/a[b/@x = 'D E']",
    "/a[b/@x = 'D']",
    "/a/b",
    "/a[b/@x = ' D  E ']",
    "//b[. = '<']",
]


@pytest.mark.parametrize("views", [["/a/b", "/a/b/@x", "//b"], ["/a"], ["/a/b[1]", "/a/b[1]/@x"]])
@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("doctype", DOCTYPES)
def test_whatever_is_declared_a_header_is_right_or_hides_it(doctype: str, body: str, views: list[str]) -> None:
    configuration, data = configure("v", views), (doctype + body).encode()
    (made,) = attach(data, configuration)

    for query in ASKED:
        matcher = HeaderMatcher(configuration)
        matcher.add(0, parse(query))
        found = matcher.answer(made)
        assert found is None or (found == [0]) == matches(data, query), query


def test_what_an_external_subset_declares_is_not_asked_for() -> None:
    data = b"<!DOCTYPE a SYSTEM 'a.dtd'><a><b>1</b></a>"

    assert entries(data, "/a/b") == (data.index(b"<b>"),)


def test_with_an_internal_subset_that_changes_something_all_is_hidden() -> None:
    assert entries(b"<!DOCTYPE a [<!ATTLIST b x CDATA 'D'>]><a><b/></a>", "/a/b", "/a/b/@x", "/a/c") == (
        HIDDEN,
        HIDDEN,
        ABSENT,
    )


@pytest.mark.parametrize("policy", ["keep", "drop"])
def test_references_to_what_is_declared_elsewhere_are_not_guessed(policy: Any) -> None:
    limits = Limits(undeclared_entities=policy)
    configuration = configure("v", ["/a/b", "/a/c"])
    (made,) = attach(b"<!DOCTYPE a SYSTEM 'a.dtd'><a><b>x&e;</b><c>y</c></a>", configuration, limits)
    matcher = HeaderMatcher(configuration)
    matcher.add(0, parse("/a[b = 'x']"))

    assert made.header is not None
    assert matcher.answer(made) is None


# -- namespaces


def test_namespaces_declared_inside_are_read_or_hidden() -> None:
    namespaces = {"p": "urn:p", "q": "urn:q"}
    inside = b"<a xmlns:p='urn:p'><b xmlns:p='urn:q'><p:c p:x='1'>2</p:c></b></a>"
    outside = b"<a xmlns:p='urn:q'><b><p:c p:x='1'>2</p:c></b></a>"
    configuration = configure("v", ["/a/b", "/a/b/p:c", "/a/b/q:c/@q:x"], namespaces=namespaces)

    told = [decode(made.header or b"") for made in attach([inside, outside], configuration)]

    assert told[0].entries == (inside.index(b"<b"), ABSENT, inside.index(b"p:x="))
    assert told[1].entries == (outside.index(b"<b"), ABSENT, outside.index(b"p:x="))
    assert [bool(each.flags & PLAIN) for each in told] == [False, True]


# -- which configuration, and none


def test_the_first_configuration_that_is_for_a_document_is_used() -> None:
    configurations = [
        configure("by-doctype", ["/*"], doctype="-//N//NEWS"),
        configure("by-name", ["/*"], doctype="memo"),
        configure("by-stream", ["/*"], stream="wire"),
        configure("by-root", ["/*"], root="{urn:n}news"),
    ]
    documents = [
        Document(b"<!DOCTYPE x PUBLIC '-//N//NEWS' 'n.dtd'><x/>", "a", "wire"),
        Document(b"<!DOCTYPE x SYSTEM '-//N//NEWS'><x/>", "b"),
        Document(b"<!DOCTYPE memo><x/>", "c"),
        Document(b"<x/>", "d", "wire"),
        Document(b"<p:news xmlns:p='urn:n'/>", "e", "other"),
        Document(b"<news/>", "f"),
    ]

    made = attach(documents, configurations)

    tags = [decode(each.header).tag if each.header is not None else None for each in made]
    assert tags == ["by-doctype/1", "by-doctype/1", "by-name/1", "by-stream/1", "by-root/1", None]


def test_what_cannot_be_read_has_no_header_and_the_others_theirs() -> None:
    old = Document(b"<a>", "broken", header=b"of before")
    documents = [
        Document(b"<a/>", "good"),
        old,
        Document("\ud800", "no text"),
        Document(b"", "empty"),
        Document("<a/>", "last"),
    ]

    made = attach(documents, configure("v", ["/a"]))

    assert [each.id for each in made] == [each.id for each in documents]
    assert [each.header is not None for each in made] == [True, False, False, False, True]


def test_a_document_keeps_all_but_its_header() -> None:
    before = Document(b"<a/>", "it", "wire", 5.0, b"of before")

    (made,) = attach(before, configure("v", ["/a"]))

    assert replace(made, header=b"of before") == before
    assert made.header not in (None, b"of before")


def test_documents_beyond_the_limits_have_no_header() -> None:
    assert attach(b"<a><b/></a>", configure("v", ["/a"]), Limits(max_depth=1))[0].header is None


def test_a_document_of_which_some_view_is_not_worked_out_has_no_header(monkeypatch: pytest.MonkeyPatch) -> None:
    """That there is no node would be an answer, and it is not known."""
    monkeypatch.setattr(effort, "_IN_ALL", 0.0)
    monkeypatch.setattr(effort, "_EACH", 1e-9)
    configuration = configure("v", ["/a/b[matches(., '(x|y)*z')]", "/a/c"])

    made = attach([b"<a><b>" + b"xy" * 5_000 + b"z</b></a>", b"<a><c>1</c></a>"], configuration)

    assert [each.header is not None for each in made] == [False, True]


@pytest.mark.timed
def test_a_batch_with_very_many_texts_and_namespaces_is_as_cheap_as_its_documents() -> None:
    data = b"<a xmlns:p='urn:p'>" + b"<p:b xmlns:q='urn:q'>x</p:b>" * 200 + b"<c>y</c></a>"
    producer = Producer(configure("v", ["/a/c/text()"]))
    alone, many = ([Document(data, str(at)) for at in range(number)] for number in (1, 300))
    producer.attach(alone)

    def seconds(documents: list[Document]) -> float:
        table = read(documents)
        start = process_time()
        producer.headers(table)
        return process_time() - start

    least = min(seconds(alone) for _ in range(10))
    assert min(seconds(many) for _ in range(3)) < 300 * least * 3


def test_very_many_views_of_very_small_documents_take_little_room_at_once() -> None:
    producer = Producer(configure("v", [f"/a/v{number}" for number in range(1_000)]))
    documents = [Document(b"<a><v7/></a>", str(number)) for number in range(3_000)]
    producer.attach(documents[:1])

    tracemalloc.start()
    try:
        made = producer.attach(documents)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert {each.header for each in made} == {producer.attach(documents[:1])[0].header}
    assert most < 20_000_000  # the entries of all of them, as nodes and as offsets, would be 36 MB


def test_without_views_a_header_still_says_whose_it_is() -> None:
    views = configure("v", [])

    (made,) = attach(b"<a/>", views)

    assert decode(made.header or b"") == Header("v/1", 4, check(b"<a/>", views.seed), 0, (), PLAIN | UTF8)


def test_a_producer_has_the_same_headers_for_documents_alone_and_together() -> None:
    chance = Random(5)
    producer = Producer([configure("v", [f"//{name}" for name in NAMES]), configure("w", ["//@x"], root="r")])
    documents = [Document(drawn_document(chance), str(number)) for number in range(30)]

    together = producer.attach(documents)

    assert together == [producer.attach([document])[0] for document in documents]


# -- by a narrow scan, or by nodes


def by_nodes(documents: list[Document], configurations: Any, limits: Limits | None = None) -> list[bytes | None]:
    """The headers of documents that are read as a node table."""
    found = Producer(configurations, limits).headers(read(documents, limits))
    return [found.get(id(document)) for document in documents]


def headers_of(documents: list[Document], configurations: Any, limits: Limits | None = None) -> list[bytes | None]:
    return [made.header for made in attach(documents, configurations, limits)]


MIXED = [
    Document(b"<a><b x='1'>t</b></a>", "plain"),
    Document(b"<!DOCTYPE a SYSTEM 'a.dtd'><a><b x='1'/></a>", "with a DTD"),
    Document("<a><b>漢字</b></a>", "text"),
    Document(b"<a><b></a>", "broken"),
    Document(b"<!DOCTYPE a [<!ENTITY e 'E'>]><a><b>&e;</b></a>", "with an entity"),
    Document("<?xml version='1.0' encoding='utf-16'?><a><!-- é --><b x='é'/></a>".encode("utf-16"), "utf-16"),
    Document("<?xml version='1.0' encoding='shift_jis'?><a><c>漢字</c><b x='1'/></a>".encode("shift_jis"), "shift_jis"),
    Document(b"\xef\xbb\xbf<a><b/></a>", "with a mark"),
    Document(b"<a xmlns:p='urn:p'><b xmlns:p='urn:q'/></a>", "with namespaces"),
    Document("\ud800", "no text"),
    Document(b"<a>" + b"<b><c/></b>" * 200 + b"</a>", "last"),
]


@pytest.mark.parametrize("views", [["/a/b", "//@x", "/a/b/text()"], ["/a/b"], ["//c", "/a"], []])
def test_documents_that_are_left_by_the_narrow_scan_have_their_headers_too(views: list[str]) -> None:
    configuration = configure("v", views)

    made = headers_of(MIXED, configuration)

    assert made == by_nodes(MIXED, configuration)
    assert [document.id for document, header in zip(MIXED, made, strict=True) if header is None] == [
        "broken",
        "no text",
    ]
    assert headers_of(MIXED[::-1], configuration) == made[::-1]


def test_a_document_that_is_there_twice_has_its_header_twice() -> None:
    configuration = configure("v", ["/a/b"])

    made = headers_of([*MIXED, *MIXED], configuration)

    assert made == 2 * headers_of(MIXED, configuration)


def test_limits_are_kept_by_the_narrow_scan() -> None:
    configuration, documents = configure("v", ["//b"]), [Document(f"<a>{'<b/>' * at}</a>", str(at)) for at in range(6)]
    limits = Limits(max_nodes=4)

    made = headers_of(documents, configuration, limits)

    assert made == by_nodes(documents, configuration, limits)
    assert [header is not None for header in made] == [True] * 4 + [False] * 2
    assert headers_of(documents, configuration, Limits(max_bytes=12)) == [*made[:2], *[None] * 4]


def test_several_configurations_share_a_narrow_scan() -> None:
    configurations = [
        configure("texts", ["//b/text()"], doctype="a"),
        configure("stream", ["//@x"], stream="wire"),
        configure("root", ["/a/b", "/a/c"], root="a"),
        configure("other", ["/*"]),
    ]
    documents = [replace(document, stream="wire" if at % 3 == 0 else "") for at, document in enumerate(MIXED)]
    documents += [Document(b"<r><b/></r>", "r"), Document(b"<r/>", "wired", "wire")]

    made = headers_of(documents, configurations)

    assert made == by_nodes(documents, configurations)
    tags = {decode(header).tag for header in made if header is not None}
    assert tags == {"texts/1", "stream/1", "root/1", "other/1"}


def test_with_a_view_that_is_no_path_all_is_read_as_nodes() -> None:
    configurations = [configure("paths", ["/a/b"], root="a"), configure("tests", ["/r/b[1]", "/r/b[2]"])]
    documents = [*MIXED, Document(b"<r><b/><b/></r>", "r")]

    made = headers_of(documents, configurations)

    assert made == by_nodes(documents, configurations)
    assert decode(made[-1] or b"").entries == (3, 7, ABSENT)


def test_where_an_automaton_would_be_too_large_the_nodes_tell_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    views = ["//a/*/*/b", "/r//b", "//@x", "/r/a"]
    chance, configurations = Random(7), [configure("w", ["//c"], root="a"), configure("v", views)]
    documents = [Document(drawn_document(chance), str(number)) for number in range(30)] + MIXED
    usual = headers_of(documents, configurations)
    producer, tried = Producer(configurations), []

    def refuse(*_: object) -> None:
        tried.append(1)
        raise TooManyStatesError

    monkeypatch.setattr(PathAutomaton, "_step", refuse)

    assert [made.header for made in producer.attach(documents)] == usual
    assert [producer.attach([document])[0].header for document in documents] == usual
    assert len(tried) == 2  # once for each configuration


def test_threads_share_a_producer() -> None:
    chance = Random(8)
    configuration = configure("v", [f"//{name}" for name in NAMES] + ["//@x", "/r/b/text()", "//c/@*"])
    batches = [[Document(drawn_document(chance), str(at)) for at in range(5)] for _ in range(60)]
    shared = Producer(configuration)

    with ThreadPoolExecutor(6) as pool:
        made = list(pool.map(lambda batch: [each.header for each in shared.attach(batch)], batches))

    assert made == [by_nodes(batch, configuration) for batch in batches]


def test_very_many_paths_and_attributes_of_one_document() -> None:
    attributes = " ".join(f"a{number}='{number}'" for number in range(900))
    many = [f"<n{number} x='1'>t<m/></n{number}>" for number in range(3_000)]
    deep = "<d>" * 500 + "<e/>" + "</d>" * 500
    data = f"<r {attributes}>{''.join(many)}<last {attributes} y='z'/>{deep}{''.join(many[:1_500])}</r>".encode()
    documents = [Document(b"<r/>", "before"), Document(data, "it"), Document(b"<r><last/></r>", "after")]
    views = ["/r/last/@y", "/r/@a899", "/r/n2999/m", "/r/n7", "//e", "/r/n2998/text()", "/r/n5/text()", "//last/@a500"]

    made = headers_of(documents, configure("v", views))

    assert made == by_nodes(documents, configure("v", views))
    assert [entry > 0 for entry in decode(made[1] or b"").entries] == [True, True, True, False, True, True, False, True]
