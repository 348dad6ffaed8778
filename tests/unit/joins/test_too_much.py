"""What is too much in one document or between documents is told with its query, and nobody else misses anything."""

from __future__ import annotations

import time
from collections.abc import Iterable
from unittest.mock import patch

import pytest

from weft import Broker, Document, Limits, Message
from weft.documents.table import NodeTable
from weft.engine.engine import Engine
from weft.engine.matches import Matches
from weft.joins.joins import Joins
from weft.joins.match import lookups, search
from weft.joins.match.bindings import Bindings
from weft.joins.match.lookups import Equal, Lookups
from weft.joins.output import ways
from weft.joins.output.tables import Tables

NESTED = "<a>" * 900 + "<b>1</b>" * 200 + "</a>" * 900
SMALL = "S/o[@k->k] FOLLOWED BY{k = l, 1 hour} S/p[@k->l]"
HEAVY = "S/r[i->x][*->u] FOLLOWED BY{x = y AND u = v, 1 hour} S/q[i->y][*->v]"
KEYS = "".join(f"<i>{number}</i>" for number in range(1_000))


def broker_with(limits: Limits | None = None, **queries: str) -> Broker:
    broker = Broker(limits=limits)
    for id, query in queries.items():
        broker.subscribe(query, id=id)
    return broker


def documents(*texts: str, first: int = 1) -> list[Document]:
    """Documents with timestamps, named after their root and place."""
    return [Document(text, f"{text[1]}{at}", "S", at) for at, text in enumerate(texts, first)]


def ids(messages: Iterable[Message]) -> list[tuple[str, ...]]:
    return [(message.subscription, *(message.documents or (message.document,))) for message in messages]


def told(broker: Broker) -> set[tuple[str, str]]:
    return {(error.subscription, error.document) for error in broker.refused}


# -- the first stage


def test_a_document_with_too_many_edges_costs_it_the_query_that_asks_for_them_and_no_other() -> None:
    broker = broker_with(
        Limits(max_messages=100_000),
        xpath="/b",
        edges="S//a->x[.//b->y] JOIN{y = z, 1 day} S//a->w[.//b->z]",
        sound="S/b->y JOIN{y = z, 1 day} S/a[.//b->z]",
    )

    messages = broker.publish(documents("<b>1</b>", NESTED, "<b>2</b>"))

    assert ids(messages) == [("xpath", "b1"), ("xpath", "b3"), ("sound", "b1", "a2")]
    assert told(broker) == {("edges", "a2")}
    assert broker.rejected == ()


def test_values_that_are_too_long_cost_a_document_the_query_that_compares_them_and_no_other() -> None:
    limits = Limits(max_output_bytes=20_000_000)
    broker = broker_with(limits, long="S//a->x JOIN{x = y, 1 day} S/b->y", sound="S/b->y JOIN{y = z, 1 day} S/a/@k->z")
    deep = "<a k='1'>" * 900 + "x" * 30_000 + "</a>" * 900

    messages = broker.publish(documents("<b>1</b>", deep, "<a k='1'/>"))

    assert ids(messages) == [("sound", "b1", "a2"), ("sound", "b1", "a3")]
    assert [(error.document, error.reason) for error in broker.refused] == [
        ("a2", "values of 27,000,000 bytes in one document")
    ]


def test_an_engine_that_fails_at_one_document_costs_that_document_alone() -> None:
    broker = broker_with(chain="S/r->x[k->y] JOIN{y = z, 1 day} S/s->w[k->z]")
    original = Engine.match

    def match(self: Engine, table: NodeTable, whether: bool = False, place: int | None = None) -> Matches:
        if any("bad" in source for source in map(str, table.sources)):
            raise MemoryError("no more")
        return original(self, table, whether, place)

    with patch.object(Engine, "match", match):
        messages = broker.publish(documents("<r><k>1</k></r>", "<s><k>bad</k></s>", "<s><k>1</k></s>"))

    assert ids(messages) == [("chain", "r1", "s3")]
    assert ("chain", "s2") in told(broker)


def test_joins_that_fail_as_a_whole_are_told_and_take_nobody_elses_messages_along() -> None:
    broker = broker_with(small=SMALL, xpath="/o")

    with patch.object(Joins, "join", side_effect=MemoryError("no more")):
        messages = broker.publish(documents("<o k='1'/>"))

    assert ids(messages) == [("xpath", "o1")]
    assert [error.reason for error in broker.rejected] == ["MemoryError: no more: perhaps not joined"]


# -- the second stage


def test_values_that_no_query_equates_never_meet() -> None:
    broker, pieces = broker_with(heavy=HEAVY, small=SMALL), []
    original = Lookups._equal

    def equal(self: Lookups, ranges: lookups._Ranges) -> Equal:
        pieces.append(int((ranges.end - ranges.start).sum()))
        return original(self, ranges)

    with patch.object(Lookups, "_equal", equal):
        broker.publish(documents("<o k='1'/>", *[f"<r>{KEYS}</r>"] * 20))
        messages = broker.publish(documents("<p k='1'/>", first=50))

    assert sum(pieces) <= 2
    assert ids(messages) == [("small", "o1", "p50")]
    assert broker.late == 0


