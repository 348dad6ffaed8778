"""Joins whose state is kept by what each step changes: whoever goes on with it, and whenever, finds what one would."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from change_stores import Memory
from profiles import examples
from weft import Document
from weft.documents.build import read
from weft.documents.moment import END
from weft.joins import changes
from weft.joins.changes import ChangeLog
from weft.joins.joins import Joins
from weft.joins.journal import JoinsChange, Journal
from weft.joins.time.arrivals import ANY_TIME, Arrivals
from weft.languages.xscl import parse
from xscl_strategies import document_lists, queries

PUBLISHED = (
    "SELECT <t>{ $x }</t> FROM S//b->x FOLLOWED BY{x = y, 3 seconds} S//c->y PUBLISH P",
    "P//b->x NOT FOLLOWED BY{x = y, 2 seconds} P//b->y",
    "S//a->x NOT FOLLOWED BY{x = y, 2 documents} S//b->y",
    "S//b->x FOLLOWED BY{x = y, 2 seconds} S//b->y FOLLOWED BY{y = z, 3 seconds} S//c->z "
    "NOT FOLLOWED BY{z = w, 1 second} S//b->w",
)
Row = tuple[int, tuple[str, ...], str, int]


def new_joins(texts: list[str], lateness: int) -> Joins:
    joins = Joins()
    for number, text in enumerate(texts):
        joins.add(number, parse(text))
    joins.arrivals = Arrivals(lateness * 10**9, ANY_TIME)
    return joins


def step(joins: Joins, some: list[Document]) -> list[Row]:
    found = joins.process(read(some))
    return [
        (each.number, tuple(one.id for one in each.documents), each.text, each.timestamp)
        for each in joins.messages(found)
    ]


def end(joins: Joins) -> list[Row]:
    found = joins.advance(END)
    return [
        (each.number, tuple(one.id for one in each.documents), each.text, each.timestamp)
        for each in joins.messages(found)
    ]


@pytest.mark.slow
@examples(60)
@given(
    st.lists(queries(), min_size=1, max_size=3),
    document_lists(6, 12, late=True),
    st.lists(st.tuples(st.integers(1, 3), st.sampled_from(["a", "b", "new"])), min_size=14, max_size=14),
    st.sampled_from([0, 2, 1_000]),
)
def test_several_that_take_turns_are_as_one(
    texts: list[str], documents: list[Document], turns: list[tuple[int, str]], lateness: int
) -> None:
    texts = [*texts, *PUBLISHED]
    whole, store = new_joins(texts, lateness), Memory()
    workers: dict[str, tuple[Joins, ChangeLog[JoinsChange]]] = {}
    upto, often = 0, changes._OFTEN
    changes._OFTEN = 2
    try:
        for size, name in turns:
            some, documents = documents[:size], documents[size:]
            if name not in workers or not workers[name][1].catch_up(store, upto):
                joins = new_joins(texts, lateness)
                workers[name] = joins, ChangeLog(Journal(joins), store, upto)
            joins, mine = workers[name]
            assert step(joins, some) == step(whole, some)
            mine.write(store)
            upto = mine.next
            if name == "new":
                del workers[name]
    finally:
        changes._OFTEN = often
    last = new_joins(texts, lateness)
    ChangeLog(Journal(last), store, upto)
    assert sorted(end(last)) == sorted(end(whole))
    assert (last.late, last.published) == (whole.late, whole.published)
