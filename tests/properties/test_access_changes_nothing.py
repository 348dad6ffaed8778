"""However the parts of conditions are retrieved, and whenever that changes: the answers are those of lxml."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from accesses import all_in, all_out, by_chance, matched, retrieve
from oracle import Oracle, assert_same, lxml_answer, table_of, weft_answer
from strategies import Open, documents
from weft.engine import Engine
from weft.engine.access import Access
from weft.engine.shared.plan import SharedPlan
from weft.languages.xpath import parse

#: Few names and values, so that conditions share their parts, and these hold and fail in every combination.
TAGS = tuple(Open(name, x) for name in "aab" for x in ((), ('x="1"',), ('x="2"',)))
PARTS = (
    *("a", "b", "a/b", ".//b", "@x", "a > 0", "b < 3", "a = '1'", "@x > 0", "@x = '1'", "@x != 2", ".//a < 2"),
    *("not(a > 1)", "not(b)", "not(@x = '2')", "contains(., '1')", "contains(a, '1')", ". != 1", "a[b]", "b/a > 1"),
    *("a[@x > 1][b]", "a or b", "a[1] > 1", "count(a) > 1", "position() < 3", "matches(@x, '1|2')"),
)
#: A condition that lxml does not know, and what it comes to.
MATCHES = ("matches(@x, '1|2')", "(contains(@x, '1') or contains(@x, '2'))")
conditions = st.lists(st.sampled_from(PARTS), min_size=1, max_size=4).map(
    lambda parts: "".join(f"[{p}]" for p in parts)
)
queries = st.lists(
    st.builds("{}{}{}".format, st.sampled_from(("//a", "//*", "/a", "//b/a")), conditions, st.sampled_from(("", "/b"))),
    min_size=1,
    max_size=8,
)
batches = st.lists(documents(TAGS, pieces=("1", "2", "3"), size=24), min_size=1, max_size=3)
changes = st.one_of(st.just(all_out), st.just(all_in), st.integers(0, 1 << 30))


def chosen(change: int | Callable[[SharedPlan], Access], shared: SharedPlan) -> Access:
    return by_chance(shared, change) if isinstance(change, int) else change(shared)


def engine_for(wanted: list[str]) -> Engine:
    engine = Engine()
    for number, query in enumerate(wanted):
        engine.add(number, parse(query))
    return engine


def assert_right(engine: Engine, batch: list[bytes], wanted: list[str]) -> None:
    table, asked = table_of(batch), dict(enumerate(wanted))
    in_lxml = {number: query.replace(*MATCHES) for number, query in asked.items()}
    answer = lxml_answer(map(Oracle, batch), in_lxml)
    assert_same(weft_answer(engine, table), answer, asked, batch)
    by_document = [np.unique(answer[answer[:, 0] == at, 1]).tolist() for at in range(len(batch))]
    assert [some.tolist() for some in matched(engine, table)] == by_document


@pytest.mark.slow
@given(st.lists(st.tuples(changes, batches), min_size=1, max_size=4), queries)
def test_access_may_change_between_any_two_batches(
    life: list[tuple[int | Callable[[SharedPlan], Access], list[bytes]]], wanted: list[str]
) -> None:
    engine = engine_for(wanted)
    assert_right(engine, life[0][1], wanted)

    for change, batch in life:
        retrieve(engine, chosen(change, engine.large.shared))
        assert_right(engine, batch, wanted)


@pytest.mark.slow
@given(st.integers(0, 1 << 30), st.lists(batches, min_size=1, max_size=4), queries, st.integers(1, 400))
def test_batches_are_right_while_another_access_is_made_in_steps(
    seed: int, life: list[list[bytes]], wanted: list[str], calls: int
) -> None:
    engine = engine_for(wanted)
    assert_right(engine, life[0], wanted)
    engine.retrieve(by_chance(engine.large.shared, seed))

    for batch in life:
        assert_right(engine, batch, wanted)
        for _ in range(calls // len(life)):
            engine.keep_up()
    engine.settle()

    assert_right(engine, life[-1], wanted)


@pytest.mark.slow
@given(st.integers(0, 1 << 30), batches, queries, queries)
def test_what_is_added_and_swept_later_is_answered_beside_what_was_chosen(
    seed: int, batch: list[bytes], wanted: list[str], more: list[str]
) -> None:
    engine = engine_for(wanted)
    assert_right(engine, batch, wanted)
    retrieve(engine, by_chance(engine.large.shared, seed))

    for number, query in enumerate(more, len(wanted)):
        engine.add(number, parse(query))
    assert_right(engine, batch, wanted + more)
    for _ in engine.large.renew(engine.large.plans):
        pass
    assert_right(engine, batch, wanted + more)
    everything = wanted + more
    engine.sweep(lambda number: parse(everything[number]))
    engine.settle()

    assert_right(engine, batch, everything)
