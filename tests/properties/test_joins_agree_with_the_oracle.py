"""Joins find what nested loops over the definitions find: on any documents, queries, orders, windows and lateness."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import assume, given, reject
from hypothesis import strategies as st

from flwr_ways import canonical
from profiles import examples
from weft import Broker
from weft.documents.build import read
from weft.documents.document import Document
from weft.joins.checkpoint import load, save
from weft.joins.joins import Joins
from weft.languages.xscl import parse
from xscl_oracle import Found, messages, oracle
from xscl_runs import found_by, new_joins, run
from xscl_strategies import document_lists, nested_queries, queries


@pytest.mark.slow
@examples(300)
@given(st.lists(queries(), min_size=1, max_size=4), document_lists(), st.sampled_from([1, 2, 10]))
def test_in_order(texts: list[str], documents: list[Document], size: int) -> None:
    plans = [parse(text) for text in texts]
    ordered = sorted(documents, key=lambda document: document.timestamp or 0.0)
    assert run(plans, ordered, size) == oracle(plans, ordered)


@pytest.mark.slow
@examples(150)
@given(st.lists(queries(), min_size=1, max_size=3), document_lists(late=True), st.sampled_from([1, 3]))
def test_late_documents_join_as_if_in_order(texts: list[str], documents: list[Document], size: int) -> None:
    plans = [parse(text) for text in texts]
    assert run(plans, documents, size, lateness=1_000.0) == oracle(plans, documents)


@examples(100)
@given(st.lists(queries(1, 1), min_size=1, max_size=3), document_lists(1, 3))
def test_one_block(texts: list[str], documents: list[Document]) -> None:
    plans = [parse(text) for text in texts]
    ordered = sorted(documents, key=lambda document: document.timestamp or 0.0)
    assert run(plans, ordered, 2) == oracle(plans, ordered)


@pytest.mark.slow
@examples(200)
@given(
    st.lists(st.one_of(nested_queries(), nested_queries(), queries()), min_size=1, max_size=3),
    document_lists(),
    st.sampled_from([1, 2, 10]),
)
def test_joins_in_parentheses(texts: list[str], documents: list[Document], size: int) -> None:
    plans = [parse(text) for text in texts]
    ordered = sorted(documents, key=lambda document: document.timestamp or 0.0)
    assert run(plans, ordered, size) == oracle(plans, ordered)


@examples(100)
@given(queries(1), document_lists())
def test_a_message_without_select_is_the_output_nodes_as_their_documents_have_them(
    text: str, documents: list[Document]
) -> None:
    plan, broker = parse(text), Broker()
    assume(plan.select is None)
    try:
        expected = messages(plan, documents)
    except NotImplementedError:  # an attribute or a text: what it looks like is not defined
        reject()
    broker.subscribe(text, language="xscl")

    made = [*broker.publish(documents), *broker.advance()]

    assert sorted((each.documents, canonical(each.text)) for each in made) == sorted(
        (found.documents, canonical(text)) for found, text in expected.items()
    )


@pytest.mark.parametrize("size", [1, 4])
def test_a_document_may_stand_at_both_ends_of_a_chain(size: int) -> None:
    plans = [parse("S//a->x JOIN{x = y, infinite} S//b->y JOIN{y = z, infinite} S//a->z")]
    documents = [Document("<r><a>1</a><b>1</b></r>", str(at), "S", float(at)) for at in range(3)]
    assert run(plans, documents, size) == oracle(plans, documents)


@pytest.mark.slow
@examples(150)
@given(
    st.lists(queries(), min_size=1, max_size=3),
    document_lists(late=True),
    st.integers(0, 7),
    st.sampled_from([0.0, 1_000.0]),
)
def test_a_restart_from_a_checkpoint_loses_and_repeats_nothing(
    texts: list[str], documents: list[Document], cut: int, lateness: float
) -> None:
    plans = [parse(text) for text in texts]
    if not lateness:
        documents.sort(key=lambda document: document.timestamp or 0.0)
    first, second = new_joins(plans, lateness), new_joins(plans, lateness)
    ids = {str(number): number for number in range(len(plans))}
    made = [found_by(first, [first.process(read([document]))]) for document in documents[:cut]]
    with TemporaryDirectory() as folder:
        save(first, Path(folder) / "checkpoint", ids, {"next": cut})
        assert load(second, Path(folder) / "checkpoint", ids) == {"next": cut}
    made += [found_by(second, [second.process(read([document]))]) for document in documents[cut:]]
    made.append(found_by(second, [second.advance()]))
    found = [[each for part in made for each in part.get(number, ())] for number in range(len(plans))]
    assert [set(each) for each in found] == oracle(plans, documents)
    assert all(len(each) == len(set(each)) for each in found)


@examples(100)
@given(st.lists(queries(), min_size=2, max_size=4), document_lists(), st.data())
def test_queries_come_and_go(texts: list[str], documents: list[Document], data: st.DataObject) -> None:
    """A query finds what it would among the documents from when it came until it went."""
    plans = [parse(text) for text in texts]
    ordered = sorted(documents, key=lambda document: document.timestamp or 0.0)
    lives = [sorted(data.draw(st.tuples(*[st.integers(0, len(ordered))] * 2))) for _ in plans]
    joins = Joins()
    made: dict[int, list[Found]] = defaultdict(list)
    for at, document in enumerate([*ordered, None]):
        for number, (come, gone) in enumerate(lives):
            if come == at:
                joins.add(number, plans[number])
            if gone == at:
                joins.remove(number)
        if document is not None:
            for number, found in found_by(joins, [joins.process(read([document]))]).items():
                made[number] += found
    for number, (come, gone) in enumerate(lives):
        if not any(join.operator == "NOT FOLLOWED BY" for join in plans[number].joins):
            expected = oracle([plans[number]], ordered[come:gone])[0]
            assert set(made[number]) == expected
