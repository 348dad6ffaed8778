"""Joins without a state: what is too much in one document costs no other its occurrences."""

from __future__ import annotations

import logging

import pytest

from weft import Document
from weft.documents.build import read
from weft.joins.joins import Joins
from weft.joins.pairs import Candidate, PairJoins
from weft.languages import parse
from weft.plans.xscl import Xscl

DEEP = "<a>" * 900 + "<b>1</b>" * 20_000 + "</a>" * 900


def test_a_document_with_too_many_edges_is_told_and_the_others_have_their_occurrences(
    caplog: pytest.LogCaptureFixture,
) -> None:
    joins = Joins()
    for number, query in enumerate(
        ["S//a->x[.//b->y] JOIN{y = z, 1 day} S//a->w[.//b->z]", "S/o[@k->k] FOLLOWED BY{k = l, 1 hour} S/p[@k->l]"]
    ):
        plan = parse(query, "xscl")
        assert isinstance(plan, Xscl)
        joins.add(number, plan)
    pairs = PairJoins(joins)
    batch = [
        Document("<o k='1'/>", "good", "S", 1),
        Document(DEEP, "deep", "S", 2),
        Document("<p k='1'/>", "too", "S", 3),
    ]

    with caplog.at_level(logging.WARNING):
        document, _, key = pairs.occurrences(read(batch))

    assert {0, 2} <= set(document.tolist())
    assert len({int(each) for at, each in zip(document, key, strict=True) if at != 1}) == 1
    assert "deep: not joined by all queries" in caplog.text


def test_a_candidate_whose_values_are_those_of_different_nodes_is_no_match() -> None:
    joins = Joins()
    plan = parse("S/r/i->n[x->x][y->y] JOIN{x = u AND y = v, 1 hour} S/q->q[x->u][y->v]", "xscl")
    assert isinstance(plan, Xscl)
    joins.add(0, plan)
    pairs = PairJoins(joins)
    earlier = Document("<r><i><x>1</x></i><i><y>2</y></i></r>", "r", "S", 1)
    whole = Document("<r><i><x>1</x><y>2</y></i></r>", "whole", "S", 1)
    later = Document("<q><x>1</x><y>2</y></q>", "q", "S", 2)
    failures: dict[tuple[int, str], str] = {}

    candidates = [Candidate(opening, one, later) for opening, *_ in pairs.openings for one in (earlier, whole)]

    told = {message.documents[0].id for message in pairs.messages(candidates, failures)}
    assert told == {"whole"}
    assert not failures
