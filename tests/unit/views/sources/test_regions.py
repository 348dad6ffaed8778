"""Documents in, regions out: expat tells where the root's children are, lxml what is well-formed."""

from itertools import pairwise
from xml.parsers import expat

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from profiles import examples
from weft.views.sources.regions import Region, Regions, regions_of


def children_of(data: bytes) -> list[int]:
    """Where the root's children begin, as expat tells."""
    found: list[int] = []
    depth = 0

    def start(_name: str, _attributes: dict[str, str]) -> None:
        nonlocal depth
        if depth == 1:
            found.append(parser.CurrentByteIndex)
        depth += 1

    def end(_name: str) -> None:
        nonlocal depth
        depth -= 1

    parser = expat.ParserCreate()
    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.Parse(data, True)
    return found


def cut(data: bytes) -> Regions:
    regions = regions_of(data)
    assert regions is not None
    return regions


def bytes_of(data: bytes, region: Region) -> bytes:
    return data[region.offset : region.offset + region.length]


def check(data: bytes) -> None:
    regions = cut(data)
    ranges = [regions.head, *regions.body, regions.tail]
    assert b"".join(bytes_of(data, each) for each in ranges) == data
    assert all(one.offset + one.length == other.offset for one, other in pairwise(ranges))
    children = children_of(data)
    assert {each.offset for each in regions.body} <= set(children)
    assert children[:1] == [each.offset for each in regions.body[:1]]
    head, tail = bytes_of(data, regions.head), bytes_of(data, regions.tail)
    for region in regions.body:
        etree.fromstring(head + bytes_of(data, region) + tail)


def shop(items: list[str]) -> bytes:
    return ("<?xml version='1.0'?>\n<shop>" + "".join(items) + "</shop>\n").encode()


def item(number: int, words: int = 30) -> str:
    return f'<item id="{number}"><name>Name {number * 7919}</name><b/>{"word " * words}</item>\n'


texts = st.sampled_from(["", " ", "text", "&lt;", "é", ">", "a ]] b", "x" * 3000])
others = st.sampled_from(["<!-- <a> > -->", "<![CDATA[<a>]]>", "<?go <a> ?>", "<e/>", "<e a='/'/>", "<e a='x>y/>'/>"])
elements = st.recursive(
    texts | others,
    lambda inner: st.lists(inner, max_size=6).map(lambda parts: f'<c:k q="1">{"".join(parts)}</c:k>'),
    max_leaves=25,
)


@examples(200)
@given(st.lists(elements, max_size=40), st.sampled_from(["", "\ufeff", "<?xml version='1.0'?>", "<!-- <r> -->\n<?p?>"]))
def test_regions_hold_whole_children_and_leave_nothing_out(parts: list[str], prolog: str) -> None:
    check(f'{prolog}<r xmlns:c="u">{"".join(parts)}</r><!-- end -->'.encode())


def test_regions_have_about_16_kilobytes() -> None:
    data = shop([item(number) for number in range(10_000)])

    check(data)

    regions = cut(data).body
    assert 8 << 10 < len(data) / len(regions) < 32 << 10
    assert all(region.length <= (64 << 10) + 300 for region in regions)


def test_a_change_changes_the_regions_around_it_alone() -> None:
    items = [item(number) for number in range(5_000)]
    before = {region.digest for region in cut(shop(items)).body}
    items[500] = item(9_999)
    items.insert(2_000, item(10_000, 50))
    del items[4_000]

    after = cut(shop(items)).body

    new = [region for region in after if region.digest not in before]
    assert 3 <= len(new) <= 9
    assert len(after) > 40


def test_a_root_without_children_has_a_head_and_a_tail() -> None:
    regions = cut(b"<a>text</a> ")

    assert (regions.head.length, regions.body, regions.tail.length) == (7, (), 5)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"text",
        b"<",
        b"<a",
        b"<a/>",
        b"<a><b></a>",
        b"<a></a><b></b>",
        b"</a><a>",
        b"<a><!-- </a>",
        b'<!DOCTYPE a [<!ENTITY e "x">]><a><b>&e;</b></a>',
        "<a><b/></a>".encode("utf-16"),
        "<?xml version='1.0' encoding='iso-8859-1'?><a>é</a>".encode("latin-1"),
        b"<?xml version='1.0' encoding='no-such'?><a></a>",
    ],
)
def test_what_cannot_be_cut_has_no_regions(data: bytes) -> None:
    assert regions_of(data) is None


@examples(300)
@given(st.lists(st.sampled_from(["<a>", "</a>", "<b/>", "<!--", "-->", "<", ">", "'", '"', "/", "x", "<![CDATA["])))
def test_broken_documents_have_no_regions_or_some_that_leave_nothing_out(parts: list[str]) -> None:
    data = "".join(parts).encode()

    regions = regions_of(data)

    if regions is not None:
        assert b"".join(bytes_of(data, each) for each in [regions.head, *regions.body, regions.tail]) == data
