"""Which whole answers contain others: what is found by a look at nodes first is what containment says of all pairs."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

import pytest

from weft.documents.document import Document
from weft.plans.plan import Selection
from weft.views import whole_answers
from weft.views.answering import Rewriting, StoredView, find_rewriting
from weft.views.nodes import AnsweredRows, select
from weft.views.whole_answers import contained_queries
from weft.views.workload import Workload, make_query, workload_of

NAMES, CONDITIONS = "abc", ("", "", "[@x > 4]", "[a]", "[not(b)]", "/@x", "/text()")


def drawn_element(chance: Random, depth: int) -> str:
    inside = "".join(drawn_element(chance, depth - 1) for _ in range(chance.randint(0, 3))) if depth else "text"
    return "<{0} x='{1}'>{2}</{0}>".format(chance.choice(NAMES), chance.randint(1, 9), inside)


def drawn(seed: int) -> tuple[Workload, dict[str, Any]]:
    """Queries that have much to do with each other, and what two sources answer."""
    chance = Random(seed)
    texts = set[str]()
    while len(texts) < 25:
        steps = [chance.choice(("/", "//")) + chance.choice((*NAMES, "*")) for _ in range(chance.randint(1, 2))]
        texts.add("/s" + "".join(steps) + chance.choice(CONDITIONS))
    workload = workload_of(make_query(text) for text in sorted(texts))
    documents = [f"<s>{''.join(drawn_element(chance, 3) for _ in range(8))}</s>".encode() for _ in range(4)]
    return workload, {name: answers(workload, documents[at : at + 2]) for name, at in (("one", 0), ("two", 2))}


def answers(workload: Workload, documents: list[bytes]) -> Any:
    given = [Document(data, id=str(at)) for at, data in enumerate(documents)]
    return select("s", given, [query.selection for query in workload.queries]).rows


def by_containment(workload: Workload, rows: AnsweredRows) -> dict[str, frozenset[str]]:
    """The same by a look at every pair of queries."""
    numbers = [sum(each[at].num_rows for each in rows.values()) for at in range(len(workload.queries))]
    asked = [query for query, number in zip(workload.queries, numbers, strict=True) if number]
    return {
        view.name: frozenset(
            query.name
            for query in asked
            if query is not view and find_rewriting(query.selection, [StoredView(view.name, view.selection)])
        )
        for view in workload.queries
    }


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_what_is_found_is_what_containment_says_of_all_pairs(seed: int) -> None:
    workload, rows = drawn(seed)

    found = contained_queries(workload, rows)

    assert found == by_containment(workload, rows)
    assert sum(map(len, found.values())) > 20


def test_containment_is_not_asked_of_answers_that_have_nothing_in_common(monkeypatch: pytest.MonkeyPatch) -> None:
    workload = workload_of(make_query(f"/s/n{number}{end}") for number in range(30) for end in ("", "/@x"))
    items = "".join(f"<n{number} x='1'/>" for number in range(30))
    asked = []

    def find(query: Selection, views: Sequence[StoredView]) -> Rewriting | None:
        asked.append(query)
        return find_rewriting(query, views)

    monkeypatch.setattr(whole_answers, "find_rewriting", find)

    found = contained_queries(workload, {"s": answers(workload, [f"<s>{items}</s>".encode()])})

    assert sum(map(len, found.values())) == 30
    assert len(asked) == 30
