"""The notation of the paper on view selection: what it means, and what is told where it cannot be read."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profiles import examples
from weft.documents.document import Document
from weft.errors import QueryError, UnsupportedError
from weft.languages.xpath import parse
from weft.views.nodes import select
from weft.views.notation import parse_query, to_xpath

FIGURE_1 = """<s1>
  <A>
    <a> Data 1 </a>
    <b> Data 2 </b>
    <c> Data 3 </c>
  </A>
  <A>
    <a> Data 7 </a>
  </A>
  <B>
    <a> Data 8 </a>
    <b> Data 9 </b>
  </B>
  <C>
    <a> Data 10 </a>
    <b> Data 11 </b>
    <c> Data 12 </c>
  </C>
</s1>"""
BAR = "\u0305"


def barred(text: str) -> str:
    return "".join(character + BAR for character in text)


def data(query: str) -> list[int]:
    """The numbers of the data that a query gives from figure 1."""
    rows = select("s1", [Document(FIGURE_1)], [parse_query(query)]).rows[0]
    return [int(found) for text in rows["fragment"].to_pylist() for found in re.findall(r"Data (\d+)", text)]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("//a", [1, 7, 8, 10]),
        ("/s1/A", [1, 2, 3, 7]),
        ("/*/A[b]/a", [1]),  # the paper prints `/*A[b]/a`, and says: a child of a root node
        ("/s1/A/{b,c}", [1, 7]),
        ("/s1//a ∪ //B/*", [1, 7, 8, 9, 10]),
        ("/s1/C/* − /s1/C/{a}", [10]),
        ("/s1/A/a", [1, 7]),  # the example of a compensation
        ("//a ∩ /s1/A/*", [1, 7]),
        ("/s1/A/* − (/s1/A/* − //a)", [1, 7]),  # the same without its sign
        ("/s1/A[\\overline{b}]", [7]),
        ("/s1/\\overline{\\{A,B\\}}/\\overline{\\{c\\}}", [10, 11]),
    ],
)
def test_the_papers_queries_give_the_papers_results(query: str, expected: list[int]) -> None:
    assert data(query) == expected


def test_the_complement_is_all_without_the_query() -> None:
    everything, query, rest = ("//*", "/s1/A", "//* − /s1/A")

    found = [
        select("s1", [Document(FIGURE_1)], [parse_query(each)]).rows[0]["offset"] for each in (everything, query, rest)
    ]

    assert set(found[2].to_pylist()) == set(found[0].to_pylist()) - set(found[1].to_pylist())
    assert len(found[2]) == len(found[0]) - 2


@pytest.mark.parametrize(
    ("written", "xpath"),
    [
        ("/s1/a/*", "/s1/a/*"),
        ("/s2/a/b[c]", "/s2/a/b[c]"),
        ("/s3/a/b ∪ /s3/a/c", "/s3/a/b | /s3/a/c"),
        ("/s3/a/b \\cup /s3/a/c", "/s3/a/b union /s3/a/c"),
        ("/s4/a/{b}", "/s4/a/*[not(self::b)]"),
        ("/s4/a/!{b}", "/s4/a/*[not(self::b)]"),
        ("/s4/a/¬{b}", "/s4/a/*[not(self::b)]"),
        ("/s4/a/" + barred("{b}"), "/s4/a/*[not(self::b)]"),
        ("/s4/a/\\{b\\}", "/s4/a/*[not(self::b)]"),
        ("/s5/a/\\overline{\\{b\\}}/c", "/s5/a/*[not(self::b)]/c"),
        ("//{a , b}[c]", "//*[not(self::a or self::b)][c]"),
        ("/s/b[\\overline{c/d}]", "/s/b[not(c/d)]"),
        ("/s/b\\overline{[c]}", "/s/b[not(c)]"),
        ("/s/b[" + barred("c//d") + "]", "/s/b[not(c//d)]"),
        ("/s/b" + barred("[c]"), "/s/b[not(c)]"),
        ("/s/b[" + barred("c[d]") + "]", "/s/b[not(c[d])]"),
        ("/s/b[c[" + barred("d") + "]]", "/s/b[c[not(d)]]"),
        ("/s/b[" + barred("{c}") + "/d]", "/s/b[*[not(self::c)]/d]"),
        ("/s/b[!c]", "/s/b[not(c)]"),
        ("/s/b[not c]", "/s/b[not(c)]"),
        ("/s/b[not c and d]", "/s/b[not(c) and d]"),
        ("/s/b[!c = 'x' or !(d and e)]", "/s/b[not(c = 'x') or not(d and e)]"),
        ("/s/b[not c[d or e]/f]", "/s/b[not(c[d or e]/f)]"),
        ("/s/b[!and]", "/s/b[not(and)]"),
        ("/s/a − /s/b ∪ /s/c", "(/s/a except /s/b) union /s/c"),
        ("/s/a ∪ /s/b − /s/c", "/s/a union (/s/b except /s/c)"),
        ("(/s/a ∪ /s/b) − /s/c", "(/s/a union /s/b) except /s/c"),
        ("/s/a minus /s/b", "/s/a except /s/b"),
        ("/s/*-/s/b", "/s/* except /s/b"),
        ("// * - //b", "//* except //b"),
        ("/s/minus/b minus /minus", "/s/minus/b except /minus"),
        ("/s/b[c ∪ d]", "/s/b[c | d]"),
        ("/s/b[c = '{x} ∪ !y']", "/s/b[c = '{x} ∪ !y']"),
    ],
)
def test_what_is_written_means_this_xpath(written: str, xpath: str) -> None:
    assert parse_query(written) == parse(xpath)
    assert parse(to_xpath(written)) == parse(xpath)


@pytest.mark.parametrize(
    "xpath",
    [
        "/s/b[not]",
        "/s/b[not and c]",
        "/s/b[not(c)]",
        "/s/not/minus[minus]",
        "//a-b | //c",
        "/s/b[c != -1][2]",
        "/s/b[count(c) >= 2]/@d",
        "/s/*:b/text()",
    ],
)
def test_standard_xpath_stays_as_it_is(xpath: str) -> None:
    assert to_xpath(xpath) == xpath
    assert parse_query(xpath) == parse(xpath)


def test_labels_in_braces_have_their_prefixes() -> None:
    found = parse_query("/p:s/{p:b}", {"p": "urn:x"})

    assert found == parse("/p:s/*[not(self::p:b)]", namespaces={"p": "urn:x"})


@pytest.mark.parametrize(
    ("written", "column", "reason"),
    [
        ("/s/b" + BAR, 4, "expected a bar over braces or over all of a predicate"),
        ("/s/b[c" + BAR + "d]", 6, "expected a bar over braces or over all of a predicate"),
        ("/s1/a-/s1/b", 6, "expected a space before '-', or a name that does not end in it"),
        ("/s/a{b}", 5, "expected '/' before braces"),
        ("/s/{}", 5, "expected a label, found '}'"),
        ("/s/{a", 6, "expected '}', found the end of the query"),
        ("/s/b[c", 7, "expected ']', found the end of the query"),
        ("/s/b[!]", 7, "expected what '!' negates"),
        ("/s/!b", 5, "expected braces or a predicate below the negation"),
        ("\\foo/a", 1, "expected a sign of the notation, found '\\\\foo'"),
        ("/s ∪ /t/[x]", 9, "expected a step, found '['"),
        ("/s/{b} ∪ /t/{c}/)", 17, "expected a step, found ')'"),
        ("/s/{b} ∪", 9, "expected a step, found the end of the query"),
        ("/*A[b]/a", 3, "expected the end of the query, found 'A'"),
    ],
)
def test_an_error_tells_its_place_in_what_was_written(written: str, column: int, reason: str) -> None:
    with pytest.raises(QueryError) as raised:
        parse_query(written)

    assert (raised.value.column, raised.value.reason, raised.value.query) == (column, reason, written)


def test_what_is_not_supported_is_told_as_such_at_its_place() -> None:
    with pytest.raises(UnsupportedError) as raised:
        parse_query("/s/{b}/c[foo(x)]")

    assert raised.value.column == 10
    assert raised.value.feature == "the function foo()"


@pytest.mark.slow
@pytest.mark.parametrize("opening", ["(", "/a[", "/a[!", "/a[not ", "/a[\\overline{"])
def test_what_is_nested_too_deep_is_refused(opening: str) -> None:
    with pytest.raises(UnsupportedError, match="nesting deeper than"):
        parse_query(opening * 10_000)


@given(st.text("/s*[]{}(),ab!¬∪∩−-\u0305\\ '\"@.=1:|", max_size=14))
@examples(500)
def test_any_text_is_a_query_or_a_query_error_with_its_place(text: str) -> None:
    found: QueryError | None = None
    try:
        parse_query(text)
    except QueryError as error:
        found = error

    assert found is None or (found.query == text and 0 <= found.at <= len(text))
