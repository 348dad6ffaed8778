"""The common forms of XPath are read without the parser; what breaks a limit or cannot be read is left to it."""

import pytest

from weft.documents.document import Limits
from weft.errors import QueryError, UnsupportedError, WeftError
from weft.languages import parse
from weft.languages.xpath import common_forms, parse_common, parser
from weft.languages.xpath.names import Names
from weft.workload import generate_queries, shipped


@pytest.mark.parametrize("tests", [0, 1])
def test_all_queries_of_the_news_are_in_a_common_form(tests: int) -> None:
    queries = generate_queries(shipped("news"), number=2_000, predicates=tests, nested=tests, seed=3)

    assert [query for query in queries if parse_common(query, None, False, 50) is None] == []


_PATHS = [".", "a", "./a", ".//a", "a//b", "a/@b", ".//@b", "text()", "./text()", "a//text()", "*", ".//*"]


@pytest.mark.parametrize("path", [*_PATHS, "@*/.", "p:a", "@a/b", "text()/a", "a/@b//c"])
@pytest.mark.parametrize("form", ["[{}]", '[{} = "1"]', '[contains({}, "1")]'])
def test_a_predicate_in_a_common_form_means_what_the_parser_says(path: str, form: str) -> None:
    query = f"/a{form.format(path)}/b"
    try:
        expected = parser.parse(query)
    except WeftError:
        expected = None

    found = parse_common(query, None, False, 50)

    assert found in (None, expected)
    assert (found is not None) == (path in _PATHS)


def test_steps_are_forgotten_when_they_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(common_forms, "_REMEMBERED", 3)
    forms = common_forms.CommonForms(Names())

    plans = [forms.parse(f"/a{at}[b{at} = {at}]", 50) for at in range(20)]

    assert plans == [parse(f"/a{at}[b{at} = {at}]") for at in range(20)]
    assert len(forms._steps) <= 3


@pytest.mark.parametrize(
    ("query", "limits", "told"),
    [
        ("/a/b/c", Limits(max_query_states=2), "3 steps"),
        ("/a/b/c", Limits(max_query_bytes=5), "6 bytes"),
        ("/a[b][c]/d[e]", Limits(max_query_nesting=1), "nesting deeper than 1"),
    ],
)
def test_a_query_in_a_common_form_keeps_to_the_limits(query: str, limits: Limits, told: str) -> None:
    with pytest.raises((QueryError, UnsupportedError), match=told):
        parse(query, limits=limits)


def test_an_error_in_a_piece_tells_its_place_in_the_query() -> None:
    with pytest.raises(QueryError) as caught:
        parse("/a/@b/c[d = 1]")

    assert caught.value.at == 5


def test_an_arrow_is_xscl_where_nobody_says_that_it_is_not() -> None:
    assert parse_common("/a[b->1]", None, False, 50) is not None
    assert parse("/a[b->1]", "xpath") == parse("/a[b- > 1]", "xpath")
    with pytest.raises(QueryError, match="XSCL"):
        parse("/a[b->1]")
