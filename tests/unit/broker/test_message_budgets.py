"""What a query may make of one document: what would be more is not made, is told, and costs nobody else anything."""

from __future__ import annotations

import tracemalloc
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import weft
from profiles import examples
from weft.broker.answers import deliver
from weft.documents.build import read
from weft.documents.document import as_documents
from weft.engine import Engine
from weft.languages.xpath import parse

FOUR = "<r>{for $a in //a, $b in $a//a, $c in $b//a, $d in $c//a return <x>{$a}{$b}{$c}{$d}</x>}</r>"


def nested(depth: int, inner: str = "") -> str:
    return "<a>" * depth + inner + "</a>" * depth


def broker_of(limits: weft.Limits | None, *queries: str, **options: Any) -> weft.Broker:
    broker = weft.Broker(limits, **options)
    for number, query in enumerate(queries):
        broker.subscribe(query, id=f"q{number}")
    return broker


def refused(broker: weft.Broker) -> list[tuple[str, str, str]]:
    return [(one.subscription, one.document, one.reason) for one in broker.refused]


def found(broker: weft.Broker, *documents: str) -> dict[tuple[str, str], tuple[str, ...]]:
    batch = [weft.Document(document, id=f"d{number}") for number, document in enumerate(documents)]
    return {(message.subscription, message.document): message.nodes for message in broker.publish(batch)}


@pytest.mark.slow
@pytest.mark.parametrize("approach", [None, "F", "FW", "FWR"])
def test_four_nested_variables_are_counted_before_they_are_bound(approach: Any) -> None:
    broker = broker_of(None, FOUR, "/a/@x", "//a[not(a)]", approach=approach)

    messages = found(broker, nested(100), nested(5))

    assert sorted(messages) == [("q0", "d1"), ("q2", "d0"), ("q2", "d1")]
    assert refused(broker) == [("q0", "d0", "3921225 nodes or bindings, more than 1000000")]
    assert broker.refused_count == 1


def test_a_large_text_in_many_elements_is_not_copied_for_each_of_them() -> None:
    broker = broker_of(None, "//a", "<r>{for $a in //a return $a}</r>", "<r>{for $a in /a return <x y='{$a//a}'/>}</r>")
    broker.subscribe("//a[not(a)]/b", id="small")
    document = nested(999, "<b/>" + "x" * 300_000)
    found(broker, "<a/>")
    tracemalloc.start()

    messages = found(broker, document)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert messages == {("small", "d0"): ("<b/>",)}
    reason = "more than 67108864 bytes from one document"
    assert refused(broker) == [(f"q{number}", "d0", reason) for number in range(3)]
    assert peak < 300 * 1024 * 1024


def test_a_return_that_copies_a_node_many_times_is_measured() -> None:
    query = "<r>{for $a in /a return <x>" + "{$a}" * 5_000 + "</x>}</r>"
    broker = broker_of(None, query)

    assert found(broker, f"<a>{'x' * 20_000}</a>", "<a/>") == {("q0", "d1"): (f"<r><x>{'<a/>' * 5_000}</x></r>",)}
    assert [entry[:2] for entry in refused(broker)] == [("q0", "d0")]


def test_declarations_that_many_fragments_need_are_measured_as_they_are_written() -> None:
    limits = weft.Limits(max_message_bytes=100_000, max_output_bytes=150_000)
    broker = broker_of(limits, "//*:a", "//*:a[1]/@n")
    document = f"<r xmlns:p='{'u' * 1_000}'>" + "<p:a n='1'/>" * 100 + "</r>"

    assert found(broker, document) == {("q1", "d0"): ('n="1"',)}
    assert refused(broker) == [("q0", "d0", "more than 100000 bytes from one document")]


def test_all_that_a_document_brings_out_has_a_limit_too() -> None:
    limits = weft.Limits(max_output_bytes=10_000)
    queries = [f"//a[{number} = @n]" for number in range(3)]
    queries += [f"<m{number}>{{for $a in //a[@n = {number}] return $a}}</m{number}>" for number in range(4)]
    broker = broker_of(limits, *queries, *queries[:1])
    document = "<r>" + "".join(f"<a n='{number}'>{'x' * 2_000}</a>" for number in range(4)) + "</r>"

    messages = found(broker, document, "<a n='1'/>")

    assert {key for key in messages if key[1] == "d0"} == {(f"q{number}", "d0") for number in (0, 1, 2, 3, 7)}
    reason = "more than 10000 bytes from one document in all"
    assert refused(broker) == [(f"q{number}", "d0", reason) for number in (4, 5, 6)]
    assert ("q4", "d1") in messages


