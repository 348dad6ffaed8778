"""What one query would make too much of, or fails at, is told, and costs the others nothing."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Sequence
from unittest.mock import patch

import pytest

from weft import Broker, Document, Limits, Message
from weft.engine.messages.factory import Factory
from weft.errors import MessageError
from weft.joins.compile.shapes import Shape
from weft.joins.match import search
from weft.joins.match.layouts import Layouts, ShapeLayout
from weft.plans.recipe import Recipe

PLAIN = "S/r[k->x] JOIN{x = y, 1 day} S/s[k->y]"
PRODUCT = "SELECT <p>{ $x/text() }{ $y/text() }</p> FROM S/r[k->a][n->x] JOIN{a = b, 1 day} S/s[k->b][n->y]"


def document(root: str, nodes: int, at: int = 1, inside: str = "") -> Document:
    """A document with one key, and so many numbers."""
    numbers = "".join(f"<n>{number}</n>" for number in range(nodes))
    return Document(f"<{root}><k>1</k>{numbers}{inside}</{root}>", f"{root}{at}", "S", at)


def broker_with(limits: Limits | None = None, **queries: str) -> Broker:
    broker = Broker(limits=limits)
    for id, query in queries.items():
        broker.subscribe(query, id=id)
    return broker


def refused(broker: Broker) -> list[MessageError]:
    return list(broker.refused)


def by(messages: Sequence[Message], subscription: str) -> list[str]:
    return [message.text for message in messages if message.subscription == subscription]


# -- how many


def test_a_query_makes_so_many_messages_of_one_document_and_the_others_all_of_theirs() -> None:
    broker = broker_with(Limits(max_messages=10), product=PRODUCT, again=f" {PRODUCT}", plain=PLAIN)

    messages = broker.publish([document("r", 4), document("s", 4)])

    assert len(by(messages, "product")) == len(by(messages, "again")) == 10
    assert len(by(messages, "plain")) == 1
    reason = "more than 10 messages of one document"
    assert [str(error) for error in refused(broker)] == [f"product from s1: {reason}", f"again from s1: {reason}"]


def test_the_messages_of_one_document_are_counted_over_all_its_matches() -> None:
    broker = broker_with(Limits(max_messages=10), plain=PLAIN)
    broker.publish([document("r", 0, at) for at in range(8)])

    first = broker.publish(document("s", 0, 8))
    broker.publish([document("r", 0, at) for at in range(9, 13)])
    second = broker.publish([document("s", 0, 13), document("s", 0, 14)])

    assert (len(first), len(second)) == (8, 20), "each document counts for itself"
    assert [error.document for error in refused(broker)] == ["s13", "s14"]


@pytest.mark.parametrize("size", [1, 4])
def test_which_messages_are_made_does_not_depend_on_batches(size: int) -> None:
    broker = broker_with(Limits(max_messages=3), product=PRODUCT)
    documents = [document("rs"[at % 2], 2, at) for at in range(8)]

    made = [message for at in range(0, 8, size) for message in broker.publish(documents[at : at + size])]

    assert [message.documents for message in made[:6]] == [("r0", "s1")] * 3 + [("r2", "s1")] * 3
    assert len(made) == 7 * 3
    assert len(refused(broker)) == 7


def test_an_absence_makes_so_many_messages_too() -> None:
    query = "SELECT <p>{ $x }</p> FROM S/r[k->a][n->x] NOT FOLLOWED BY{a = b, 1 second} S/s[k->b]"
    broker = broker_with(Limits(max_messages=10), absent=query)
    broker.publish(document("r", 20))

    assert len(broker.advance()) == 10
    assert [(error.subscription, error.document) for error in refused(broker)] == [("absent", "r1")]


def test_messages_that_are_documents_are_counted_and_told_once() -> None:
    broker = broker_with(
        Limits(max_messages=10), made=f"{PRODUCT} PUBLISH T", read="T/p->x JOIN{x = y, 1 day} S/r/n->y"
    )

    broker.publish([document("r", 4), document("s", 4)])

    assert [error.subscription for error in refused(broker)].count("made") == 1


def test_documents_that_come_of_documents_are_counted_over_all_removes() -> None:
    again = "SELECT <p>{ $x/text() }</p> FROM %s/p->x JOIN{x = y, 1 day} S/r/n->y PUBLISH %s"
    first = "SELECT <p>{ $x/text() }</p> FROM S/r[k->a][n->x] JOIN{a = b, 1 day} S/s[k->b][n->y] PUBLISH T"
    broker = broker_with(Limits(max_joined=10), first=first, second=again % ("T", "U"), third=again % ("U", "V"))

    broker.publish([document("r", 4), document("s", 4), document("s", 1, at=2)])  # each 12

    told = [error.reason for error in refused(broker)]
    assert "more than 10 documents are published in consequence of one" in told
    assert broker._matcher.joins.published == 20  # 10 for each document that came


# -- how long


def test_all_queries_together_make_so_many_bytes_of_one_document_and_a_text_that_many_want_counts_once() -> None:
    same = {f"same{number}": PRODUCT for number in range(10)}
    broker = broker_with(
        Limits(max_output_bytes=200), **same, other=PRODUCT.replace("<p>", "<q>").replace("</p>", "</q>")
    )

    messages = broker.publish([document("r", 4), document("s", 4)])  # 16 messages of 9 bytes for each query

    assert all(len(by(messages, id)) == 16 for id in same)
    assert len(by(messages, "other")) == (200 - 16 * 9) // 9
    assert [(error.subscription, error.reason) for error in refused(broker)] == [
        ("other", "more than 200 bytes of messages of one document in all")
    ]


def test_a_query_makes_so_many_bytes_of_one_document_and_the_others_all_of_theirs() -> None:
    broker = broker_with(Limits(max_message_bytes=1_000), product=PRODUCT, large="S/r->x JOIN{x/k = y/k, 1 day} S/s->y")
    padded = document("r", 4, inside="é" * 600)

    messages = broker.publish([padded, document("s", 20)])

    assert sum(map(len, by(messages, "product"))) <= 1_000
    assert len(by(messages, "product")) == 80
    assert by(messages, "large") == []
    reason = "more than 1,000 bytes of messages of one document"
    assert [str(error) for error in refused(broker)] == [f"large from s1: {reason}"]


def test_bytes_are_counted_over_all_messages_of_one_document() -> None:
    broker = broker_with(Limits(max_message_bytes=1_000), product=PRODUCT)

    messages = broker.publish([document("r", 10), document("s", 30)])

    assert sum(len(message.text) for message in messages) == 1_000
    assert len(refused(broker)) == 1
    assert len(broker.publish(document("s", 30, 2))) == len(messages), "each document counts for itself"


@pytest.mark.parametrize(
    "query",
    [
        "S//a->x JOIN{x/@k = y, 1 day} S/s->y",
        "SELECT <t v='{ $x//a }'>{ $x//a }</t> FROM S/a->x JOIN{x/@k = y, 1 day} S/s->y",
    ],
)
def test_nested_elements_are_not_written_beyond_the_bytes(query: str) -> None:
    deep = "<a k='1'>" * 900 + "x" * 1_000_000 + "</a>" * 900
    broker = broker_with(nested=query, plain="S/a[@k->x] JOIN{x = y, 1 day} S/s->y")
    broker.publish(Document("<s>1</s>", "s", "S", 1))
    tracemalloc.start()

    messages = broker.publish(Document(deep, "deep", "S", 2))

    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert sum(len(text) for text in by(messages, "nested")) <= Limits().max_message_bytes
    assert len(by(messages, "plain")) == 1
    assert [error.subscription for error in refused(broker)] == ["nested"]
    assert peak < 400_000_000


# -- how much is tried


@pytest.mark.timed
@pytest.mark.parametrize(
    "query",
    [
        "S/r[n->a][n->b][n->c] JOIN{a = x AND b = y AND c = z AND a != y, 1 day} S/s[n->x][n->y][n->z]",
        "S/r[n->a][n->b][n->c] NOT FOLLOWED BY{a = x AND b = y AND c = z AND a < y, 1 day} S/s[n->x][n->y][n->z]",
        "S/r[n->a][n->b] JOIN{a = x, 1 day} S/s[n->x][n->y] JOIN{y = p AND b = q AND a != q, 1 day} S/r[n->p][n->q]",
    ],
    ids=["pair", "absence", "chain"],
)
def test_a_product_of_nodes_ends(query: str) -> None:
    broker = broker_with(product=query, plain=PLAIN)
    numbers = "".join(f"<n>{'7' if at % 2 else at}</n>" for at in range(400))
    documents = [
        Document(f"<{root}><k>1</k>{numbers}</{root}>", f"{root}{at}", "S", at) for at, root in enumerate("rsr")
    ]
    start = time.process_time()

    with patch.object(search, "_FOR_EACH", 0):
        messages = broker.publish(documents) + broker.advance()

    assert time.process_time() - start < 10
    assert len(by(messages, "plain")) == 2
    assert {error.subscription for error in refused(broker)} <= {"product"}


def test_too_much_to_try_is_told() -> None:
    query = "S/r[k->k][n->a] JOIN{k = l AND a < x AND a > x, 1 day} S/s[k->l][n->x]"  # each a is tried with each x
    broker = broker_with(Limits(max_messages=1), product=query, plain=PLAIN)

    messages = broker.publish([document("r", 400), document("s", 400)])

    assert len(by(messages, "plain")) == 1
    assert [str(error) for error in refused(broker)] == [
        "product from s1: to be joined, more than 100,002 documents and nodes would have to be tried"
    ]


def test_large_documents_with_many_equal_values_are_joined_and_not_refused() -> None:
    broker = broker_with(large="S/r->r[n->x] JOIN{x = y, 1 day} S/s->s[n->y]")

    assert len(broker.publish([document("r", 5_000), document("s", 5_000)])) == 1
    assert refused(broker) == []


# -- what fails


def many_variables(number: int) -> str:
    return "".join(f"[n->v{at}]" for at in range(number))


def test_as_many_variables_as_a_query_may_have_are_no_matter() -> None:
    shown = ", ".join(f"$v{at}" for at in range(1_500))
    deep = f"SELECT <p>{{ {shown} }}</p> FROM S/r[k->a]{many_variables(1_500)} JOIN{{a = b, 1 day}} S/s[k->b]"
    broker = broker_with(before=PLAIN, deep=deep, absent=deep.replace("JOIN", "NOT FOLLOWED BY"), behind=f" {PLAIN}")

    messages = broker.publish([document("r", 1), document("t", 1)]) + broker.advance()

    assert [message.subscription for message in messages] == ["absent"]
    assert refused(broker) == []


def test_a_search_that_fails_costs_only_its_own_messages() -> None:
    broker = broker_with(
        before=PLAIN,
        chain="S/r->r JOIN{r/k = s/k, 1 day} S/s->s JOIN{r/k = t/k, 1 day} S/t->t",
        absent=PLAIN.replace("JOIN", "NOT FOLLOWED BY"),
        behind=f" {PLAIN}",
    )
    original = Layouts.of

    def failing(self: Layouts, shape: Shape) -> ShapeLayout:
        if len(shape.sides) == 3 or shape.is_absence:
            raise ArithmeticError("thirteen")
        return original(self, shape)

    with patch.object(Layouts, "of", failing):
        messages = broker.publish([document("r", 1), document("s", 1), document("t", 1)]) + broker.advance()

    assert [message.subscription for message in messages] == ["before", "behind"]
    assert {error.subscription for error in refused(broker)} == {"chain", "absent"}
    assert all("ArithmeticError" in error.reason for error in refused(broker))


def test_a_message_that_cannot_be_written_costs_only_itself() -> None:
    broker = broker_with(product=PRODUCT, plain=PLAIN)

    def message(self: Factory, recipe: Recipe, groups: list[list[list[int]]]) -> str:
        text = original(self, recipe, groups)
        if text == "<p>12</p>":
            raise KeyError("a hole")
        return text

    original = Factory.message
    with patch.object(Factory, "message", message):
        messages = broker.publish([document("r", 3), document("s", 3)])

    assert "<p>12</p>" not in by(messages, "product")
    assert (len(by(messages, "product")), len(by(messages, "plain"))) == (8, 1)
    assert [str(error) for error in refused(broker)] == ["product from s1: KeyError: 'a hole'"]
