"""Queries over the whole grammar, and XMark's: item by item what Saxon makes of them, with the same errors."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from saxonche import PySaxonProcessor

from profiles import rounds
from xmark.auctions import auction_site
from xquery_grammar import documents, queries
from xquery_oracle import ERROR, Asked, broker_with, differences, is_same, saxon_items, weft_items

XMARK = sorted((Path(__file__).resolve().parents[1] / "xmark").glob("q*.xq"))
DOCUMENTS, QUERIES, SEEDS = 20, 200, 5  # 20,000 pairs; the profile `thorough` has 33 times as many seeds, and more
THOROUGH = 1.6


@pytest.fixture(scope="module")
def saxon() -> Iterator[PySaxonProcessor]:
    with PySaxonProcessor(license=False) as processor:
        yield processor


@pytest.mark.slow
def test_twenty_thousand_pairs_have_the_items_that_saxon_gives(saxon: PySaxonProcessor) -> None:
    made = 0
    seeds = rounds(SEEDS)

    for seed in range(seeds if seeds <= SEEDS else int(seeds * THOROUGH)):
        some, asked = documents(seed, DOCUMENTS), queries(seed, QUERIES)
        expected = saxon_items(saxon, some, asked)
        broker = broker_with(asked)
        found, refused = weft_items(broker, some)
        made += len(found)

        told = differences(expected, found, refused, asked, some)
        assert not broker.suspended
        assert not told, told[0]

    assert made > seeds * DOCUMENTS * QUERIES // 4


@pytest.mark.slow
def test_one_document_at_a_time_gives_what_a_batch_gives() -> None:
    some, asked = documents(0, 8), queries(0, 60)
    together, _ = weft_items(broker_with(asked), some)
    broker = broker_with(asked)

    for at, text in enumerate(some):
        found = {number: nodes for (_, number), nodes in weft_items(broker, [text])[0].items()}

        assert found == {number: nodes for (document, number), nodes in together.items() if document == at}
        assert {str(number) for number in found} == set(broker.matches(text)[0])


def xmark(path: Path) -> tuple[Asked, Asked]:
    """A query as published; and for Saxon, to which its document is the context item."""
    text = path.read_text()
    prolog, mark, body = text.rpartition("};") if "};" in text else ("", "", text)
    return Asked(prolog + mark, body), Asked(prolog + mark, body.replace('doc("auction.xml")', "root(.)"))


def test_there_are_twenty_queries_of_xmark() -> None:
    assert len(XMARK) == 20


@pytest.mark.slow
@pytest.mark.parametrize("path", XMARK, ids=lambda path: path.stem)
def test_a_query_of_xmark_has_saxon_s_answer(saxon: PySaxonProcessor, path: Path) -> None:
    sites = [auction_site(seed) for seed in range(20)]
    ours, theirs = xmark(path)

    found, refused = weft_items(broker_with({0: ours}), sites)
    expected = saxon_items(saxon, sites, {0: theirs})

    told = differences(expected, found, refused, {0: ours}, sites)
    assert not told, told[0]
    assert found


#: Where XQuery raises an error, and there is no message.
ERRORS = {
    "for $b in /r/b return xs:decimal($b)": "expected a value that is an xs:decimal, found 'abc'",
    "for $b in /r return $b/b + 1": "`+`: expected one item at most, found 2",
    "for $b in /r/b[1] return $b + 1": "expected a value that is an xs:double, found 'abc'",
    "for $b in /r return exactly-one($b/b)": "exactly-one(): found 2 items",
    "for $b in /r return contains($b/b, 'a')": "contains(): expected one item at most, found 2",
    "for $b in /r return 1 idiv count($b/c)": "`idiv` by zero",
    "for $b in /r return string($b/b)": "string(): expected one item at most, found 2",
    "for $b in /r order by $b/b return $b": "order by: expected one item at most, found 2",
    "for $b in /r/b return 'a' eq 1": "a comparison of xs:string with xs:integer",
    "for $b in /r return <i>{ $b/b, $b/@k }</i>": "the attribute 'k' behind other content of its element",
    "for $b in /r return <i k='1'>{ $b/@k }</i>": "the attribute 'k' twice in an element",
    "for $b in /r/b return element { string($b) || ' ' || 'x' } {}": "expected a name, found 'abc x'",
    "for $b in /r/b return $b treat as element(c)": "expected element(c), found a node",
    "for $b in /r return (1, 2)/b": "a path from what is no node: int",
    "for $b in /r return sum($b/b)": "expected a value that is an xs:double, found 'abc'",
    "for $b in /r return (<a/>)/(/b)": "`/`: an element that was built is in no document",
    "for $b in /r return if ((1, 2)) then 1 else 2": "a truth value: expected one item, found 2",
    "for $b in /r return replace($b/@k, 'x*', 'y')": "replace(): a regular expression that matches nothing at all",
}


@pytest.mark.parametrize("query", ERRORS)
def test_where_saxon_has_an_error_the_message_is_refused_and_says_why(saxon: PySaxonProcessor, query: str) -> None:
    document = "<r k='v'><b>abc</b><b>2</b></r>"
    broker = broker_with({0: Asked("", query), 1: Asked("", "for $b in /r return <fine>{ 1 + 1 }</fine>")})

    found, refused = weft_items(broker, [document])

    assert refused[0, 0] == ERRORS[query]
    assert list(found) == [(0, 1)]
    if "'a' eq 1" not in query and "(1, 2)" not in query:  # Saxon tells these when it reads the query
        assert saxon_items(saxon, [document], {0: Asked("", f"array {{ {query} }}?*")}) == {(0, 0): ERROR}


def test_elements_are_the_same_in_canonical_form() -> None:
    assert is_same(['<a k="1"></a>', "<b>"], ["<a k='1'/>", "<b>"])
    assert not is_same(["<a></a>"], ["<a>x</a>"])
