"""Columns made for all nodes at once say what is found for each node alone."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from profiles import examples
from weft.documents.build import read
from weft.documents.document import Document
from weft.documents.fragment import Fragments
from weft.documents.table import NodeTable
from weft.plans.numbers import number
from weft.views.row_columns import RowColumns

_TEXTS = ("", "12", " -1.5e3 ", "word", "&amp;é", "<![CDATA[<x>]]>", "<!-- c -->", "-", ".", "\U0001d4b3")
_STARTS = ("<{0}>", "<{0} k='1'>", '<{0} k=">" a="é">', "<{0} xmlns:p='urn:p'>", "<{0}\n>")
_ENDS = ("</{0}>", "</{0} >", "</{0}\n\t>")


@st.composite
def elements(draw: st.DrawFn, depth: int = 3) -> str:
    name = draw(st.sampled_from(("a", "bb", "é")))
    if not depth or draw(st.booleans()):
        if draw(st.booleans()):
            return f"<{name} k='/'/>" if draw(st.booleans()) else f"<{name}/>"
        inside = [draw(st.sampled_from(_TEXTS))]
    else:
        inside = draw(st.lists(elements(depth - 1) | st.sampled_from(_TEXTS), max_size=4))
    start, end = draw(st.sampled_from(_STARTS)), draw(st.sampled_from(_ENDS))
    return f"{start.format(name)}{''.join(inside)}{end.format(name)}"


def path_of(table: NodeTable, node: int) -> list[str]:
    if node < 0:
        return []
    if node < table.elements:
        last = table.names[table.name[node]]
    elif node < table.first_text:
        last = "@" + table.names[table.attribute_name[node - table.elements]]
    else:
        last = "text()"
    return [*path_of(table, int(table.parent[node])), last]


@given(st.lists(elements(), min_size=1, max_size=3))
@examples(150)
def test_columns_say_what_each_node_says(documents: list[str]) -> None:
    table = read([Document(text, id=str(at)) for at, text in enumerate(documents)])
    assert not table.rejected
    nodes = np.arange(table.nodes, dtype=np.int32)
    nodes = nodes[np.argsort(table.order[nodes], kind="stable")]
    columns, fragments = RowColumns(table), Fragments(table)

    offsets, lengths = columns.offsets(nodes).tolist(), columns.lengths(nodes).tolist()
    values, numbers = (each.to_pylist() for each in columns.values(nodes))
    rows = zip(nodes.tolist(), offsets, lengths, columns.paths(nodes).to_pylist(), values, numbers, strict=True)
    assert columns.fragments(nodes).to_pylist() == [fragments.text(node) for node in nodes.tolist()]
    for node, offset, length, path, value, as_number in rows:
        assert path == path_of(table, node)
        is_element = node < table.elements
        has_inside = is_element and table.last[node] > node
        assert value == (None if has_inside else table.string_value(node))
        expected = number(value or "")
        assert as_number is None if math.isnan(expected) else as_number == expected
        source = table.sources[int(table.node_document[node])]
        if is_element:
            assert length == fragments.length(node)
            assert source[offset : offset + 1] == b"<"
        else:
            assert length == 0
            assert source[offset : offset + 1] != b"<" or source[offset:].startswith(b"<![CDATA[")


@pytest.mark.parametrize("text", ["<a>1<b>x</b ><b/><b></b>é<b k='>'>2</b></a>", "<a><b>\n</b\n></a>"])
def test_fragments_are_the_bytes_of_the_source_as_lxml_reads_them(text: str) -> None:
    table = read([Document(text, id="d")])
    nodes = np.arange(table.elements, dtype=np.int32)

    found = RowColumns(table).fragments(nodes).to_pylist()

    expected = [etree.tostring(each, with_tail=False, method="c14n") for each in etree.fromstring(text).iter()]
    assert [etree.tostring(etree.fromstring(each), method="c14n") for each in found] == expected


def test_no_nodes_have_no_columns() -> None:
    columns, none = RowColumns(read([Document("<a/>", id="d")])), np.zeros(0, np.int32)

    assert len(columns.paths(none)) == len(columns.fragments(none)) == columns.offsets(none).size == 0
