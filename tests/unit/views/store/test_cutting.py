"""Documents are cut where that is worth it and sound, and told apart by their regions."""

from __future__ import annotations

import pytest

from weft.documents.build import read
from weft.documents.document import Document, Limits
from weft.languages.xpath import parse
from weft.views.store.cutting import cut, root_of

ITEMS = "".join(f"<a x='1'>{number}<b/>{'text ' * 50}</a><!-- c -->t" for number in range(300))
LARGE = f"<s>{ITEMS}</s>"
LOCAL = (parse("/s/a"),)


@pytest.mark.parametrize(
    ("data", "query", "limits", "is_cut"),
    [
        (LARGE, "/s/a", Limits(), True),
        (LARGE.encode("utf-16"), "/s/a", Limits(), False),
        ("<s><a/></s>", "/s/a", Limits(), False),
        (f"<!DOCTYPE s [<!ENTITY e 'x'>]>{LARGE}", "/s/a", Limits(), False),
        (LARGE, "/s/a[1]", Limits(), False),
        (LARGE.replace("s>", "a>"), "//a", Limits(), False),
        (LARGE, "/s/a", Limits(max_bytes=10_000), False),
        (LARGE, "/s/a", Limits(max_nodes=1_000), False),
        (LARGE.replace("</s>", "<a></s>"), "/s/a", Limits(), False),
    ],
)
def test_a_document_is_cut_if_it_can_be_searched_by_regions(
    data: str | bytes, query: str, limits: Limits, is_cut: bool
) -> None:
    found = cut(Document(data, id="d"), "token", (parse(query),), limits)

    assert (found.entry.head is not None) == is_cut
    assert (found.digest.size > 10) == is_cut


def test_what_may_break_the_limit_of_nodes_is_not_cut() -> None:
    nodes = read([Document(LARGE, id="d")]).nodes

    at_limit = cut(Document(LARGE, id="d"), None, LOCAL, Limits(max_nodes=nodes - 1))

    assert at_limit.entry.head is None


@pytest.mark.parametrize("text", [LARGE, LARGE.replace("<b/>", "<b></b><b y='>' z=\"'\"/>"), f"<s> {ITEMS}<a/>\n</s>"])
def test_a_document_is_not_cut_only_if_it_may_have_too_many_nodes(text: str) -> None:
    nodes = read([Document(text, id="d")]).nodes
    markup = text.count("<")

    limits = [Limits(max_nodes=most) for most in (nodes - 1, nodes + markup)]

    assert [cut(Document(text, id="d"), None, LOCAL, each).entry.head is None for each in limits] == [True, False]


def test_an_excerpt_has_the_head_some_regions_and_the_tail() -> None:
    found = cut(Document(LARGE, id="d"), None, LOCAL, Limits())
    first, second, third = found.bounds[1:4].tolist()

    assert found.excerpt([1, 2]) == LARGE[:3].encode() + LARGE[first:third].encode() + b"</s>"
    assert found.excerpt(range(found.digest.size)) == LARGE.encode()
    assert first < second


@pytest.mark.parametrize(
    ("head", "root"),
    [
        (b"<s>", "s"),
        (b"<?xml version='1.0'?><!-- <a> --><p:s xmlns:p='u' x='>'> text", "{u}s"),
        (b"<s xmlns='d'>", "{d}s"),
        (b"<p:s>", None),
        (b"<s x=>", None),
        (b"", None),
    ],
)
def test_the_root_is_read_from_the_head(head: bytes, root: str | None) -> None:
    assert root_of(head) == root
