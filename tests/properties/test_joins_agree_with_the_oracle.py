"""Joins find what nested loops over the definitions find: on any documents, queries, orders, windows and lateness."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.documents.build import read
from weft.documents.document import Document
from weft.joins.joins import Found as Matches
from weft.joins.joins import Joins
from weft.languages.xscl import parse
from weft.plans.xscl import Xscl
from xscl_oracle import Found, oracle, place_in
from xscl_strategies import document_lists, queries

FAST = settings(max_examples=300, deadline=None)


def found_by(joins: Joins, parts: Iterable[Matches]) -> dict[int, list[Found]]:
    """What each query found, each time it did, in the oracle's words."""
    made: dict[int, list[Found]] = defaultdict(list)
    for part in parts:
        for number, _, row, _ in joins.rows(part):
            places = [
                place_in(read([document]), node)
                for document, nodes in zip(row.documents, row.nodes, strict=True)
                for node in nodes
            ]
            made[number].append(Found(tuple(document.id for document in row.documents), tuple(places)))
    return made


def run(plans: Sequence[Xscl], documents: Sequence[Document], size: int, lateness: float = 0.0) -> list[set[Found]]:
    """All documents through new joins, in batches; nothing may be found twice."""
    joins = Joins(lateness=lateness)
    for number, plan in enumerate(plans):
        joins.add(number, plan)
    made: dict[int, list[Found]] = defaultdict(list)
    for start in range(0, len(documents), size):
        part = joins.process(read(documents[start : start + size]))
        for number, found in found_by(joins, [part]).items():
            made[number] += found
    for number, found in found_by(joins, [joins.advance()]).items():
        made[number] += found
    for found in made.values():
        assert len(found) == len(set(found))
    assert joins.late == 0
    return [set(made[number]) for number in range(len(plans))]


@FAST
@given(st.lists(queries(), min_size=1, max_size=4), document_lists(), st.sampled_from([1, 2, 10]))
def test_in_order(texts: list[str], documents: list[Document], size: int) -> None:
    plans = [parse(text) for text in texts]
    ordered = sorted(documents, key=lambda document: document.timestamp or 0.0)
    assert run(plans, ordered, size) == oracle(plans, ordered)


@settings(FAST, max_examples=150)
@given(st.lists(queries(), min_size=1, max_size=3), document_lists(), st.sampled_from([1, 3]))
def test_late_documents_join_as_if_in_order(texts: list[str], documents: list[Document], size: int) -> None:
    plans = [parse(text) for text in texts]
    assert run(plans, documents, size, lateness=1_000.0) == oracle(plans, documents)


@settings(FAST, max_examples=100)
@given(st.lists(queries(1, 1), min_size=1, max_size=3), document_lists(1, 3))
def test_one_block(texts: list[str], documents: list[Document]) -> None:
    plans = [parse(text) for text in texts]
    ordered = sorted(documents, key=lambda document: document.timestamp or 0.0)
    assert run(plans, ordered, 2) == oracle(plans, ordered)


@pytest.mark.parametrize("size", [1, 4])
def test_a_document_may_stand_at_both_ends_of_a_chain(size: int) -> None:
    plans = [parse("S//a->x JOIN{x = y, infinite} S//b->y JOIN{y = z, infinite} S//a->z")]
    documents = [Document("<r><a>1</a><b>1</b></r>", str(at), "S", float(at)) for at in range(3)]
    assert run(plans, documents, size) == oracle(plans, documents)
