"""Where each document's nodes lie in a node table: as they are told one document at a time."""

from __future__ import annotations

from itertools import pairwise
from random import Random

from profiles import rounds
from weft.documents.build import read
from weft.documents.document import Document
from weft.headers.document_bounds import document_bounds


def drawn(chance: Random) -> str:
    inside = "".join(chance.choice(("<b/>", "<b x='1' y='2'/>", "t", "<b>t<c x='3'/>t</b>")) for _ in range(4))
    return chance.choice(("<a/>", "<a x='1'/>", f"<a>{inside}</a>", f"<a x='1'>{inside}</a>"))


def test_the_documents_of_a_batch_have_the_nodes_that_they_have_alone() -> None:
    chance = Random(1)

    for _ in range(rounds(100)):
        documents = [Document(drawn(chance), str(number)) for number in range(chance.randrange(5))]
        table = read([*documents, Document("<not", "rejected")])
        sizes = [
            [(end - first) for first, end in zip(each[::2], each[1::2], strict=True)]
            for each in document_bounds(table).tolist()
        ]
        alone = [read([document]) for document in documents]
        assert sizes == [
            [each.elements, each.first_text - each.elements, each.nodes - each.first_text] for each in alone
        ]


def test_they_follow_each_other_from_the_first_node_to_the_last() -> None:
    table = read([Document(data, data) for data in ("<a/>", "<a x='1'>t<b y='2'/></a>", "<a>t</a>", "<a/>")])

    bounds = [tuple(each) for each in document_bounds(table).tolist()]

    assert (bounds[0][0], bounds[0][2], bounds[0][4]) == (0, table.elements, table.first_text)
    assert bounds[-1][1::2] == (table.elements, table.first_text, table.nodes)
    assert all(before[1::2] == behind[::2] for before, behind in pairwise(bounds))
