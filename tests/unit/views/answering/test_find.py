"""Which views answer a query, and how: the paper's examples, and one for each kind of rewriting."""

from __future__ import annotations

import pytest

from weft.documents.document import Document
from weft.languages.xpath import parse
from weft.views.answering import StoredView, ViewIndex, apply, find_rewriting
from weft.views.nodes import select

#: Figure 1.
FIGURE = Document(
    "<s1><A><a> Data 1 </a><b> Data 2 </b><c> Data 3 </c></A><A><a> Data 7 </a></A>"
    "<B><a> Data 8 </a><b> Data 9 </b></B><C><a> Data 10 </a><b> Data 11 </b><c> Data 12 </c></C></s1>",
    id="figure 1",
)


def shown(query: str, **views: str) -> str | None:
    """How a query is answered from views, after it was; the answer must be the source's."""
    stored = [StoredView(name, parse(text)) for name, text in views.items()]
    rewriting = find_rewriting(parse(query), stored)
    if rewriting is None:
        return None
    rows = select("s1", [FIGURE], [view.selection for view in stored]).rows
    answer = apply(rewriting, dict(zip(views, rows, strict=True)))
    assert answer.equals(select("s1", [FIGURE], [parse(query)]).rows[0])
    return " ".join(rewriting.show().split())


def test_the_compensation_of_the_papers_example_is_a() -> None:
    assert shown("/s1/A/a", v="/s1/A") == "compensation a view v"


@pytest.mark.parametrize(
    ("query", "values"),
    [
        ("//a", [" Data 1 ", " Data 7 ", " Data 8 ", " Data 10 "]),
        ("/*/A[b]/a", [" Data 1 "]),
        ("/s1/A/*[not(self::b or self::c)]", [" Data 1 ", " Data 7 "]),
        ("/s1//a | //B/*", [" Data 1 ", " Data 7 ", " Data 8 ", " Data 9 ", " Data 10 "]),
        ("/s1/C/* except /s1/C/*[not(self::a)]", [" Data 10 "]),
    ],
)
def test_the_papers_queries_are_answered_from_a_view_of_all_elements(query: str, values: list[str]) -> None:
    everything = StoredView("all", parse("//*"))
    rewriting = find_rewriting(parse(query), [everything])
    assert rewriting is not None

    answer = apply(rewriting, {"all": select("s1", [FIGURE], [everything.selection]).rows[0]})

    assert answer["value"].to_pylist() == values


@pytest.mark.parametrize(
    ("query", "views", "expected"),
    [
        ("/s1/A[b]/a", {"v": "/s1/A[b]/a"}, "view v"),
        ("/s1/A[b]/a", {"v": "/s1/A"}, "compensation .[b]/a view v"),
        ("/s1/A[b]/a", {"v": "//*"}, "compensation .[b]/a where the path is /s1/A view v"),
        ("/s1/A[b]/a", {"v": "/s1/A[b]/*"}, "compensation . where the path is /s1/A/a view v"),
        ("/s1/A/a[2]", {"v": "/s1/A"}, "compensation a[position() = 2] view v"),
        ("/s1/A[2]/a", {"v": "/s1/A[2]"}, "compensation a view v"),
        ("//a/text()[. = ' Data 7 ']", {"v": "//a/text()"}, 'compensation .[. = " Data 7 "] view v'),
        ("/s1/A/*", {"v": "/s1/A/a", "w": "/s1/A/*[not(self::a)]"}, "union view v view w"),
        ("/s1/A/a | /s1/B", {"v": "/s1/A", "w": "/s1/B"}, "union compensation a view v view w"),
        ("/s1/*[b][c]/a", {"v": "/s1/*[b]/a", "w": "/s1/*[c]/a"}, "intersect view v view w"),
        ("/s1/*[b][not(c)]/a", {"v": "/s1/*[b]/a", "w": "/s1/*[c]/a"}, "except view v view w"),
        ("/s1/A[b] intersect /s1/A[c]", {"v": "/s1/A[b][c]"}, "view v"),
    ],
)
def test_a_query_is_answered(query: str, views: dict[str, str], expected: str) -> None:
    assert shown(query, **views) == expected


@pytest.mark.parametrize(
    ("query", "views"),
    [
        ("/s1/A[b]/a", {"v": "/s1/A/a"}),  # what else is in A is not in its rows
        ("/s1/A[2]", {"v": "/s1/A"}),  # nor which of them is the second
        ("/s1/A", {"v": "/s1/A[b]"}),
        ("/*/A", {"v": "/s1/A"}),
        ("/s1/A/*", {"v": "/s1/A/a", "w": "/s1/A/b"}),
        ("//a", {}),
    ],
)
def test_a_query_is_not_answered(query: str, views: dict[str, str]) -> None:
    assert shown(query, **views) is None


def test_an_index_is_the_views_in_their_order() -> None:
    views = [StoredView(str(at), parse(f"/s1/a{at}")) for at in range(5)]
    index = ViewIndex(views)

    assert list(index) == views
    found = find_rewriting(parse("/s1/a3/b"), index)
    assert found is not None
    assert found.views == ("3",)
