"""FLWR queries over generated and random documents: every way to a message gives the one that Saxon gives.

Saxon gives an empty enclosing element where there is no binding, Weft no message. The two are told apart by the items:
each binding of these queries makes one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree
from saxonche import PySaxonProcessor

from flwr_strategies import World, queries, worlds
from flwr_ways import WAYS, canonical, messages, with_queries
from oracle import table_of
from profiles import examples
from shapes import FLWR_EXTRAS, FLWR_SHAPES, FLWR_VALUES
from weft.documents.dtd import Dtd
from weft.workload import generate_documents, generate_flwr, shipped

#: A comparison with a date, and the same for Saxon, to which a value that is none would be an error.
_DATED, _CASTABLE = re.compile(r"@d (\S+) (xs:\w+)"), r"@d[. castable as \2] \1 \2"
Answer = dict[tuple[int, int], bytes]  # by document and query, as canonical XML

DOCUMENTS, PAPER_LIKE, WITH_EXTRAS = 30, 40, 80


class Workload(NamedTuple):
    """Documents that keep to a DTD, numbered queries, and what Saxon makes of them."""

    dtd: Dtd
    documents: list[bytes]
    queries: dict[int, str]
    answer: Answer


@cache
def workload(name: str) -> Workload:
    dtd = shipped(name)
    of_documents, of_queries = FLWR_SHAPES[name]
    documents = list(generate_documents(dtd, number=DOCUMENTS, **FLWR_VALUES, **of_documents))
    shape = {**FLWR_VALUES, **of_queries, "descendant": 0.3}
    texts = [
        *generate_flwr(dtd, number=PAPER_LIKE, **shape),
        *generate_flwr(dtd, number=WITH_EXTRAS, seed=1, **shape, **FLWR_EXTRAS),
    ]
    numbered = dict(enumerate(texts))
    with PySaxonProcessor(license=False) as saxon:
        return Workload(dtd, documents, numbered, saxon_answer(saxon, [each.decode() for each in documents], numbered))


def saxon_answer(saxon: PySaxonProcessor, documents: Sequence[str], queries: Mapping[int, str]) -> Answer:
    """What Saxon makes of each query with each document as its context item; nothing where no item was made."""
    processor = saxon.new_xquery_processor()
    processor.set_parameter("documents", saxon.make_array([saxon.parse_xml(xml_text=text) for text in documents]))
    answer: Answer = {}
    for number, query in queries.items():
        processor.set_query_content(
            "declare boundary-space strip; declare variable $documents external; "
            f"<all>{{ $documents?* ! ({_DATED.sub(_CASTABLE, query)}) }}</all>"
        )
        made = etree.fromstring(processor.run_query_to_string().encode())
        answer |= {(at, number): etree.tostring(one, method="c14n") for at, one in enumerate(made) if len(one)}
        assert len(made) == len(documents)
    return answer


def weft_answer(engine: Any, documents: Sequence[bytes | str]) -> Answer:
    return {key: canonical(text) for key, text in messages(engine, table_of(documents)).items()}


def assert_same(weft: Answer, saxon: Answer, queries: Mapping[int, str], documents: Sequence[bytes | str]) -> None:
    """Both have the same messages; if not, the first difference is told."""
    for at, number in sorted(weft.keys() | saxon.keys()):
        found, expected = weft.get((at, number)), saxon.get((at, number))
        assert found == expected, f"{queries[number]}\n  over {documents[at]!r}"


# -- generated queries


def test_more_than_two_thousand_pairs_are_compared_and_hundreds_have_a_message() -> None:
    workloads = [workload(name) for name in FLWR_SHAPES]

    pairs = [len(each.documents) * len(each.queries) for each in workloads]
    made = [len(each.answer) for each in workloads]

    assert sum(pairs) > 10_000
    assert min(made) > 300


def test_queries_of_both_kinds_have_messages_in_every_dtd() -> None:
    for name in FLWR_SHAPES:
        matched = {number for _, number in workload(name).answer}

        assert len([number for number in matched if number < PAPER_LIKE]) > PAPER_LIKE // 4
        assert len([number for number in matched if number >= PAPER_LIKE]) > WITH_EXTRAS // 4


def test_books_have_sections_in_sections() -> None:
    roots = [etree.fromstring(document) for document in workload("book").documents]

    nested = [root for root in roots if root.xpath("//section/section/section/section")]

    assert len(nested) > DOCUMENTS // 4


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", FLWR_SHAPES)
def test_all_queries_in_one_engine_give_the_messages_that_saxon_gives(name: str, way: str) -> None:
    dtd, documents, queries, expected = workload(name)

    found = weft_answer(with_queries(WAYS[way](dtd), queries), documents)

    assert_same(found, expected, queries, documents)


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", FLWR_SHAPES)
def test_a_query_alone_gives_the_messages_that_saxon_gives(name: str, way: str) -> None:
    dtd, documents, queries, expected = workload(name)
    few = documents[:8]
    table = table_of(few)

    for number, query in queries.items():
        found = messages(with_queries(WAYS[way](dtd), {number: query}), table)

        wanted = {key: text for key, text in expected.items() if key[1] == number and key[0] < len(few)}
        assert_same({key: canonical(text) for key, text in found.items()}, wanted, queries, few)


# -- random queries


@pytest.fixture(scope="module")
def saxon() -> Iterator[PySaxonProcessor]:
    with PySaxonProcessor(license=False) as processor:
        yield processor


@pytest.mark.slow
@examples(120)
@given(worlds(), st.lists(queries(), min_size=1, max_size=4))
def test_random_queries_give_the_messages_that_saxon_gives_in_every_way(
    saxon: PySaxonProcessor, world: World, wanted: list[str]
) -> None:
    numbered = dict(enumerate(wanted))
    expected = saxon_answer(saxon, world.documents, numbered)

    for way in WAYS.values():
        found = weft_answer(with_queries(way(world.dtd), numbered), world.documents)

        assert_same(found, expected, numbered, world.documents)
