"""What a source is asked for when some parts of a query are stored: all that is missing, and nothing else if it can."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, combinations
from pathlib import Path
from typing import Any

import pytest
from lxml import etree

from query_servers import choosing, queries, server_over
from weft.documents.document import Document
from weft.languages.xpath import parse
from weft.plans.plan import Selection
from weft.plans.write import write_xpath
from weft.views.missing import Remainder, remainder_of
from weft.views.nodes import select
from weft.views.partly import PartlyStored
from weft.views.parts import Signature
from weft.views.selection.costs import LOCAL_BYTE_SECONDS
from weft.views.selection.marks import are_apart
from weft.views.selection.minimal import PartPiece
from weft.views.sources.rates import Rate, Rates
from weft.views.sources.source import size_of
from weft.views.store.manifest import ViewEntry, read_manifest, write_manifest

#: No two nodes have the same path and text.
DOCUMENT = "<s><a>1<a x='10'>2</a></a><c><a>3</a><d><a>5<a>6</a></a></d></c><b><a>4</a></b><a>7</a></s>"
#: By name a view, and what lxml is asked for, without what it is asked for behind the dash.
VIEWS = {
    "deep": ("//a", "//a"),
    "top": ("/s/a", "/s/a"),
    "values": ("//a/text()", "//a/text()"),
    "either": ("/s/a | /s/b", "/s/a | /s/b"),
    "first": ("/s/*[a] except /s/c", "/s/*[a][not(self::c)]"),
    "attribute": ("//@x", "//@x"),
    "children": ("/s/*/a", "/s/*/a"),
    "around": ("/s/c/d", "/s/c/d"),
    "few": ("//a[. > 4]", "//a[. > 4]"),
}
Node = tuple[tuple[str, ...], str]


def node_of(found: Any) -> Node:
    if etree.iselement(found):
        names = [each.tag for each in found.iterancestors()][::-1]
        return (*names, found.tag), "".join(found.itertext())
    path, _ = node_of(found.getparent())
    return (*path, f"@{found.attrname}" if found.is_attribute else "text()"), str(found)


@dataclass(frozen=True)
class Parted:
    """The nodes of some views as lxml finds them, by piece; and the parts that views are in."""

    pieces: dict[PartPiece, set[Node]]
    homes: dict[str, frozenset[Signature]]

    def of(self, query: str) -> list[PartPiece]:
        return [piece for piece in self.pieces if query in piece.signature]


def parted(views: Iterable[str]) -> Parted:
    tree = etree.fromstring(DOCUMENT)
    views_of: dict[Node, set[str]] = {}
    around: dict[Node, list[Node]] = {}  # from the inside
    for view in views:
        for found in tree.xpath(VIEWS[view][1]):
            own = found if etree.iselement(found) else found.getparent()
            outside = [*([] if own is found else [own]), *own.iterancestors()]
            views_of.setdefault(node_of(found), set()).add(view)
            around[node_of(found)] = [node_of(found), *map(node_of, outside)]
    pieces: dict[PartPiece, set[Node]] = {}
    homes: dict[str, set[Signature]] = {}
    for node, names in views_of.items():
        home = frozenset(views_of[[each for each in around[node] if each in views_of][-1]])
        pieces.setdefault(PartPiece("s", frozenset(names), home, 1, 10), set()).add(node)
        for name in names:
            homes.setdefault(name, set()).add(home)
    return Parted(pieces, {name: frozenset(each) for name, each in homes.items()})


def asked_for(selection: Selection) -> set[Node]:
    """The nodes of what is asked, which is the same as it is written for the source."""
    text, namespaces = write_xpath(selection)
    document = Document(DOCUMENT, id="1")
    [here], [there] = (select("s", [document], [each]).rows for each in (selection, parse(text, namespaces)))
    assert here == there
    found = set()
    for row in here.to_pylist():
        is_element = row["path"][-1] != "text()" and row["path"][-1][0] != "@"
        text = "".join(etree.fromstring(row["fragment"]).itertext()) if is_element else row["value"]
        found.add((tuple(row["path"]), text))
    return found


def nodes_in(parts: Parted, pieces: Iterable[PartPiece]) -> set[Node]:
    return set().union(*(parts.pieces[piece] for piece in pieces))


def remainders(parts: Parted, query: str) -> Iterator[tuple[Remainder, list[PartPiece]]]:
    """What is asked for with any of the parts stored, but not all, and the pieces that are missing then."""
    homes = sorted(parts.homes[query], key=sorted)
    selections = {name: parse(VIEWS[name][0]) for name in parts.homes}
    for stored in chain.from_iterable(combinations(homes, size) for size in range(1, len(homes))):
        missing = [piece for piece in parts.of(query) if piece.home not in stored]
        there = [piece for piece in parts.of(query) if piece.home in stored]
        yield remainder_of(query, missing, there, selections, parts.homes), missing


WORKLOADS = [each for size in (2, 3) for each in combinations(VIEWS, size)] + [tuple(VIEWS)]


def test_what_is_asked_for_is_all_that_is_missing_and_at_most_what_comes_along() -> None:
    number = 0
    for workload in WORKLOADS:
        parts = parted(workload)
        for query in parts.homes:
            for remainder, missing in remainders(parts, query):
                number += 1
                asked, needed = asked_for(remainder.selection), nodes_in(parts, missing)
                assert needed <= asked <= needed | nodes_in(parts, remainder.again), (workload, query)

    assert number > 300


def test_nothing_comes_along_where_marks_tell_the_pieces_apart() -> None:
    """Which is what the cost model takes for granted."""
    apart = mixed = 0
    for workload in WORKLOADS:
        parts = parted(workload)
        selections = {name: parse(VIEWS[name][0]) for name in parts.homes}
        for query in parts.homes:
            is_apart = are_apart(query, parts.of(query), selections, parts.homes)
            again = [remainder.again for remainder, _ in remainders(parts, query)]
            apart, mixed = apart + is_apart, mixed + any(again)
            assert not (is_apart and any(again)), (workload, query)

    assert apart > 100
    assert mixed > 0


@pytest.mark.parametrize(
    ("query", "others", "stored", "expected"),
    [
        ("deep", ["top"], {"deep", "top"}, "//a except (/s/a | /s/a//*)"),
        ("deep", ["top"], {"deep"}, "//a intersect (/s/a | /s/a//*)"),
        ("either", ["few"], {"either", "few"}, "(/s/a | /s/b) except //a[. > 4]"),
        ("few", ["top", "around"], {"around"}, "//a[. > 4] intersect /s/a"),
    ],
)
def test_what_is_asked_for_is_short(query: str, others: Collection[str], stored: set[str], expected: str) -> None:
    parts = parted([query, *others])
    there = [piece for piece in parts.of(query) if piece.home == stored]
    missing = [piece for piece in parts.of(query) if piece.home != stored]

    selections = {name: parse(VIEWS[name][0]) for name in parts.homes}
    remainder = remainder_of(query, missing, there, selections, parts.homes)

    assert write_xpath(remainder.selection)[0] == expected


def test_pieces_that_no_literal_tells_apart_are_told_apart_by_several() -> None:
    """Nodes in one of two views are missing, those in both or in none are there."""
    selections = {"all": parse("//a"), "odd": parse("//a[. = '1' or . = '2']"), "few": parse("//a[. = '2' or . = '3']")}
    signatures = [frozenset({"all", *each}) for each in ((), ("odd",), ("few",), ("odd", "few"))]
    none, odd, few, both = (PartPiece("s", each, each, 1, 10) for each in signatures)
    homes = {name: frozenset(each for each in signatures if name in each) for name in selections}

    remainder = remainder_of("all", [odd, few], [none, both], selections, homes)

    assert remainder.again == ()
    document = Document("<s><a>1</a><a>2</a><a>3</a><a>4</a></s>", id="1")
    [rows] = select("s", [document], [remainder.selection]).rows
    assert rows["value"].to_pylist() == ["1", "3"]


# -- at the server


ITEMS = "".join(f"<item><name>n{at}</name><price>{at}</price></item>" for at in range(500))


@pytest.mark.parametrize(("stored", "asked"), [(0, 490), (1, 10)])
def test_a_source_sends_the_nodes_that_are_not_stored_and_no_others(tmp_path: Path, stored: int, asked: int) -> None:
    server = server_over(tmp_path, {"shop.xml": f"<shop>{ITEMS}</shop>"}, rates=Rates(Rate(1e6), Rate(1e6)))
    whole = server.query("/shop/item")
    found = server.recommend(queries("/shop/item", "/shop/item[price > 9]"), 1e9)
    parts = sorted(range(2), key=lambda at: found.problem.candidates[at].size)  # 10 nodes, 490 nodes
    server.materialize(choosing(found, [parts[stored]]))

    answer = server.query("/shop/item")

    assert answer.rows == whole.rows
    assert "from 1 of 2 parts" in answer.explain()
    [way] = answer.ways
    few, many = size_of(whole.rows.slice(0, 10)), size_of(whole.rows.slice(10))
    sent, held = (few, many) if asked == 10 else (many, few)
    assert way.estimated == pytest.approx(2e-6 * sent + LOCAL_BYTE_SECONDS * held)


def test_after_a_refresh_what_is_new_is_asked_for_or_stored(tmp_path: Path) -> None:
    """Nodes that have come since may be in answers that no node was in before."""
    server = server_over(tmp_path, {"shop.xml": f"<shop>{ITEMS}</shop>"}, rates=Rates(Rate(1e6), Rate(1e6)))
    found = server.recommend(queries("/shop/item", "/shop/item[price > 9]", "/shop/item[size]"), 1e9)
    parts = sorted(range(2), key=lambda at: found.problem.candidates[at].size)
    for stored in parts:
        server.materialize(choosing(found, [stored]))
        new = "<item><price>5</price><size/></item><item><price>700</price><size/></item><item><price>6</price></item>"
        (tmp_path / "shop.xml").write_text(f"<shop>{ITEMS}{new}</shop>")
        server.refresh()

        answer = server.query("/shop/item")

        assert "the rest from the source" in answer.explain()
        assert answer.fragments()[500:] == [each + "</item>" for each in new.split("</item>")[:-1]]
        (tmp_path / "shop.xml").write_text(f"<shop>{ITEMS}</shop>")


def test_all_of_it_is_asked_for_where_it_is_not_known_what_parts_have(tmp_path: Path) -> None:
    """As in a store that was written before parts told it."""
    server = server_over(tmp_path, {"shop.xml": f"<shop>{ITEMS}</shop>"}, rates=Rates(Rate(1e6), Rate(1e6)))
    found = server.recommend(queries("/shop/item", "/shop/item[price > 9]"), 1e9)
    server.materialize(choosing(found, [0]))
    written = json.loads(write_manifest(server.store.manifest()))
    for part in written["parts"]:
        del part["pieces"]
    with server.store.writing():
        server.store.swap(read_manifest(json.dumps(written).encode()))

    answer = server.query("/shop/item")

    assert answer.rows.num_rows == 500
    assert "shop: from the source" in answer.explain()


def test_all_of_it_is_asked_for_where_that_takes_no_longer() -> None:
    view = ViewEntry("q", "/s/a")
    partly = PartlyStored(view, ("1",), 2, view.selection, rest_bytes=900, stored_bytes=100, whole_bytes=1_000)

    assert partly.is_worth(Rates(Rate(1e6), Rate(1e6)))
    assert not partly.is_worth(Rates(Rate(1e12), Rate(1e12)))  # faster than it is read here
    assert partly.is_worth(Rates())  # fewer bytes
    assert not PartlyStored(view, ("1",), 2, view.selection, 1_000, 100, 1_000).is_worth(Rates())
    assert not PartlyStored(view, ("1",), 2, None, 0, 100, 1_000).is_worth(Rates(Rate(1.0), Rate(1.0)))
