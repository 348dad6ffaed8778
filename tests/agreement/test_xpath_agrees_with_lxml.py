"""Generated queries over generated documents: Weft finds the nodes that lxml finds, however the work is cut up."""

from functools import cache
from typing import NamedTuple

import numpy as np
import pytest

from accesses import all_in, all_out, by_chance, retrieve
from oracle import Answer, Oracle, assert_same, described, lxml_answer, table_of, weft_answer
from shapes import XPATH_SHAPES
from weft.engine import Engine
from weft.languages.xpath import parse
from weft.workload import SHIPPED, generate_documents, generate_queries, shipped

DOCUMENTS, QUERIES = 200, 1_000


class Workload(NamedTuple):
    """Documents, numbered queries, and what lxml finds."""

    documents: list[bytes]
    queries: dict[int, str]
    answer: Answer


@cache
def workload(name: str) -> Workload:
    dtd = shipped(name)
    half = DOCUMENTS // 2
    documents = [
        *generate_documents(dtd, number=half, elements=40, values=5, words=2, seed=1),
        *generate_documents(dtd, number=half, depth=6, repeats=2, elements=60, values=5, words=2, seed=2),
    ]
    texts = [
        text
        for seed, shape in enumerate(XPATH_SHAPES)
        for text in generate_queries(dtd, number=QUERIES // len(XPATH_SHAPES), seed=seed, **shape)
    ]
    queries = dict(enumerate(texts))
    return Workload(documents, queries, lxml_answer(map(Oracle, documents), queries))


def engine_for(queries: dict[int, str]) -> Engine:
    engine = Engine()
    for number, query in queries.items():
        engine.add(number, parse(query))
    return engine


def weft_answers(engine: Engine, documents: list[bytes], size: int) -> Answer:
    """The answers of batches of a size, as one."""
    firsts = range(0, len(documents), size)
    return np.concatenate([weft_answer(engine, table_of(documents[at : at + size]), at) for at in firsts])


@pytest.mark.slow
@pytest.mark.parametrize("name", SHIPPED)
def test_the_node_table_has_the_nodes_that_lxml_reads(name: str) -> None:
    documents = workload(name).documents

    found = described(table_of(documents))

    assert found == [Oracle(document).described for document in documents]


@pytest.mark.slow
@pytest.mark.parametrize("name", SHIPPED)
def test_queries_of_every_shape_find_something(name: str) -> None:
    answer = workload(name).answer

    matched = np.unique(answer[:, 1])
    by_shape = np.bincount(matched // (QUERIES // len(XPATH_SHAPES)), minlength=len(XPATH_SHAPES))

    assert by_shape.min() > 10


@pytest.mark.slow
@pytest.mark.parametrize("size", [1, 7, 100])
@pytest.mark.parametrize("name", SHIPPED)
def test_batches_of_any_size_give_the_nodes_that_lxml_gives(name: str, size: int) -> None:
    documents, queries, expected = workload(name)

    found = weft_answers(engine_for(queries), documents, size)

    assert_same(found, expected, queries, documents)


@pytest.mark.slow
@pytest.mark.parametrize("name", SHIPPED)
def test_subscriptions_that_come_while_documents_flow_count_from_the_next_batch_on(name: str) -> None:
    documents, queries, expected = workload(name)
    twice = {**queries, **{number + QUERIES: query for number, query in queries.items()}}
    expected = in_order(np.concatenate([expected, expected + np.array([0, QUERIES, 0])]))
    step = len(twice) // len(documents)
    engine, found = Engine(), []

    for at, document in enumerate(documents):
        for number in range(at * step, (at + 1) * step):
            engine.add(number, parse(twice[number]))
        found.append(weft_answer(engine, table_of([document]), at))

    there = expected[:, 1] < (expected[:, 0] + 1) * step
    assert_same(np.concatenate(found), expected[there], twice, documents)
    assert_same(weft_answers(engine, documents, 50), expected, twice, documents)


@pytest.mark.slow
@pytest.mark.parametrize("name", SHIPPED)
def test_what_is_removed_is_found_no_more_and_what_comes_back_is(name: str) -> None:
    documents, queries, expected = workload(name)
    engine = engine_for({number: query for number, query in queries.items() if number % 4})
    weft_answers(engine, documents[:10], 10)
    for number in queries:
        if number % 4 == 0:  # these come late
            engine.add(number + QUERIES, parse(queries[number]))
        elif number % 2:
            engine.remove(number)

    half = weft_answers(engine, documents, 100)
    for number in queries:
        if number % 2:
            engine.add(number + 2 * QUERIES, parse(queries[number]))
    back = weft_answers(engine, documents, 100)

    was = expected[:, 1]
    moved = expected + np.stack([0 * was, QUERIES * (was % 4 == 0) + 2 * QUERIES * (was % 2), 0 * was], axis=1)
    names = {number + shift: query for number, query in queries.items() for shift in (0, QUERIES, 2 * QUERIES)}
    assert_same(half, in_order(moved[was % 2 == 0]), names, documents)
    assert_same(back, in_order(moved), names, documents)


@pytest.mark.slow
@pytest.mark.parametrize("size", [1, 7, 100])
@pytest.mark.parametrize("name", SHIPPED)
def test_nodes_are_those_that_lxml_gives_however_conditions_are_retrieved(name: str, size: int) -> None:
    documents, queries, expected = workload(name)
    engine = engine_for(queries)
    weft_answers(engine, documents[:1], 1)
    shared = engine.large.shared

    for access in (all_in(shared), by_chance(shared, size), by_chance(shared, 10 * size), all_out(shared)):
        retrieve(engine, access)

        assert_same(weft_answers(engine, documents, size), expected, queries, documents)


def in_order(answer: Answer) -> Answer:
    """By document, then subscription; places stay in their order."""
    return answer[np.lexsort((answer[:, 1], answer[:, 0]))]
