"""Typed rows: the values are those that lxml finds by XPath 1.0 from each selected node."""

import math
import pickle
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from profiles import examples
from weft import Broker, ConfigurationError, Subscription, as_table, load_subscriptions
from weft.broker.typed import columns_of

_TEXTS = st.sampled_from(["1", "2.50", "-3e2", "x &amp; y", "", " 7 ", "<i>4</i><i>2</i>", "2026-03-02"])
_PARTS = st.one_of(
    st.builds("<t>{}</t>".format, _TEXTS),
    st.builds("<p k='{}'><t>{}</t></p>".format, st.sampled_from(["a", "&lt;b>", ""]), _TEXTS),
)
_ORDERS = st.builds(
    "<o{}>{}</o>".format, st.sampled_from(["", " id='7'", " id=''"]), st.lists(_PARTS, max_size=4).map("".join)
)
_DOCUMENTS = st.lists(_ORDERS, max_size=4).map(lambda parts: f"<r>{''.join(parts)}</r>")
COLUMNS = {
    "id": "@id",
    "first": "t",
    "amount": "number(t)",
    "deep": ".//t",
    "keyed": "p[@k = 'a']/t",
    "key": "p/@k",
    "many": "count(p)",
    "any": "boolean(p/t)",
    "all": ["p/t"],
    "self": ".",
}


def as_lxml_reads(node: Any) -> dict[str, Any]:
    """The same columns by XPath 1.0, with null for what is not there."""

    def first(path: str) -> str | None:
        found = node.xpath(path)
        return str(node.xpath(f"string({path})")) if found else None

    amount = node.xpath("number(t)")
    return {
        "id": first("@id"),
        "first": first("t"),
        "amount": None if math.isnan(amount) else amount,
        "deep": first(".//t"),
        "keyed": first("p[@k = 'a']/t"),
        "key": first("p/@k"),
        "many": int(node.xpath("count(p)")),
        "any": node.xpath("boolean(p/t)"),
        "all": [each.xpath("string()") for each in node.xpath("p/t")],
        "self": node.xpath("string()"),
    }


@pytest.mark.slow
@given(st.lists(_DOCUMENTS, min_size=1, max_size=5))
@examples(150)
def test_the_values_are_those_that_lxml_finds(texts: list[str]) -> None:
    broker = Broker()
    broker.subscribe("/r/o", id="typed", columns=COLUMNS)
    broker.subscribe("/r/o", id="plain")

    made = [message for message in broker.publish(texts) if message.subscription == "typed"]

    expected = [[as_lxml_reads(node) for node in etree.fromstring(text).xpath("/r/o")] for text in texts]
    found = [[dict(row) for row in message.columns or ()] for message in made]
    # XPath 1.0 knows no exponents: what has one is compared by Python.
    for row in (row for rows in expected for row in rows):
        row["amount"] = -300.0 if (row["first"] or "").strip() == "-3e2" else row["amount"]
    assert found == [rows for rows in expected if rows]


@pytest.mark.parametrize(
    ("written", "text", "expected"),
    [
        ("integer(v)", "12", 12),
        ("xs:integer(v)", "12.0", None),
        ("integer(v)", "9223372036854775808", None),
        ("decimal(v)", "1250000.10", Decimal("1250000.10")),
        ("decimal(v)", "1e30", None),
        ("decimal(v)", "0.0000000000000000001", None),
        ("decimal(v)", "NaN", None),
        ("date(v)", "2026-03-02", date(2026, 3, 2)),
        ("date(v)", "2026-03-02T00:00:00Z", None),
        ("date(v)", "99999-01-01", None),
        ("dateTime(v)", "2026-03-02T10:00:00.5+02:00", datetime(2026, 3, 2, 8, 0, 0, 500_000, UTC)),
        ("dateTime(v)", "soon", None),
        ("string(v)", " a ", " a "),
    ],
)
def test_a_value_has_the_type_of_its_column_or_is_null(written: str, text: str, expected: object) -> None:
    broker = Broker()
    broker.subscribe("/a", columns={"v": written})

    (message,) = broker.publish(f"<a><v>{text}</v></a>")

    assert message.columns is not None
    assert message.columns[0]["v"] == expected
    table = as_table([message])
    assert table.column("v").to_pylist() == [expected]
    assert pickle.loads(pickle.dumps(message)).columns == message.columns


