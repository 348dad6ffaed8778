"""Random queries over random documents: Weft and lxml find the same nodes in the same order."""

from hypothesis import given
from hypothesis import strategies as st
from oracle import Oracle, assert_same, table_of, weft_answer
from strategies import Query, Selection, documents, selections, written_selection

import numpy as np
from weft.engine import Engine
from weft.languages import parse


def lxml_nodes(selection: Selection, oracle: Oracle) -> list[int]:
    """A path as lxml answers it; what stands between paths as sets."""
    if isinstance(selection, Query):
        return oracle.nodes(selection.lxml)
    left, right = set(lxml_nodes(selection.left, oracle)), set(lxml_nodes(selection.right, oracle))
    return sorted({"intersect": left & right, "except": left - right}.get(selection.operator, left | right))


@given(st.lists(documents(), min_size=1, max_size=4), st.lists(selections(), min_size=1, max_size=8))
def test_all_queries_at_once_find_what_lxml_finds_for_each(batch, wanted):
    queries = {number: written_selection(selection) for number, selection in enumerate(wanted)}
    engine = Engine()
    for number, query in queries.items():
        engine.add(number, parse(query))

    found = weft_answer(engine, table_of(batch))

    oracles = [Oracle(document) for document in batch]
    expected = [
        (at, number, place)
        for at, oracle in enumerate(oracles)
        for number, selection in enumerate(wanted)
        for place in lxml_nodes(selection, oracle)
    ]
    assert_same(found, np.array(expected, np.int64).reshape(-1, 3), queries, batch)
