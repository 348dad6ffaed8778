"""Whatever the size of batches and documents, from nothing to 100 MB, the ids are those that lxml finds."""

from __future__ import annotations

from functools import cache

import pytest
from lxml import etree

from weft import Broker
from weft.documents import Limits
from weft.workload import generate_documents, generate_queries, shipped

DOCUMENTS, WORDS = 1_100, 8
LARGE = 100_000_000  # bytes


@cache
def news() -> tuple[bytes, ...]:
    return tuple(generate_documents(shipped("news"), number=DOCUMENTS, elements=30, words=WORDS, seed=5))


@cache
def queries(predicates: int) -> tuple[str, ...]:
    return tuple(
        generate_queries(
            shipped("news"), number=60, depth=5, predicates=predicates, nested=predicates, words=WORDS, seed=6
        )
    )


@cache
def found_by_lxml(predicates: int) -> list[list[str]]:
    asked = [(query, etree.XPath(query)) for query in queries(predicates)]
    return [[query for query, ask in asked if ask(etree.fromstring(document))] for document in news()]


def broker_for(wanted: tuple[str, ...], limits: Limits | None = None) -> Broker:
    broker = Broker(limits=limits)
    for query in wanted:
        broker.subscribe(query, id=query)
    return broker


@pytest.mark.slow
@pytest.mark.parametrize("predicates", [0, 1])
@pytest.mark.parametrize("size", [1, 7, 64, 1_000])
def test_the_size_of_batches_changes_nothing(size: int, predicates: int) -> None:
    broker, documents = broker_for(queries(predicates)), news()

    batches = [list(documents[begin : begin + size]) for begin in range(0, DOCUMENTS, size)]
    found = [ids.tolist() for batch in batches for ids in broker.matches(batch)]

    assert found == found_by_lxml(predicates)


@pytest.mark.slow
@pytest.mark.parametrize("predicates", [0, 1])
def test_a_document_of_100_mb_is_matched_between_small_ones(predicates: int) -> None:
    first, last = news()[0], news()[-1]
    item = news()[1][news()[1].index(b"<news") :]
    times = LARGE // len(item) + 1
    wanted = (*queries(predicates), "/news/only-here", "/news/news//*", "/news[only-here]/news/*[1]", "/only-here")
    limits = Limits(max_bytes=2 * LARGE, max_nodes=50_000_000)

    found = [ids.tolist() for ids in broker_for(wanted, limits).matches([first, b"", repeated(item, times), last])]

    # No query counts the items, so three tell lxml as much: `not` over the large tree would take it hours.
    asked = [(query, etree.XPath(f"boolean({query})")) for query in wanted]
    trees = [etree.fromstring(document) for document in (first, repeated(item, 3), last)]
    small, large, other = [[query for query, ask in asked if ask(tree)] for tree in trees]
    assert found == [small, [], large, other]


def repeated(item: bytes, times: int) -> bytes:
    return b"<news>" + item * times + b"<only-here/></news>"
