"""Values and ways in columns say what strings and steps one by one say."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from strategies import TEXTS, documents
from weft.documents.build import read
from weft.documents.document import Document
from weft.documents.kind import Kind
from weft.documents.table import NodeTable
from weft.optimizer.navigation import Navigator, passes_step
from weft.optimizer.value_tests import Values, plain_numbers
from weft.plans.comparisons import holds
from weft.plans.names import TEXT_NAME
from weft.plans.plan import Operator, Step, Value

OPERATORS: tuple[Operator, ...] = ("=", "!=", "<", "<=", ">", ">=")
TEXT_OPERATORS: tuple[Operator, ...] = ("=", "!=", "contains", "starts-with", "ends-with")
tests = st.builds(Value, st.sampled_from(OPERATORS), st.sampled_from((0.0, 1.0, 2.0, 3.5, 10.0)), st.booleans()) | (
    st.builds(Value, st.sampled_from(TEXT_OPERATORS), st.sampled_from(("", "1", "foo", "o", "é", "fo")))
)


@given(documents(), tests)
def test_values_pass_as_they_do_one_by_one(document: bytes, test: Value) -> None:
    table = read([Document(document, "1"), Document(document, "2")])

    for first, end in ((0, table.elements), (table.elements, table.first_text), (table.first_text, table.nodes)):
        nodes = np.arange(first, end, dtype=np.int32)
        expected = [holds(test, table.string_value(node)) for node in nodes.tolist()]
        assert Values(table).passing(nodes, test).tolist() == expected


@pytest.mark.parametrize("text", [*TEXTS, "007", "123456789", "1234567890", "12x", "٣"])
def test_a_few_digits_are_a_number_and_nothing_else_is(text: str) -> None:
    data = np.frombuffer(text.encode(), np.uint8)

    numbers, is_plain = plain_numbers(data, np.array([0]), np.array([data.size]))

    assert bool(is_plain[0]) == (text.isascii() and text.isdigit() and len(text) <= 9)
    assert not is_plain[0] or int(numbers[0]) == int(text)


steps = st.builds(Step, st.sampled_from((*"abc", "*", "or")), st.booleans()) | st.builds(
    Step, st.sampled_from(("x", "y", "*")), st.booleans(), st.just(Kind.ATTRIBUTE)
)
texts = st.builds(Step, st.just("text()"), st.booleans(), st.just(Kind.TEXT))


def name_of(table: NodeTable, node: int) -> str:
    """As it is in label paths."""
    if node < table.elements:
        return str(table.names[table.name[node]])
    return "@" + table.names[table.attribute_name[node - table.elements]] if node < table.first_text else TEXT_NAME


@given(documents(), steps | texts, st.data())
def test_a_step_leads_where_it_does_node_by_node(document: bytes, step: Step, data: st.DataObject) -> None:
    table = read([Document(document, "1"), Document(document, "2")])
    rows = np.array(sorted(data.draw(st.sets(st.integers(0, table.elements - 1)))), np.int32)

    place, found = Navigator(table).step(rows, step)

    first, end = {
        Kind.ELEMENT: (0, table.elements),
        Kind.ATTRIBUTE: (table.elements, table.first_text),
        Kind.TEXT: (table.first_text, table.nodes),
    }[step.kind]
    expected = set()
    for node in range(first, end):
        above = int(table.parent[node])
        while above >= 0:
            name = name_of(table, node)
            if above in rows and passes_step(step, name):
                expected.add((above, node))
            if not step.deep:
                break
            above = int(table.parent[above])
    assert {(int(rows[at]), int(node)) for at, node in zip(place, found, strict=True)} == expected
    assert place.size == len(expected)
