"""Paths that go up and several ways, over random documents: what there is a rewrite for finds what lxml finds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle import Oracle, assert_same, lxml_answer, table_of, weft_answer
from profiles import examples
from strategies import TURNING, Query, absolute_paths, documents
from weft.engine import Engine
from weft.errors import UnsupportedError
from weft.languages.xpath import parse
from weft.plans.plan import Selection


def read(query: str) -> Selection | None:
    """The plan of a query; nothing where it is refused, which not all of these are."""
    try:
        return parse(query)
    except UnsupportedError:
        return None


@pytest.mark.slow
@examples(150)
@given(
    st.lists(documents(), min_size=1, max_size=4),
    st.lists(absolute_paths(TURNING).filter(lambda query: read(query.weft) is not None), min_size=1, max_size=6),
)
def test_paths_that_go_up_find_what_lxml_finds(batch: list[bytes], wanted: list[Query]) -> None:
    engine = Engine()
    for number, query in enumerate(wanted):
        plan = read(query.weft)
        assert plan is not None
        engine.add(number, plan)

    found = weft_answer(engine, table_of(batch))

    expected = lxml_answer(map(Oracle, batch), {number: query.lxml for number, query in enumerate(wanted)})
    assert_same(found, expected, {number: query.weft for number, query in enumerate(wanted)}, batch)
