"""A broker's joins over longer streams: what is let go is not missed, what is held is seen, batches change nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profiles import examples
from weft import Broker, Document
from weft.broker.destinations import Message
from weft.joins import joins
from weft.joins.match import state
from weft.languages.xscl import parse
from xscl_oracle import oracle
from xscl_strategies import document_lists, queries

CALM = examples(80)
STEPS = st.sampled_from([0.0, 0.5, 1.0, 1.0, 2.0, 5.0])


def new_broker(texts: Iterable[str], prefix: str = "") -> Broker:
    broker = Broker()
    for number, text in enumerate(texts):
        broker.subscribe(text, id=f"{prefix}{number}", language="xscl")
    return broker


def documents_of(messages: Iterable[Message], subscription: str) -> Counter[tuple[str, ...]]:
    return Counter(message.documents for message in messages if message.subscription == subscription)


def in_order(documents: Iterable[Document]) -> list[Document]:
    return sorted(documents, key=lambda document: document.timestamp or 0.0)


@pytest.mark.slow
@CALM
@given(
    st.lists(queries(), min_size=1, max_size=4),
    st.lists(document_lists(5, 7), min_size=6, max_size=9),
    st.data(),
    st.sampled_from([1, 3, 7]),
)
def test_documents_that_are_let_go_are_not_missed(
    texts: list[str], lists: list[list[Document]], data: st.DataObject, size: int
) -> None:
    moment, documents = 0.0, []
    for number, document in enumerate(document for some in lists for document in some):
        moment += data.draw(STEPS)
        documents.append(replace(document, id=f"d{number}", timestamp=moment))
    broker = new_broker(texts)
    with patch.object(joins, "_OFTEN", 4), patch.object(state, "_SWEEP", 2):
        parts = [documents[start : start + size] for start in range(0, len(documents), size)]
        messages = [message for part in parts for message in broker.publish(part)] + broker.advance()
    for number, found in enumerate(oracle([parse(text) for text in texts], documents)):
        assert documents_of(messages, str(number)) == Counter(each.documents for each in found)


@CALM
@given(st.lists(queries(), min_size=1, max_size=3), document_lists(3, 7), st.integers(0, 6), st.booleans())
def test_a_query_from_the_state_sees_what_is_held(
    texts: list[str], documents: list[Document], cut: int, is_known: bool
) -> None:
    ordered = in_order(documents)
    broker = new_broker(texts if is_known else [], "old")
    broker.subscribe("//*->k JOIN{k = l, infinite} //*->l", id="holds all")
    for document in ordered[:cut]:
        broker.publish(document)
    for number, text in enumerate(texts):
        broker.subscribe(text, id=str(number), language="xscl", from_state=True)
    messages = [message for document in ordered[cut:] for message in broker.publish(document)] + broker.advance()
    before = {document.id for document in ordered[:cut]}
    plans = [parse(text) for text in texts]
    for number, (plan, found) in enumerate(zip(plans, oracle(plans, ordered), strict=True)):
        if all(join.operator != "NOT FOLLOWED BY" for join in plan.joins):
            expected = Counter(each.documents for each in found if not before.issuperset(each.documents))
            assert documents_of(messages, str(number)) == expected


@CALM
@given(st.lists(queries(), min_size=1, max_size=4), document_lists(3, 7))
def test_messages_come_in_one_order_in_a_batch_and_one_by_one(texts: list[str], documents: list[Document]) -> None:
    ordered = in_order(documents)
    single, whole = new_broker(texts), new_broker(texts)
    one_by_one = [message for document in ordered for message in single.publish(document)] + single.advance()
    at_once = whole.publish(ordered) + whole.advance()
    for number in range(len(texts)):
        mine = [[each for each in some if each.subscription == str(number)] for some in (one_by_one, at_once)]
        assert mine[0] == mine[1]
