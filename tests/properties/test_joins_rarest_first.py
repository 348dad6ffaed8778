"""Whatever counts as many: the rarest value first, windows before documents, and openings by their windows."""

from __future__ import annotations

from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profiles import examples
from weft.documents.document import Document
from weft.joins.joins import Joins
from weft.joins.match import lookups, meetings
from weft.languages.xscl import parse
from xscl_oracle import oracle
from xscl_runs import new_joins, run
from xscl_strategies import document_lists, queries


@st.composite
def hot_documents(draw: st.DrawFn) -> list[Document]:
    """A value that nearly all have beside one that few have, and timestamps of which many are equal."""
    made, time = [], 0
    for number in range(draw(st.integers(4, 12))):
        time += draw(st.sampled_from((0, 0, 0, 1, 2)))
        hot, rare = draw(st.sampled_from("1112")), draw(st.sampled_from("123"))
        more = f"<c>{draw(st.sampled_from('12'))}</c>" if draw(st.booleans()) else ""
        source = f"<a k='{draw(st.sampled_from('12'))}'><b>{hot}</b><c>{rare}</c>{more}</a>"
        made.append(Document(source, f"d{number}", draw(st.sampled_from(("S", "S", "T", ""))), float(time)))
    return made


WINDOWS = ("0 seconds", "1 second", "3 seconds", "infinite", "1 document", "2 documents", "4 documents")
TERMS = ("b", "c", "@k")


@st.composite
def pair_queries(draw: st.DrawFn) -> str:
    """Two blocks, joined by up to three equalities and perhaps a comparison."""
    streams = draw(st.sampled_from(("S", "", "T"))), draw(st.sampled_from(("S", "", "T")))
    predicates = [
        f"x/{draw(st.sampled_from(TERMS))} = y/{draw(st.sampled_from(TERMS))}" for _ in range(draw(st.integers(1, 3)))
    ]
    if draw(st.booleans()):
        compared = draw(st.sampled_from(("<", "<=", ">", ">=", "!=")))
        predicates.append(f"x/{draw(st.sampled_from(TERMS))} {compared} y/{draw(st.sampled_from(TERMS))}")
    operator = draw(st.sampled_from(("JOIN", "FOLLOWED BY", "NOT FOLLOWED BY")))
    window = draw(st.sampled_from(WINDOWS))
    return f"{streams[0]}//a->x {operator}{{{' AND '.join(predicates)}, {window}}} {streams[1]}//a->y"


@pytest.mark.slow
@examples(200)
@given(
    st.lists(st.one_of(pair_queries(), pair_queries(), queries()), min_size=1, max_size=6),
    st.one_of(hot_documents(), hot_documents(), document_lists()),
    st.sampled_from([1, 3, 20]),
    st.integers(0, 2),
    st.integers(0, 2),
)
def test_all_that_is_found_is_found_rarest_first(
    texts: list[str], documents: list[Document], size: int, many: int, few: int
) -> None:
    plans = [parse(text) for text in texts]
    ordered = sorted(documents, key=lambda document: document.timestamp or 0.0)
    with patch.multiple(lookups, _MANY=many, _FEW=few), patch.object(meetings, "_FEW", few):
        assert run(plans, ordered, size) == oracle(plans, ordered)


@examples(60)
@given(st.lists(pair_queries(), min_size=2, max_size=6, unique=True), st.data())
def test_windows_are_known_when_queries_come_and_go(texts: list[str], data: st.DataObject) -> None:
    plans = [parse(text) for text in texts]
    gone = data.draw(st.sets(st.integers(0, len(plans) - 1), max_size=len(plans) - 1))
    joins = new_joins(plans)
    for number in gone:
        joins.remove(number)
    left = {number: plan for number, plan in enumerate(plans) if number not in gone}
    fresh = Joins()
    for number, plan in left.items():
        fresh.add(number, plan)
    assert _longest(joins) == _longest(fresh)


def _longest(joins: Joins) -> dict[tuple[int, int], tuple[int, str, int]]:
    predicates, measured = joins.queries.predicates, joins.queries.measured
    reach, found = predicates.reach, {}
    names = {number: str(key) for number, key in joins.stage._keys.items()}
    for pair, number in predicates._numbers.items():
        key = names[pair[0]], names[pair[1]]
        stream = int(reach.stream[number])
        found[key] = int(reach.time[number]), measured[stream] if stream else "", int(reach.documents[number])
    return found  # type: ignore[return-value]