def test_documents_with_too_many_equal_values_cost_the_query_that_equates_them_and_no_other() -> None:
    broker = broker_with(
        heavy=HEAVY,
        small=SMALL.replace("S/o", "S/r").replace("S/p", "S/q"),
        other="S/q[@k->x] JOIN{x = y, 1 day} S/o[@k->y]",
    )
    keyed = [f"<{name} k='1'>{KEYS}</{name}>" for name in "rrrq"]

    with patch.object(lookups, "MOST_COMPARED", 2_000):
        messages = broker.publish(documents("<o k='1'/>", *keyed))

    assert ids(messages) == [("small", f"r{at}", "q5") for at in (2, 3, 4)] + [("other", "q5", "o1")]
    assert told(broker) == {("heavy", "q5")}


def test_a_document_that_cannot_be_joined_with_those_before_it_is_told_and_later_ones_find_it() -> None:
    broker = broker_with(small=SMALL, back="S/p[@k->k] JOIN{k = l, 1 hour} S/o[@k->l]")
    original = Lookups.find

    def find(self: Lookups, rows: slice) -> object:
        if 1 in self._batch.document[rows]:
            raise MemoryError("no more")
        return original(self, rows)

    with patch.object(Lookups, "find", find):
        messages = broker.publish(documents("<o k='1'/>", "<p k='1'/>", "<o k='1'/>", "<p k='1'/>"))

    assert ("small", "o1", "p4") in ids(messages)
    assert ("back", "p2", "o3") in ids(messages)
    assert [error.document for error in broker.rejected] == ["p2"]


def test_many_equal_values_are_joined_in_pieces() -> None:
    broker = broker_with(plain="S/r[i->x] JOIN{x = y, 1 hour} S/q[i->y]")

    with patch.object(lookups, "PIECE", 500):
        messages = broker.publish(documents(*[f"<r>{KEYS}</r>"] * 5, f"<q>{KEYS}</q>"))

    assert ids(messages) == [("plain", f"r{at}", "q6") for at in range(1, 6)]
    assert broker.refused == ()


@pytest.mark.timed
def test_large_documents_that_nothing_equates_take_no_time() -> None:
    broker = broker_with(heavy=HEAVY)
    start = time.process_time()

    broker.publish(documents(*[f"<r>{KEYS * 2}</r>"] * 60))

    assert time.process_time() - start < 2


def test_documents_are_not_looked_at_when_nothing_is_left_to_try() -> None:
    broker = broker_with(Limits(max_joined=1), heavy=HEAVY)
    broker.publish(documents(*[f"<r>{KEYS * 3}</r>"] * 40))

    with patch.object(search, "Bindings", wraps=Bindings) as made:
        broker.publish(documents(f"<q>{KEYS * 3}</q>", first=100))

    assert told(broker) == {("heavy", "q100")}
    assert made.call_count < 30


# -- messages


def test_a_way_that_leads_too_far_in_a_document_is_gone_once_and_costs_no_other_query_or_document() -> None:
    broker = broker_with(
        far="SELECT <r>{ count($x//b) }</r> FROM S//a->x",
        near="SELECT <r>{ count($x/@k) }</r> FROM S/a->x",
        pairs="SELECT <r>{ count($x//b) }</r> FROM S/a->x JOIN{x/@k = y/@k, 1 day} S/c->y",
    )
    deep, asked = "<a k='1'>" * 900 + "<b>1</b>" * 300 + "</a>" * 900, []
    original = Engine.match

    def match(self: Engine, table: NodeTable, whether: bool = False, place: int | None = None) -> Matches:
        asked.append(table)
        return original(self, table, whether, place)

    with patch.object(ways, "_MOST", 100_000), patch.object(Engine, "match", match):
        messages = broker.publish(documents(*["<c k='1'/>"] * 20, deep, "<a k='1'><b/></a>"))

    assert [message.text for message in messages if message.subscription == "near"] == ["<r>1</r>"] * 2
    assert ("far", "a22") in ids(messages)
    assert [one[1] for one in ids(messages) if one[0] == "pairs"] == ["a21"] * 20 + ["a22"] * 20
    assert told(broker) == {("far", "a21")}
    assert len(asked) < 20


def test_a_document_that_cannot_be_read_again_costs_its_own_messages_alone() -> None:
    broker = broker_with(small=SMALL)
    original = Tables._read

    def read(self: Tables, documents: list[Document]) -> NodeTable:
        if any(one.id == "o2" for one in documents):
            raise MemoryError("no more")
        return original(self, documents)

    broker.publish(documents("<o k='1'/>", "<o k='1'/>"))
    broker._matcher.joins.tables._of.clear()
    with patch.object(Tables, "_read", read):
        messages = broker.publish(documents("<p k='1'/>", first=3))

    assert ids(messages) == [("small", "o1", "p3")]
    assert [str(error) for error in broker.refused] == ["small from p3: MemoryError: no more"]


def test_many_equal_values_in_many_fields_are_one_message_whatever_their_number() -> None:
    fields = "".join(f"<x>{at}</x><y>{at}</y><z>{at}</z>" for at in range(300))
    pair = "S/a[x->x1][y->y1][z->z1] FOLLOWED BY{x1=x2 AND y1=y2 AND z1=z2, 1 hour} S/b[x->x2][y->y2][z->z2]"
    broker = broker_with(pair=pair)

    messages = broker.publish(documents(f"<a>{fields}</a>", f"<b>{fields}</b>"))

    assert len(messages) == 1
    assert not broker.refused