def test_names_in_columns_mean_what_they_mean_in_the_query() -> None:
    document = "<o xmlns='urn:o' xmlns:k='urn:k' k:id='1'><t>5</t></o>"
    broker = Broker()
    columns = {"id": "@k:id", "t": "t"}
    broker.subscribe("/o", id="default", namespaces={"": "urn:o", "k": "urn:k"}, columns=columns)
    broker.subscribe("/o", id="any", ignore_namespaces=True, columns={"id": "@id", "t": "t"})

    assert [dict(row) for message in broker.publish(document) for row in message.columns or ()] == [
        {"id": "1", "t": "5"}
    ] * 2


def test_a_file_may_have_columns(tmp_path: Path) -> None:
    file = tmp_path / "s.jsonl"
    file.write_text('{"id": "o", "query": "//o", "columns": {"id": "@id", "all": ["p/t"]}}\n')

    (subscription,) = load_subscriptions(file)

    assert subscription.columns == {"id": "@id", "all": ["p/t"]}


@pytest.mark.parametrize(
    ("query", "columns", "told"),
    [
        ("//o", {"id": "@id["}, "column 'id': @id[: expected"),
        ("//o", {"id": "/o/@id"}, "expected a path from the node, such as ./o/@id"),
        ("//o", {"id": "a, $node/b"}, "column 'id': expected one path"),
        ("//o", {"id": "a } { $node/b"}, "column 'id': expected one path"),
        ("//o", {"id": ""}, "columns: expected a name and a path"),
        ("//o", {"id": ["a", "b"]}, "columns: expected a name and a path"),
        ("//o", {"id": ["@a"]}, "expected a path to elements in a list"),
        ("//o", {"id": "a/text()"}, "expected an element or an attribute"),
        ("//a | //b", {"id": "@id"}, "columns: expected a path, found union"),
        ("<r>{ for $a in //a return $a }</r>", {"id": "@id"}, "expected a query that selects nodes"),
        ("S//a->x JOIN{x = y, 1 day} S//b->y", {"id": "@id"}, "expected a query that selects nodes"),
    ],
)
def test_what_is_wrong_with_columns_is_told_when_they_are_subscribed(query: str, columns: Any, told: str) -> None:
    broker = Broker()

    with pytest.raises(ConfigurationError) as error:
        broker.subscribe(query, columns=columns)

    assert told in str(error.value)
    assert len(broker) == 0


def test_a_subscription_with_columns_comes_and_goes_like_any_other() -> None:
    broker = Broker()
    broker.subscribe(Subscription("a", "//o", columns={"id": "@id"}))
    kept = broker.publish("<o id='1'/>")
    broker.unsubscribe("a")
    broker.subscribe("//o", id="b")

    assert [message.columns for message in broker.publish("<o id='2'/>")] == [None]
    assert [dict(row) for message in kept for row in message.columns or ()] == [{"id": "1"}]


def test_tables_have_the_columns_of_all_their_messages() -> None:
    broker = Broker()
    broker.subscribe("//o", id="a", columns={"id": "@id"})
    broker.subscribe("//o", id="b", columns={"n": "count(p)"})
    broker.subscribe("//o", id="c")
    made = broker.publish("<o id='1'><p/></o>")

    assert as_table(made).to_pylist() == [
        {"document": made[0].document, "id": "1", "n": None},
        {"document": made[0].document, "id": None, "n": 1},
    ]
    assert as_table(made, "b").schema == pa.schema({"document": pa.string(), "n": pa.int64()})
    broker.subscribe("//o", id="d", columns={"id": "count(p)"})
    with pytest.raises(ConfigurationError, match="one type for 'id', found string and count"):
        as_table(broker.publish("<o/>"))


def test_columns_are_told_apart_by_name_type_and_expression() -> None:
    (column,) = columns_of({"x": "xs:dateTime( a/b )"})

    assert (column.name, column.kind, column.expression) == ("x", "dateTime", "$node/a/b")
