"""What XPath queries are refused, by which name and at which place."""

import pytest

from weft.errors import QueryError, UnsupportedError
from weft.languages import parse

UNSUPPORTED = {
    "/": ("the document itself", 1),
    ".": ("the document itself", 1),
    "a/..": ("the parent step ..", 3),
    "a[//b]": ("an absolute path in a predicate", 3),
    "a[b = c]": ("a comparison of two paths", 7),
    "a[1 = 1]": ("a comparison like this", 7),
    "string(a)": ("the function string()", 1),
    "a[string-length(b) > 3]": ("the function string-length()", 3),
    "a[b eq 3]": ("the operator eq", 5),
    "a[b + 1 = 2]": ("arithmetic", 5),
    "following::a": ("the axis following::", 1),
    "a/comment()": ("comment()", 3),
    "a/node()": ("node()", 3),
    "(a | b)/c": ("a step or predicate behind parentheses", 8),
    "a[matches(b, '(')]": ("this regular expression", 14),
    r"a[matches(b, '\i+')]": ("this regular expression", 14),
    "a[@x[1]]": ("a position other than among children", 6),
    "a/descendant::b[2]": ("a position other than among children", 17),
    "a[b except c]": ("except in a predicate", 5),
    "a[count(b | c) = 2]": ("a union in count()", 3),
    "a//.": ("// before a step that stays", 5),
    "a[position() = 'x']": ("a position that is not a number", 3),
    "a" + "[b" * 60 + "]" * 60: ("nesting deeper than 50", None),
}
WRONG = {
    "": ("expected a step, found the end of the query", 1, 1),
    "/a[": ("expected a path, a constant or a function, found the end of the query", 1, 4),
    "/a b": ("expected the end of the query, found 'b'", 1, 4),
    "/a[b": ("expected ']', found the end of the query", 1, 5),
    "/a[\n  b = ]": ("expected a path, a constant or a function, found ']'", 2, 7),
    "q:a": ("expected a declared prefix, found 'q'", 1, 1),
    "a['x']": ("expected a condition, found a constant", 1, 3),
    "a['x]": ("a string that starts with ' does not end", 1, 3),
    "a/@b/c": ("expected the end of the path, found '/'", 1, 5),
    "a[contains(b, 3)]": ("expected a string constant, found '3'", 1, 15),
    "a;b": ("expected a token of a query, found ';'", 1, 2),
    "a[-b]": ("expected a number after -, found 'b'", 1, 4),
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


def test_the_caret_stands_under_the_place() -> None:
    with pytest.raises(QueryError) as caught:
        parse("/a[\n  b = ]")

    assert str(caught.value).splitlines()[1:] == ["    b = ]", "        ^"]
