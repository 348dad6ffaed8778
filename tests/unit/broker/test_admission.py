"""What documents say of themselves: lxml reads the same nodes; what says nothing is rejected at its place."""

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from payment_files import ID, SETTLED, TIMESTAMP, UNANSWERED, papers, right_answers
from profiles import examples
from weft import Broker, Document, StreamRule
from weft.broker.admission import Admission
from weft.documents.build import read
from weft.documents.moment import END, START
from weft.engine.engine import Engine
from weft.plans.event_times import event_time

_WORDS = st.sampled_from(
    ["2026-03-02T08:00:00Z", "2026-03-02", "1767225600", "soon", "", " 5 ", "2026-03-02T10:00:00+02:00"]
)
_TREES = st.recursive(
    st.builds("<t>{}</t>".format, _WORDS) | st.builds("<n k='{}'/>".format, st.sampled_from("abc")),
    lambda inner: st.builds(
        lambda name, parts: f"<{name}>{''.join(parts)}</{name}>", st.sampled_from("xyt"), st.lists(inner, max_size=3)
    ),
    max_leaves=5,
)


@pytest.mark.slow
@given(st.lists(_TREES.map("<r>{}</r>".format), min_size=1, max_size=8))
@examples(60)
def test_times_and_ids_are_those_that_lxml_finds(texts: list[str]) -> None:
    admission = Admission([StreamRule(timestamp="//t", id="//n/@k")])

    table = admission.read([Document(text, str(at)) for at, text in enumerate(texts)])

    expected: list[tuple[str, Any]] = []
    for text in texts:
        root = etree.fromstring(text)
        times, keys = root.xpath("//t"), root.xpath("//n/@k")
        moment = event_time("".join(times[0].itertext())) if times else None
        if moment is not None and START < moment < END and keys:
            expected.append((str(keys[0]), moment))
    assert [(each.id, each.nanoseconds) for each in table.documents] == expected
    assert len(table.rejected) == len(texts) - len(expected)


def test_a_broker_joins_by_the_times_inside() -> None:
    some = papers()
    broker = Broker(timestamp=TIMESTAMP, id=ID, lateness=7 * 86_400)
    broker.subscribe(SETTLED, id="settled")
    broker.subscribe(UNANSWERED, id="unanswered", language="xscl")

    made = broker.publish([Document(each.text, each.name, each.stream) for each in some]) + broker.advance()

    right = right_answers(some)
    assert {name: {each.documents for each in made if each.subscription == name} for name in right} == right
    assert (len(right["settled"]), len(right["unanswered"])) == (19, 11)


def test_each_stream_has_its_own_rule() -> None:
    rules = [StreamRule("a", timestamp="//t"), StreamRule("b", timestamp="clock"), StreamRule("c", timestamp="file")]
    admission = Admission(rules)
    given_time = 5

    table = admission.read([Document("<r><t>7</t></r>", name, name, given_time) for name in "abcd"])

    assert [each.nanoseconds for each in table.documents] == [7 * 10**9, None, 5 * 10**9, 5 * 10**9]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("<r>\n  <t>noon</t></r>", "2:3: expected a time at //t, found 'noon' (byte 6)"),
        ("<r/>", "1:1: expected a time at //t, found no such node (byte 0)"),
        (
            "<r>\n<t>9999999-01-01</t></r>",
            "2:1: expected a time between 1824 and 2116 at //t, found '9999999-01-01' (byte 4)",
        ),
        ("<r><t>3000-01-01</t></r>", "1:4: expected a time between 1824 and 2116 at //t, found '3000-01-01' (byte 3)"),
        ("<r><t>5</t><i> </i></r>", "1:12: expected an id at //i, found nothing (byte 11)"),
        (
            "<?xml version='1.0' encoding='iso-8859-1'?><r>\xe9<t>x</t></r>".encode("latin-1"),
            "1:48: expected a time at //t",
        ),
    ],
)
def test_what_cannot_be_read_is_rejected_with_its_place(text: str | bytes, told: str) -> None:
    broker = Broker(timestamp="//t", id="//i")
    broker.subscribe("//r")

    assert broker.matches([Document(text, "d")]) == [[]]
    assert list(broker.publish([Document(text, "d")])) == []

    assert [str(error).startswith(f"d:{told}") for error in broker.rejected] == [True, True], broker.rejected


def test_a_column_keeps_its_rows_where_some_documents_are_rejected() -> None:
    broker = Broker(timestamp="//t")
    broker.subscribe("//r", id="r")

    found = broker.matches(pa.array([b"<r><t>1</t></r>", None, b"<r/>", b"<", b"<r><t>2</t></r>"]))

    assert found == [["r"], [], [], [], ["r"]]


def test_a_document_that_fails_costs_no_other_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    match = Engine.match

    def failing(engine: Engine, table: Any, *rest: Any, **named: Any) -> Any:
        if any("fail" in str(each.data) for each in table.documents):
            raise MemoryError("too much")
        return match(engine, table, *rest, **named)

    monkeypatch.setattr(Engine, "match", failing)
    table = Admission([StreamRule(timestamp="//t")]).read(
        [Document(text, str(at)) for at, text in enumerate(["<r><t>1</t></r>", "<fail/>", "<r><t>2</t></r>"])]
    )

    assert [(each.id, each.nanoseconds) for each in table.documents] == [("0", 10**9), ("2", 2 * 10**9)]
    assert [str(error) for error in table.rejected] == ["1:1:1: MemoryError: too much (byte 0)"]


def test_no_rule_and_no_schema_leave_a_table_as_it_is() -> None:
    documents = [Document("<a/>", "a"), Document("<", "b")]

    made, plain = Admission().read(documents), read(documents)

    assert made.documents == plain.documents
    assert [str(error) for error in made.rejected] == [str(error) for error in plain.rejected]
