"""Selections that are said to be local select in each child of the root what they select in it alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profiles import examples
from weft.documents.document import Document
from weft.languages.xpath import parse
from weft.views.nodes import select
from weft.views.store.locality import is_local

LOCAL = (
    "/s/a",
    "//a",
    "/s/a/b[2]",
    "//a/text()",
    "//a/@x",
    "/s[@x='1']/a",
    "/*/a",
    "/s/a | //b",
    "/s/a[. = 't']",
    "//a[b[1]]",
    "/s/a[count(b) = 1]",
    "/s/*[not(b)]",
    "//a[starts-with(b, 't')]",
    "/s/b except //a",
    "/s[self::s]/a",
    "//b[@x]",
)
NOT_LOCAL = (
    "/s",
    "//*",
    "//s",
    "//a[2]",
    "/s/a[last()]",
    "/s/@x",
    "/s/text()",
    "//text()",
    "//@x",
    "/s[a]/b",
    "/s[not(a)]/b",
    "/s[count(a) = 2]/b",
    "/s[. = 't']/a",
    "//*[b]/a",
    "/s/a | /s",
    "//b[1]",
    "/s[a/b = 't']/b",
    "/*[starts-with(a, 't')]/b",
)


@st.composite
def trees(draw: st.DrawFn, depth: int = 2) -> str:
    name = draw(st.sampled_from(("a", "b", "s")))
    inside = draw(st.lists(trees(depth - 1) | st.just("t"), max_size=3)) if depth else []
    attribute = draw(st.sampled_from(("", ' x="1"')))
    return f"<{name}{attribute}>{''.join(inside)}</{name}>"


@pytest.mark.parametrize("query", LOCAL)
def test_these_are_local(query: str) -> None:
    assert is_local(parse(query), "s")


@pytest.mark.parametrize("query", NOT_LOCAL)
def test_these_are_not(query: str) -> None:
    assert not is_local(parse(query), "s")


@given(st.lists(trees(), max_size=6), st.sampled_from(("<s>", '<s x="1">')))
@examples(100)
def test_what_is_local_is_found_child_by_child(children: list[str], root: str) -> None:
    local = [query for query in LOCAL + NOT_LOCAL if is_local(parse(query), "s")]
    selections = [parse(query) for query in local]
    documents = [Document(f"{root}{child}</s>", id=str(at)) for at, child in enumerate(children)]
    alone = select("s", documents, selections).rows

    together = select("s", [Document(f"{root}{''.join(children)}</s>", id="d")], selections).rows

    assert [each["fragment"].to_pylist() for each in together] == [each["fragment"].to_pylist() for each in alone]


@pytest.mark.parametrize("query", ["//a", "//*[not(self::b)]", "//a/b"])
def test_what_may_be_the_root_is_not_local(query: str) -> None:
    assert is_local(parse(query), "a") == (query == "//a/b")
