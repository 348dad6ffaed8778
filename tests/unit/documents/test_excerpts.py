"""Excerpts are what fragments are, for nodes of every kind, and need no node table to be read."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

from oracle import table_of
from weft.documents.escaping import escape_text
from weft.documents.excerpts import Excerpts
from weft.documents.fragment import Fragments
from weft.documents.table import NodeTable

DOCUMENTS = [
    "<a x='1'><b/>text<b y='/'></b><c >é &amp; &lt;<d\n/></c\t></a>",
    "<a xmlns='u:1' xmlns:p='u:2'><p:b p:z='&quot;&#10;&amp;'><c xmlns='u:3'/><d/></p:b><e xmlns=''/>t</a>",
    "<p:a xmlns:p='u:4'><p:é p:x='v'>💡<p:b xmlns:p='u:5'/></p:é>&#13;</p:a>",
    "<only/>",
]


def shown(table: NodeTable, node: int) -> str:
    return Fragments(table).text(node)


def copied(table: NodeTable, node: int) -> str:
    return shown(table, node) if node < table.elements else escape_text(table.string_value(node))


@pytest.mark.parametrize("escaped", [False, True])
@pytest.mark.parametrize("some", [slice(None), slice(0, 1), slice(3, 4), slice(1, 3)])
def test_an_excerpt_is_the_fragment(escaped: bool, some: slice) -> None:
    table = table_of(DOCUMENTS[some])
    expected = [(copied if escaped else shown)(table, node) for node in range(table.nodes)]

    excerpts = Excerpts(table, np.arange(table.nodes, dtype=np.int32), escaped)

    numbers = np.random.default_rng(0).permutation(table.nodes).astype(np.int32)
    assert excerpts.strings(numbers) == [expected[number] for number in numbers]
    data, ends = excerpts.joined(numbers)
    assert data.decode() == "".join(expected[number] for number in numbers)
    sizes = [len(expected[number].encode()) for number in numbers]
    assert excerpts.sizes(numbers).tolist() == sizes == np.diff(ends, prepend=0).tolist()


def test_some_nodes_alone_are_the_same() -> None:
    table = table_of(DOCUMENTS)
    for node in range(table.nodes):
        excerpt = Excerpts(table, np.array([node], np.int32))

        assert excerpt.strings(np.array([0, 0], np.int32)) == [shown(table, node)] * 2


def test_the_node_table_can_go() -> None:
    table = table_of(DOCUMENTS)
    expected = [shown(table, node) for node in range(table.nodes)]
    excerpts = Excerpts(table, np.arange(table.nodes, dtype=np.int32))

    gone = weakref.ref(table)
    del table
    gc.collect()

    assert gone() is None
    assert excerpts.strings(np.arange(len(expected), dtype=np.int32)) == expected
