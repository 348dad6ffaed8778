"""What XPath queries are refused, by which name and at which place."""

import pytest

from weft.errors import QueryError, UnsupportedError
from weft.languages import parse

UNSUPPORTED = {
    "/": ("the document itself", 1),
    ".": ("the document itself", 1),
    "/a/parent::b": ("a path that leads nowhere", 1),
    "/a/..": ("the document itself", 1),
    "a[xs:date(b) = 'x']": ("a comparison like this", 16),
    "string(a)": ("the function string()", 1),
    "a[b eq 3]": ("eq between values of two types", 8),
    "a[xs:date('2026-01-01') lt b]": ("lt between values of two types", 28),
    "a[1 eq '1']": ("eq between values of two types", 8),
    "a[b eq ('x', 'y')]": ("eq with several values", 8),
    "a[date >= '2026-01-01']": (">= between numbers, one of them a date", 11),
    "a[' 10:00:00Z' < b]": ("< between numbers, one of them a date", 3),
    "a[string(b) < '2026-01-01T10:00:00']": ("< between numbers, one of them a date", 15),
    "a[7 idiv 2 = b]": ("idiv that does not come out even", 5),
    "a[b is c]": ("the operator is", 5),
    "a[b = 1 to 2.5]": ("a range that is not between whole numbers", 9),
    "a[b = (c, 1)]": ("a list of anything but constants", 9),
    "a[b = 1 to 100]": ("a comparison like this", 7),
    "a[some $x in b, $y in c satisfies $x = 1]": ("some or every with several variables", 15),
    "a[some $x in b satisfies $y = 1]": ("a variable other than $x in satisfies", 26),
    "a[$x = 1]": ("a variable in XPath", 3),
    "a/comment()": ("comment()", 3),
    "a[matches(b, '(')]": ("this regular expression", 14),
    r"a[matches(b, '\i+')]": ("this regular expression", 14),
    "a" + "[b" * 60 + "]" * 60: ("nesting deeper than 50", None),
}
WRONG = {
    "": ("expected a step, found the end of the query", 1, 1),
    "/a[": ("expected a path, a constant or a function, found the end of the query", 1, 4),
    "/a b": ("expected the end of the query, found 'b'", 1, 4),
    "/a[b": ("expected ']', found the end of the query", 1, 5),
    "/a[\n  b = ]": ("expected a path, a constant or a function, found ']'", 2, 7),
    "q:a": ("expected a declared prefix, found 'q'", 1, 1),
    "a[xs:date('2026-01-01')]": ("expected a condition, found a constant", 1, 3),
    "a[if (b) then xs:date('2026-01-01') else c]": ("expected a condition, found a constant", 1, 15),
    "a[some $x in @b satisfies $x/c]": ("expected the end of the path: no nodes lie below", 1, 29),
    "a[b = ('x', 'y']": ("expected ')', found ']'", 1, 16),
    "a['x]": ("a string that starts with ' does not end", 1, 3),
    "a/@b/c": ("expected the end of the path, found '/'", 1, 5),
    "a;b": ("expected a token of a query, found ';'", 1, 2),
    "a (: b (: c :)": ("a comment that starts with (: does not end", 1, 3),
}


@pytest.mark.parametrize("query", UNSUPPORTED)
def test_what_weft_does_not_have_is_refused_by_name_and_place(query: str) -> None:
    feature, column = UNSUPPORTED[query]

    with pytest.raises(UnsupportedError) as caught:
        parse(query)

    assert caught.value.feature.startswith(feature)
    assert column is None or caught.value.column == column


@pytest.mark.parametrize("query", WRONG)
def test_a_syntax_error_tells_place_expectation_and_finding(query: str) -> None:
    reason, line, column = WRONG[query]

    with pytest.raises(QueryError) as caught:
        parse(query)

    assert not isinstance(caught.value, UnsupportedError)
    assert caught.value.reason.startswith(reason)
    assert (caught.value.line, caught.value.column) == (line, column)


def test_a_date_that_is_compared_as_a_number_is_refused_with_the_way_to_write_it() -> None:
    with pytest.raises(UnsupportedError) as caught:
        parse("//a[date >= ' 2026-01-01']")

    assert caught.value.instead == 'write xs:date("2026-01-01")'


def test_the_caret_stands_under_the_place() -> None:
    with pytest.raises(QueryError) as caught:
        parse("/a[\n  b = ]")

    assert str(caught.value).splitlines()[1:] == ["    b = ]", "        ^"]


@pytest.mark.parametrize(
    ("query", "feature"),
    [
        ("for $a in //a return $a", "a FLWR expression in XPath"),
        ("(: c :) some $a in //a satisfies $a", "some … satisfies in XPath"),
        ("declare namespace p = 'u'; //p:a", "declare namespace in XPath"),
    ],
)
def test_xquery_that_is_told_to_be_xpath_is_refused_by_its_name(query: str, feature: str) -> None:
    with pytest.raises(UnsupportedError) as caught:
        parse(query, "xpath")

    assert (caught.value.feature, caught.value.instead) == (feature, 'say language="xquery"')
