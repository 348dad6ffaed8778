"""Messages as columns: their texts are the same however they are read, and limits hold without anything written."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import weft
from flwr_ways import with_queries
from oracle import table_of
from weft.columns.integers import Ints
from weft.documents.document import Limits
from weft.documents.excerpts import Excerpts
from weft.engine import Engine
from weft.engine.messages.factory import Factory
from weft.engine.messages.messages import Messages
from weft.engine.messages.texts import ListedTexts, Texts
from weft.engine.messages.written import WrittenMessages
from weft.workload import generate_documents, generate_flwr, shipped

EXTRAS: dict[str, Any] = {
    "where_or": 0.4,
    "second_variable": 0.5,
    "order_by": 0.5,
    "attributes": 0.4,
    "counts": 0.4,
    "texts": 0.4,
}


@cache
def generated() -> tuple[list[bytes], dict[int, str]]:
    documents = list(generate_documents(shipped("auction"), number=20, elements=120, repeats=2, values=4, words=2))
    shape: dict[str, Any] = {"depth": 3, "values": 4, "words": 2, "descendant": 0.3}
    texts = generate_flwr(shipped("auction"), number=60, **shape)
    texts += generate_flwr(shipped("auction"), number=120, seed=1, **shape, **EXTRAS)
    return documents, dict(enumerate(texts))


def generated_messages(limits: Limits | None = None, documents: slice = slice(None)) -> Messages:
    made, queries = generated()
    engine = with_queries(Engine(limits=limits), queries)
    messages: Messages = engine.match(table_of(made[documents])).messages()
    return messages


def test_texts_are_the_same_one_by_one_all_together_and_in_one_buffer() -> None:
    texts = generated_messages().texts

    one_by_one = [texts[at] for at in range(len(texts))]
    data, ends = texts.joined(0, len(texts))

    assert len(texts) > 300
    assert list(texts) == one_by_one
    cuts = [0, *ends.tolist()]
    assert [data[start:end].decode() for start, end in pairwise(cuts)] == one_by_one
    assert (texts.sizes(0, len(texts)) >= np.diff(cuts)).all()


def test_texts_that_are_read_from_all_sides_are_the_same() -> None:
    texts = generated_messages().texts
    expected = list(texts)
    rows = [*range(0, 40), *range(30, 300), *range(len(texts) - 1, 0, -7), 5, 6, 7]

    assert [texts[row] for row in rows] == [expected[row] for row in rows]
    assert texts[-1] == expected[-1]
    with pytest.raises(IndexError):
        texts[len(texts)]


def test_documents_alone_bring_what_they_bring_in_a_batch() -> None:
    together = list(generated_messages())

    alone = [
        (at, number, text)
        for at in range(len(generated()[0]))
        for _, number, text in generated_messages(documents=slice(at, at + 1))
    ]

    assert alone == together


def test_messages_written_carefully_are_those_that_are_written_when_they_are_read() -> None:
    together = list(generated_messages())
    largest: dict[int, int] = {}
    for at, _, text in together:
        largest[at] = largest.get(at, 0) + len(text.encode())

    tight = generated_messages(Limits(max_output_bytes=max(largest.values())))

    assert list(tight) == together


def test_a_limit_refuses_the_same_whether_a_message_is_shared_or_not() -> None:
    query = "<r>{ for $a in /r/a order by $a/@k return <i>{ $a }</i> }</r>"
    document = "<r>" + "<a k='1'>éé</a>" * 50 + "</r>"
    size = len(document) + 50 * (len("<i></i>") + 2) - 50 * 2

    for limit, number in ((size + 200, 2), (size // 2, 0)):
        broker = weft.Broker(weft.Limits(max_message_bytes=limit))
        for name in "xy":
            broker.subscribe(query, id=name)
        assert len(broker.publish(document)) == number
        assert len(broker.refused) == 2 - number


def test_a_message_that_many_want_is_written_once(monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[int] = []
    strings = WrittenMessages.strings

    def counted(messages: WrittenMessages, numbers: Ints) -> list[str]:
        written.extend(numbers.tolist())
        return strings(messages, numbers)

    monkeypatch.setattr(WrittenMessages, "strings", counted)
    engine = with_queries(Engine(), dict.fromkeys(range(20), "<r>{ for $a in //a return <i>{ $a }</i> }</r>"))

    texts = engine.match(table_of(["<a/>"])).messages().texts

    assert [texts[at] for at in range(20)] == ["<r><i><a/></i></r>"] * 20
    assert len({id(texts[at]) for at in range(20)}) == 1
    assert len(written) == 1


def test_nothing_is_written_that_nobody_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> str:
        raise AssertionError("nobody reads it")

    monkeypatch.setattr(Factory, "message", fail)
    monkeypatch.setattr(WrittenMessages, "strings", fail)
    monkeypatch.setattr(Excerpts, "strings", fail)
    broker = weft.Broker()
    broker.subscribe("<r>{ for $a in //a order by $a/@k return <i>{ $a }{ count($a/b) }</i> }</r>")
    broker.subscribe("//a")

    assert len(broker.publish(["<a/>", "<a><a/></a>"])) == 4


def test_rows_of_several_sources_keep_their_order() -> None:
    first, second = ListedTexts(["a", "ü", ""]), ListedTexts(["x", "y"])
    texts = Texts.together([Texts.of(first, np.array([2, 1, 1, 0], np.int32)), Texts.of(second, np.array([0, 1, 0]))])

    mixed = texts.take(np.array([6, 1, 0, 4, 3, 2, 5]))

    assert list(mixed) == ["x", "ü", "", "x", "a", "ü", "y"]
    assert mixed[1:3] == ["ü", ""]
    data, ends = mixed.joined(1, 5)
    assert (data.decode(), ends.tolist()) == ("üxa", [2, 2, 3, 4])


def test_clauses_that_are_too_long_for_the_first_variable_are_asked_of_all_bindings() -> None:
    long = " and ".join(f"($a/@x = '{number}' or not($b = '{number}'))" for number in range(5))
    queries = {0: f"<r>{{ for $a in //a, $b in $a/b where {long} return <i>{{ $b }}</i> }}</r>"}
    engine = with_queries(Engine(), queries)

    matches = engine.match(table_of(["<a><b>0</b><b>7</b></a>", "<a><b>4</b></a>", "<a x='4'><b>4</b></a>"]))

    assert [found.tolist() for found in matches.subscriptions()] == [[0], [], [0]]
    assert [(at, text) for at, _, text in matches.messages()] == [
        (0, "<r><i><b>7</b></i></r>"),
        (2, "<r><i><b>4</b></i></r>"),
    ]