def test_matches_does_not_make_messages_but_counts_bindings_that_a_condition_needs() -> None:
    long = " and ".join(f"($a/@x = '1' or not($b/@x = '{number}'))" for number in range(2, 7))
    two = f"<r>{{for $a in //a, $b in $a//a where {long} return $a}}</r>"
    broker = broker_of(weft.Limits(max_messages=1_000), "//a", two)

    assert broker.matches([nested(100), nested(5, "<a x='1'/>")]) == [["q0"], ["q0", "q1"]]
    assert [entry[0] for entry in refused(broker)] == ["q1"]
    assert "4950 nodes or bindings, more than 1000" in refused(broker)[0][2]


def test_what_needs_too_many_combinations_is_refused_and_the_rest_is_answered() -> None:
    deep = "<a>" * 900 + "<b/>" * 50_000 + "</a>" * 900
    broker = broker_of(
        None, "<r>{for $a in //a return <n>{count($a//b)}</n>}</r>", "//b[2]/@x", "/a/a[not(b)]/@x", "//b[1]"
    )

    assert found(broker, deep, "<a><b/></a>") == {
        ("q3", "d0"): ("<b/>",),
        ("q0", "d1"): ("<r><n>1</n></r>",),
        ("q3", "d1"): ("<b/>",),
    }
    ((subscription, document, reason),) = refused(broker)
    assert (subscription, document) == ("q0", "d0")
    assert "combinations at once" in reason
    assert broker.suspended == {}


def test_a_worker_tells_what_it_refused() -> None:
    engine = Engine(limits=weft.Limits(max_messages=3))
    engine.add(0, parse("//a"))
    engine.add(7, parse("//b"))
    table = read(as_documents(["<b/>", nested(4, "<b/>"), nested(3)]), engine.limits)

    rows = deliver(engine, table)

    assert rows.refused == [(1, 0, "4 nodes or bindings, more than 3")]
    assert rows.document.tolist() == [0, 1, 2, 2, 2]
    assert rows.subscription.tolist() == [7, 7, 0, 0, 0]


QUERIES = [
    "//a",
    "//b",
    "//a/@n",
    "//b/text()",
    "/a | //b",
    "//a except //a[b]",
    "<r>{for $a in //a return $a}</r>",
    "<r>{for $a in //a return <x n='{$a/@n}' m='{count($a//b)}'>{$a/b, 'x', count($a/a)}</x>}</r>",
    "<r>{for $a in //a, $b in $a//b order by $b return $b}</r>",
    "<r>{for $a in //a, $b in $a/b where $a/@n = '1' or $b = 'y' return <y>{$a}{$b/text()}</y>}</r>",
]
leaves = st.sampled_from(["<b>x</b>", "<b>y</b>", "<b/>", "<a n='1'/>", "é"])
trees = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=4).map(lambda parts: f"<a n='2'>{''.join(parts)}</a>"), max_leaves=12
)


@given(
    st.lists(trees.map(lambda tree: f"<a>{tree}</a>"), min_size=1, max_size=4),
    st.integers(1, 12),
    st.integers(1, 400),
    st.integers(1, 1_500),
)
@examples(60)
def test_messages_within_the_limits_are_the_same_and_the_others_are_told(
    documents: list[str], most: int, large: int, output: int
) -> None:
    limits = weft.Limits(max_messages=most, max_message_bytes=large, max_output_bytes=output)
    free, bounded = found(broker_of(None, *QUERIES), *documents), broker_of(limits, *QUERIES)

    messages = found(bounded, *documents)

    told = {entry[:2] for entry in refused(bounded)}
    assert messages == {key: nodes for key, nodes in free.items() if key not in told}
    assert told <= set(free) | {(f"q{number}", f"d{at}") for number in (8, 9) for at in range(4)}
    for nodes in messages.values():
        assert sum(len(node.encode()) for node in nodes) <= min(large, output)
    for subscription, document, reason in refused(bounded):
        nodes = free.get((subscription, document), ())
        size = sum(len(node.encode()) for node in nodes)
        assert "in all" in reason or "bindings" in reason or size > large
