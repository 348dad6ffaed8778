"""Whatever is known from a header is what parsing the document would tell: documents, views and queries are drawn."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from hypothesis import event, given
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from flwr_strategies import queries as flwr_queries
from oracle import Oracle
from profiles import examples
from strategies import Query, Vocabulary, absolute_paths, documents, namespaced_documents, plain
from weft.documents.build import read
from weft.documents.document import Document
from weft.documents.kind import Kind
from weft.engine import Engine
from weft.headers.asked import asked
from weft.headers.configuration import Configuration, View
from weft.headers.expressions import Expression, pattern_of
from weft.headers.header import HeaderError, decode
from weft.headers.matcher import HeaderMatcher
from weft.headers.producer import attach
from weft.languages import Plan
from weft.languages import parse as parse_any
from weft.languages.xpath import parse
from weft.plans.plan import Link, Rank
from weft.plans.xscl import Xscl

#: Codecs, and what the document declares; without a declaration a byte order mark says it.
ENCODINGS = (
    *(("utf-8", ""), ("utf-8", ""), ("utf-8", "utf-8"), ("utf-8-sig", ""), ("utf-16", "utf-16"), ("utf-16", "")),
    *(("utf-16-le", "utf-16"), ("utf-16-be", "utf-16"), ("iso-8859-1", "iso-8859-1"), ("windows-1252", "windows-1252")),
    *(("shift_jis", "shift_jis"), ("iso-2022-jp", "iso-2022-jp"), ("gb18030", "gb18030"), ("ascii", "us-ascii")),
)


@st.composite
def configurations(draw: DrawFn, plans: list[Plan]) -> Configuration:
    """Views that queries ask for, some on what is around them, some by position, some that nobody asks for."""
    expressions: dict[Expression, None] = {}
    wanted = [each for plan in plans for each in asked(plan)]
    for expression in draw(st.lists(st.sampled_from(wanted), max_size=6)) if wanted else []:
        kind = draw(st.integers(0, 5))
        if kind == 0 and len(expression) > 1:
            expressions[expression[: draw(st.integers(1, len(expression) - 1))]] = None
        elif kind == 1 and _can_rank(expression):
            place = draw(st.sampled_from(_can_rank(expression)))
            for number in range(1, draw(st.integers(1, 3)) + 1):
                link = Link(expression[place].path, Rank(None, "=", float(number)))
                expressions[(*expression[:place], link, *expression[place + 1 :])] = None
        else:
            expressions[expression] = None
    if draw(st.booleans()):
        expressions[draw(st.sampled_from(OTHERS))] = None
    views = tuple(View(f"view {at}", pattern_of(each)) for at, each in enumerate(expressions))
    return Configuration("drawn", 1, views)


def _can_rank(expression: Expression) -> list[int]:
    return [
        place
        for place, link in enumerate(expression)
        if place and link.test is None and not link.path[0].deep and link.path[0].kind is Kind.ELEMENT
    ]


OTHERS = [asked(parse(text))[0] for text in ("/a/b", "//c", "//a/@x", "/a/b/text()", "/a/b[1]/c", "//b/a")]


@st.composite
def cases(draw: DrawFn) -> tuple[bytes, list[Query], Configuration]:
    queries = draw(st.lists(absolute_paths(), min_size=1, max_size=4))
    return draw(documents()), queries, draw(configurations([parse(query.weft) for query in queries]))


def encoded(data: bytes, encoding: tuple[str, str]) -> bytes:
    codec, declared = encoding
    head = f"<?xml version='1.0' encoding='{declared}'?>" if declared else ""
    return (head + data.decode()).encode(codec, "xmlcharrefreplace")


def matcher_of(configuration: Configuration, plans: list[Plan]) -> HeaderMatcher:
    matcher = HeaderMatcher(configuration)
    for number, plan in enumerate(plans):
        matcher.add(number, plan)
    return matcher


def answer(configuration: Configuration, plans: list[Plan], document: Document) -> list[int] | None:
    """What a header tells: the first is read field by field, the second at a glance where it is plain."""
    matcher = matcher_of(configuration, plans)
    first = matcher.answer(document)
    assert matcher.answer(document) == first
    return first


def parsed(document: Document, plans: list[Plan]) -> list[int]:
    """The queries that match a document that is parsed."""
    engine = Engine()
    for number, plan in enumerate(plans):
        assert not isinstance(plan, Xscl)
        engine.add(number, plan)
    found: list[int] = sorted(engine.match(read([document])).subscriptions()[0].tolist())  # in no order
    return found


@examples(200)
@given(cases(), st.sampled_from(ENCODINGS))
def test_what_a_header_tells_is_what_parsing_tells(
    case: tuple[bytes, list[Query], Configuration], encoding: tuple[str, str]
) -> None:
    data, queries, configuration = case
    document = attach(encoded(data, encoding), configuration)[0]
    expected = [bool(Oracle(data).nodes(query.lxml)) for query in queries]

    for query, is_match in zip(queries, expected, strict=True):
        found = answer(configuration, [parse(query.weft)], document)

        event(f"{'match' if is_match else 'no match'}, {'known' if found is not None else 'unknown'}")
        assert found in (None, [0] if is_match else []), (query.weft, document)
    assert document.header is not None


@examples(200)
@given(cases())
def test_several_queries_are_told_together_what_they_are_told_alone(
    case: tuple[bytes, list[Query], Configuration],
) -> None:
    data, queries, configuration = case
    document = attach(data, configuration)[0]
    plans: list[Plan] = [parse(query.weft) for query in queries]
    alone = [answer(configuration, [plan], document) for plan in plans]

    together = answer(configuration, plans, document)

    event("known" if together is not None else "unknown")
    assert (together is None) == (None in alone)
    assert together is None or together == [number for number, found in enumerate(alone) if found]


@examples(200)
@given(cases(), st.randoms(use_true_random=False))
def test_a_damaged_or_foreign_header_changes_no_answer(
    case: tuple[bytes, list[Query], Configuration], chance: Random
) -> None:
    data, queries, configuration = case
    document, other = attach([data, data + b"<!-- other -->"], configuration)
    assert document.header is not None
    matcher = matcher_of(configuration, [parse(query.weft) for query in queries])
    matcher.answer(document)  # so that the next ones are read at a glance, if they can
    changed = bytearray(document.header)
    at = chance.randrange(len(changed))
    changed[at : at + chance.randrange(3)] = chance.randbytes(chance.randrange(3))

    assert matcher.answer(replace(document, header=other.header)) is None
    for header in (bytes(changed), document.header[:at]):
        if header != document.header:
            found = matcher.answer(replace(document, header=header))
            assert found is None
            assert not is_readable(header)


def is_readable(header: bytes) -> bool:
    try:
        decode(header)
    except HeaderError:
        return False
    return True


NAMESPACES = {"p": "urn:p", "other": "urn:q"}
NAMESPACED = Vocabulary(
    elements=plain("a", "p:a", "p:a", "other:a", "p:b", "*:a", "*:b", "p:*", "*", "*[not(self::p:a)]"),
    attributes=plain("@x", "@p:x", "@other:x", "@p:*", "@*", "@*:x", "@xml:lang"),
    named=plain("self::p:a", "self::p:*", "self::*:a", "not(self::a)"),
)


@st.composite
def namespaced_cases(draw: DrawFn) -> tuple[bytes, list[Plan], Configuration]:
    queries = draw(st.lists(absolute_paths(NAMESPACED), min_size=1, max_size=4))
    plans: list[Plan] = [parse(query.weft, NAMESPACES) for query in queries]
    return draw(namespaced_documents()), plans, draw(configurations(plans))


@examples(150)
@given(namespaced_cases(), st.sampled_from(ENCODINGS))
def test_names_in_namespaces_are_told_as_parsing_tells_them(
    case: tuple[bytes, list[Plan], Configuration], encoding: tuple[str, str]
) -> None:
    data, plans, configuration = case
    document = attach(encoded(data, encoding), configuration)[0]
    expected = parsed(document, plans)

    for number, plan in enumerate(plans):
        found = answer(configuration, [plan], document)

        event("known" if found is not None else "unknown")
        assert found in (None, [0] if number in expected else [])
    assert answer(configuration, plans, document) in (None, expected)


@st.composite
def flwr_cases(draw: DrawFn) -> tuple[bytes, list[Plan], Configuration]:
    texts = draw(st.lists(flwr_queries(), min_size=1, max_size=3))
    plans = [parse_any(text) for text in texts]
    return draw(documents()), plans, draw(configurations(plans))


@examples(200)
@given(flwr_cases())
def test_flwr_queries_are_told_what_parsing_tells(case: tuple[bytes, list[Plan], Configuration]) -> None:
    data, plans, configuration = case
    document = attach(data, configuration)[0]
    expected = parsed(document, plans)

    for number, plan in enumerate(plans):
        found = answer(configuration, [plan], document)

        event(f"{'match' if number in expected else 'no match'}, {'known' if found is not None else 'unknown'}")
        assert found in (None, [0] if number in expected else [])
    assert answer(configuration, plans, document) in (None, expected)
