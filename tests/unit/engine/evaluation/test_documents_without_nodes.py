"""Documents without any node lie among those of a batch, as where headers say that nobody wants them.

None of the others is answered in another way.
"""

from unittest.mock import patch

import pytest

from oracle import table_of
from weft.documents.document import Document
from weft.documents.gather import with_blanks
from weft.documents.table import NodeTable
from weft.engine import Engine
from weft.engine.evaluation import batch as evaluation_batch
from weft.languages.xpath import parse

DOCUMENT = "<r><a><b>x</b><b>y</b></a><a><b>y</b><c k='2'>2</c></a><a>t<d><b>x</b></d></a></r>"
OTHER = "<r><a k='1'/><d><b>x</b></d></r>"
QUERIES = (
    *(
        "//a",
        "//b[. = 'x']",
        "//b[. != 'x']",
        "//c[@k > 1]",
        "//*[@k]",
        "//a[b]",
        "//a[not(b)]",
        "//a[b = 'x'][not(c)]",
    ),
    *(
        "//a[.//b = 'x']",
        "//*[self::c or self::d]",
        "//a[2]",
        "//a[last()]",
        "//b[contains(., 'x')]",
        "//a[count(b) = 2]",
    ),
    *("//a[b = 'x']/b", "//a[matches(b, 'x|y')]", "//a[text() = 't']", "//a[true()]", "//r[not(z)]", "/r[.//b = 'y']"),
)


def engine() -> Engine:
    made = Engine()
    for number, query in enumerate(QUERIES):
        made.add(number, parse(query))
    return made


def batch(texts: list[str]) -> NodeTable:
    """A batch in which empty texts are documents without nodes."""
    table = table_of([text for text in texts if text])
    read = iter(table.documents)
    documents = [next(read) if text else Document(b"<c/>", "blank") for text in texts]
    return with_blanks(table, documents, {id(document) for document in documents if document.id == "blank"})


def answers(engine: Engine, table: NodeTable) -> tuple[list[list[int]], list[tuple[int, int, int]]]:
    """By document the subscriptions; and (document, subscription, node of the batch)."""
    whether = [sorted(each.tolist()) for each in engine.match(table, whether=True).subscriptions()]
    columns = [column.tolist() for column in engine.match(table).nodes()]
    return whether, sorted(zip(*columns, strict=True))


@pytest.mark.parametrize("steps", [1_000_000, -1_000_000], ids=["from candidates", "thoroughly"])
@pytest.mark.parametrize("places", ["-", "---", "1-", "-1", "1-2", "--2--1--", "12-", "-12"])
def test_documents_without_nodes_match_nothing_and_change_nothing(places: str, steps: int) -> None:
    texts = [{"1": DOCUMENT, "2": OTHER, "-": ""}[place] for place in places]
    asked = engine()
    asked.match(table_of([DOCUMENT] * 40), whether=True)  # what lies behind the columns is of another batch

    with patch.object(evaluation_batch, "_FEW_STEPS", steps):
        whether, nodes = answers(asked, batch(texts))

    alone, alone_nodes = answers(engine(), table_of([text for text in texts if text])) if any(texts) else ([], [])
    place_of = [place for place, text in enumerate(texts) if text]
    assert [found for found, text in zip(whether, texts, strict=True) if text] == alone
    assert not any(found for found, text in zip(whether, texts, strict=True) if not text)
    assert nodes == [(place_of[document], number, node) for document, number, node in alone_nodes]
