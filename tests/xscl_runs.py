"""XSCL plans and documents in, what joins find out, in the oracle's words."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from weft.documents.build import read
from weft.documents.document import Document
from weft.joins.joins import Joins
from weft.joins.output.found import Found as Matches
from weft.plans.xscl import Xscl
from xscl_oracle import Found, place_in


def found_by(joins: Joins, parts: Iterable[Matches]) -> dict[int, list[Found]]:
    """What each query found, each time it did, in the oracle's words."""
    made: dict[int, list[Found]] = defaultdict(list)
    for part in parts:
        for due in part.due(joins.search):
            number, row = due.number, due.row
            places = [
                place_in(read([document]), node)
                for document, nodes in zip(row.documents, row.nodes, strict=True)
                for node in nodes
            ]
            made[number].append(Found(tuple(document.id for document in row.documents), tuple(places)))
    return made


def new_joins(plans: Sequence[Xscl], lateness: float = 0.0) -> Joins:
    """Joins with some queries, numbered as they come."""
    joins = Joins(lateness=lateness)
    for number, plan in enumerate(plans):
        joins.add(number, plan)
    return joins


def run(plans: Sequence[Xscl], documents: Sequence[Document], size: int, lateness: float = 0.0) -> list[set[Found]]:
    """All documents through new joins, in batches; nothing may be found twice."""
    joins = new_joins(plans, lateness)
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
