"""Weft's own joins, the paper's templates on DuckDB in all their forms, and nested loops find the same documents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profiles import examples
from weft.documents.build import read
from weft.documents.document import Document
from weft.joins.joins import Joins
from weft.joins.match.readings import reading
from weft.joins.match.witness import FirstStage
from weft.languages.xscl import parse
from weft.plans.xscl import Xscl
from weft.reference.templates.reference import Reference, ViewMode
from weft.reference.templates.relations import WitnessReading, WitnessRows
from xscl_oracle import oracle
from xscl_strategies import document_lists, queries

Pairs = set[tuple[int, str, str]]


def is_for_templates(plan: Xscl) -> bool:
    """Whether the paper's templates can have a query: two documents, and values as they stand there."""
    terms = [term for one in plan.joins[0].predicates for term in (one.left, one.right)]
    return plan.joins[0].operator != "NOT FOLLOWED BY" and not any(term.derived for term in terms)


TWO_BLOCKS = queries(2, 2).map(parse).filter(is_for_templates)


class Relations:
    """The first stage, asked for what a reference wants."""

    def __init__(self, reference: Reference) -> None:
        self._stage = FirstStage()
        variables = reference.variables
        self._codes = {
            self._stage.add_variable(definition, code in reference.valued): code
            for code, definition in enumerate(variables)
        }
        self._alone = {above for above, below in reference.edges if above == below}
        self._edges = {
            self._stage.add_edge(variables[above], variables[below].links): (above, below)
            for above, below in reference.edges
            if above != below
        }

    def witnesses(self, document: Document, docid: int) -> WitnessRows:
        """R_binW, R_docW and R_docTSW of a document."""
        found = self._stage.read(read([document]))
        rows = list(zip(found.variable.tolist(), found.node.tolist(), found.value.tolist(), strict=True))
        bindings = {
            (self._codes[number], self._codes[number], node, node)
            for number, node, _ in rows
            if self._codes[number] in self._alone
        }
        bindings |= {
            (*self._edges[edge], above, below)
            for edge, above, below in zip(found.edge.tolist(), found.above.tolist(), found.below.tolist(), strict=True)
        }
        values = {node: value for _, node, value in rows if value >= 0}
        texts = self._stage.values.texts
        readings = tuple(WitnessReading(value, *reading(texts[value])) for value in set(values.values()))
        return WitnessRows(
            docid, document.nanoseconds or 0, document.stream, tuple(bindings), tuple(values.items()), readings
        )


def by_reference(plans: Sequence[Xscl], documents: Sequence[Document], views: ViewMode, size: int) -> Pairs:
    reference = Reference(plans, views)
    relations = Relations(reference)
    made = [relations.witnesses(document, docid) for docid, document in enumerate(documents)]
    return {
        (match.qid, documents[match.docid1].id, documents[match.docid2].id)
        for start in range(0, len(made), size)
        for match in reference.process(made[start : start + size])
    }


def by_joins(plans: Sequence[Xscl], documents: Sequence[Document], size: int) -> Pairs:
    joins = Joins(lateness=1_000.0)
    for number, plan in enumerate(plans):
        joins.add(number, plan)
    parts = [documents[start : start + size] for start in range(0, len(documents), size)]
    pairs: Pairs = set()
    for found in [*(lambda part=part: joins.process(read(part)) for part in parts), joins.advance]:
        for due in found().due(joins.search):
            first, second = due.row.documents
            pairs.add((due.number, first.id, second.id))
    return pairs


@pytest.mark.slow
@pytest.mark.parametrize("views", get_args(ViewMode))
@examples(60)
@given(st.lists(TWO_BLOCKS, min_size=1, max_size=4), document_lists(), st.sampled_from([1, 3]))
def test_all_find_the_same(views: ViewMode, plans: list[Xscl], documents: list[Document], size: int) -> None:
    expected = {(number, *found.documents) for number, each in enumerate(oracle(plans, documents)) for found in each}
    assert by_joins(plans, documents, size) == expected
    assert by_reference(plans, documents, views, size) == expected
