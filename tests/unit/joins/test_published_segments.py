"""Documents are joined many at once also where messages become documents: as if they had come one by one."""

from __future__ import annotations

from unittest.mock import patch

from hypothesis import given
from hypothesis import strategies as st

from weft.documents.build import read
from weft.documents.document import Document
from weft.joins.joining import Joining
from weft.joins.joins import Joins
from weft.joins.output.found import JoinMessage
from weft.languages.xscl import parse

QUERIES = (
    "S/a[@k->k] FOLLOWED BY{k = l, 8 seconds} S/b[@k->l]",
    "S/a[@k->k] FOLLOWED BY{k = l, 5 seconds} S/b[@k->l] PUBLISH T",
    "SELECT <c k='{$k}'/> FROM T//a[@k->k] FOLLOWED BY{k = l, 9 documents} S/c[@k->l] PUBLISH U",
    "S/c[@k->k] JOIN{k = l, 6 seconds} T//b[@k->l]",
    "U/c[@k->k] FOLLOWED BY{k = l, 1 hour} S/a[@k->l]",
    "S/d->k PUBLISH V",
    "V//d[@k->k] FOLLOWED BY{k = l, 20 seconds} S/b[@k->l]",
)
DOCUMENTS = st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from("xyz"), st.integers(0, 2)), max_size=40)


def told(joins: Joins, documents: list[Document], size: int) -> tuple[list[JoinMessage], list[str], int]:
    """The messages of documents that come so many at once, the sources that were published, and the state's size."""
    messages: list[JoinMessage] = []
    published: list[str] = []
    for start in range(0, len(documents), size):
        found = joins.process(read(documents[start : start + size]))
        messages += joins.messages(found)
        published += [str(one.data) for one in found.published]
    return messages, published, len(joins.state)


@given(drawn=DOCUMENTS, queries=st.sets(st.sampled_from(QUERIES), min_size=1), size=st.sampled_from((2, 7, 40)))
def test_batches_with_messages_that_are_documents_are_as_documents_one_by_one(
    drawn: list[tuple[str, str, int]], queries: set[str], size: int
) -> None:
    moments = [sum(apart for *_, apart in drawn[: at + 1]) for at in range(len(drawn))]
    documents = [
        Document(f"<{name} k='{key}'/>", str(at), "S", float(moment))
        for at, ((name, key, _), moment) in enumerate(zip(drawn, moments, strict=True))
    ]
    together, alone = Joins(), Joins()
    for joins in (together, alone):
        for number, query in enumerate(sorted(queries)):
            joins.add(number, parse(query))

    messages, published, held = told(together, documents, size)

    one_by_one = told(alone, documents, 1)
    assert sorted(map(repr, messages)) == sorted(map(repr, one_by_one[0]))
    assert (published, held) == one_by_one[1:]


def test_a_query_that_publishes_nothing_costs_batches_no_more_calls() -> None:
    joins, calls = Joins(), 0
    joins.add(0, parse("S/never[@k->k] FOLLOWED BY{k = l, 1 day} S/b[@k->l] PUBLISH T"))
    joins.add(1, parse("S/a[@k->k] FOLLOWED BY{k = l, 1 day} S/b[@k->l]"))
    documents = [Document(f"<{'ab'[at % 2]} k='{at // 2}'/>", str(at), "S", float(at)) for at in range(64)]
    join = Joining.join

    def counted(*arguments: object) -> None:
        nonlocal calls
        calls += 1
        join(*arguments)  # type: ignore[arg-type]

    with patch.object(Joining, "join", counted):
        found = joins.process(read(documents))

    assert found.count == 32
    assert calls == 1
