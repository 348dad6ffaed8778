"""Random queries over random documents: Weft and lxml find the same nodes in the same order."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle import Answer, Oracle, assert_same, table_of, weft_answer
from strategies import (
    TAGS,
    Open,
    Query,
    Selection,
    Vocabulary,
    absolute_paths,
    documents,
    plain,
    selections,
    written_selection,
)
from weft.engine import Engine
from weft.languages.xpath import parse

#: Nothing but `a`: every step leads to many nodes, and to most of them in many ways.
NARROW = Vocabulary(plain("a", "a", "*", "b"), plain("@x", "@*"), plain("self::a", "not(self::b)"))
narrow_documents = documents([tag for tag in TAGS if tag.name == "a"] * 3 + [Open("b")])


def lxml_nodes(selection: Selection, oracle: Oracle) -> list[int]:
    """A path as lxml answers it; what stands between paths as sets."""
    if isinstance(selection, Query):
        return oracle.nodes(selection.lxml)
    left, right = set(lxml_nodes(selection.left, oracle)), set(lxml_nodes(selection.right, oracle))
    return sorted({"intersect": left & right, "except": left - right}.get(selection.operator, left | right))


def expected(batch: list[bytes], wanted: dict[int, Selection]) -> Answer:
    found = [
        (at, number, place)
        for at, oracle in enumerate(map(Oracle, batch))
        for number, selection in wanted.items()
        for place in lxml_nodes(selection, oracle)
    ]
    return np.array(found, np.int64).reshape(-1, 3)


def assert_agreement(batch: list[bytes], wanted: list[Selection]) -> None:
    queries = {number: written_selection(selection) for number, selection in enumerate(wanted)}
    engine = Engine()
    for number, query in queries.items():
        engine.add(number, parse(query))

    found = weft_answer(engine, table_of(batch))

    assert_same(found, expected(batch, dict(enumerate(wanted))), queries, batch)


@pytest.mark.slow
@given(st.lists(documents(), min_size=1, max_size=4), st.lists(selections(), min_size=1, max_size=8))
def test_all_queries_at_once_find_what_lxml_finds_for_each(batch: list[bytes], wanted: list[Selection]) -> None:
    assert_agreement(batch, wanted)


@pytest.mark.slow
@given(st.lists(narrow_documents, min_size=1, max_size=4), st.lists(absolute_paths(NARROW), min_size=1, max_size=8))
def test_paths_that_lead_to_a_node_in_many_ways_find_it_once(batch: list[bytes], wanted: list[Selection]) -> None:
    assert_agreement(batch, wanted)


Turn = Selection | int | list[bytes]
turns: st.SearchStrategy[Turn] = st.one_of(
    absolute_paths(),
    selections(),
    st.integers(0, 20),  # the subscription to remove, of those that are there
    st.lists(documents(), min_size=1, max_size=2),
)


@pytest.mark.slow
@given(st.lists(turns, min_size=4, max_size=16), st.lists(documents(), min_size=1, max_size=3))
def test_subscriptions_come_and_go_between_batches(life: list[Turn], last: list[bytes]) -> None:
    engine = Engine()
    there: dict[int, Selection] = {}

    for number, turn in enumerate([*life, last]):
        if isinstance(turn, int):
            if there:
                gone = sorted(there)[turn % len(there)]
                del there[gone]
                engine.remove(gone)
        elif isinstance(turn, list):
            found = weft_answer(engine, table_of(turn))
            queries = {number: written_selection(selection) for number, selection in there.items()}
            assert_same(found, expected(turn, there), queries, turn)
        else:
            there[number] = turn
            engine.add(number, parse(written_selection(turn)))


@pytest.mark.slow
@given(st.lists(documents(), min_size=2, max_size=6), st.lists(selections(), min_size=1, max_size=4))
def test_a_batch_gives_what_its_documents_give_one_by_one(batch: list[bytes], wanted: list[Selection]) -> None:
    together, alone = Engine(), Engine()
    for number, selection in enumerate(wanted):
        together.add(number, parse(written_selection(selection)))
        alone.add(number, parse(written_selection(selection)))

    found = weft_answer(together, table_of(batch))

    one_by_one = [weft_answer(alone, table_of([document]), at) for at, document in enumerate(batch)]
    assert np.array_equal(found, np.concatenate(one_by_one))


@pytest.mark.parametrize(
    ("query", "document"),
    [
        ("//@*[self::x]", b"<a x='1'/>"),
        ("//a[self::*]", b"<a><b/></a>"),
        ("//*[not(self::a)][self::*]", b"<a><b/></a>"),
        ("//*[not(self::*)]", b"<a><b/></a>"),
        ("//*[not(self::a or self::*)]", b"<a><b/></a>"),
        ("//text()[self::*]", b"<a>1</a>"),
        ("//text()[not(self::*)]", b"<a>1</a>"),
        ("//@x[self::*]", b"<a x='1'/>"),
        ("//a[text()[self::text] | @x[self::*]]", b"<a x='1'>1</a>"),
    ],
)
def test_a_name_test_on_the_node_itself_passes_elements_only(query: str, document: bytes) -> None:
    assert_agreement([document], [Query(query, query)])
