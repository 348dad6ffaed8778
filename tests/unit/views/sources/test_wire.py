"""Answers on their way: what comes out is what went in, and what was damaged is told or still right in form."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from profiles import examples
from weft.documents.document import Document
from weft.errors import DocumentError
from weft.views.nodes import SCHEMA, select
from weft.views.sources.rates import Cost
from weft.views.sources.source import Answer, read_question
from weft.views.sources.wire import WireError, read_arrow, write_arrow, write_json_lines

QUESTIONS = [read_question("//b"), read_question("//@i"), read_question("//none")]


def answer_of(texts: list[str]) -> Answer:
    documents = [Document(f"<a><b i='{at}é'>{text}<c/></b></a>", id=f"d{at}") for at, text in enumerate(texts)]
    found = select("a", documents, [question.selection for question in QUESTIONS])
    tokens = {document.id: f"t-{document.id}" for document in documents}
    return Answer(found.rows, (DocumentError("x.xml", 1, 2, 3, "bäd"),), Cost(1, 1.0, 1.0), tokens)


@examples(60)
@given(st.lists(st.text(st.characters(categories=["L", "N"]), max_size=20), max_size=20))
def test_an_answer_arrives_as_it_was_sent(texts: list[str]) -> None:
    answer = answer_of(texts)

    rows, rejected, tokens = read_arrow("a", write_arrow(answer), 3)

    assert all(one.equals(other) for one, other in zip(rows, answer.rows, strict=True))
    assert list(map(str, rejected)) == list(map(str, answer.rejected))
    assert tokens == answer.tokens


BODY = write_arrow(answer_of(["one", "two", "three"]))


@examples(400)
@given(st.lists(st.tuples(st.integers(0, len(BODY) - 1), st.integers(0, 255)), min_size=1, max_size=4))
def test_a_damaged_answer_is_refused_or_rows_that_can_be_read(damages: list[tuple[int, int]]) -> None:
    body = bytearray(BODY)
    for at, byte in damages:
        body[at] = byte

    try:
        rows, _, _ = read_arrow("a", bytes(body), 3)
    except WireError:
        return

    for table in rows:
        assert table.schema.equals(SCHEMA)
        assert all(None not in (row["document"], row["path"], row["fragment"]) for row in table.to_pylist())


@examples(50)
@given(st.integers(0, len(BODY) - 9))
def test_an_answer_that_is_cut_off_is_refused_or_has_fewer_rows(size: int) -> None:
    try:
        rows, _, _ = read_arrow("a", BODY[:size], 3)
    except WireError:
        return
    assert sum(table.num_rows for table in rows) <= 6


@pytest.mark.parametrize("number", [0, 1])
def test_an_answer_to_more_than_was_asked_is_refused(number: int) -> None:
    with pytest.raises(WireError):
        read_arrow("a", BODY, number)


def test_other_rows_are_refused() -> None:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, pa.schema([("a", pa.int64())])) as writer:
        writer.write_table(pa.table({"a": [1]}))

    with pytest.raises(WireError, match="found other columns"):
        read_arrow("a", bytes(sink.getvalue()), 1)


def test_a_number_without_end_is_none_in_json() -> None:
    found = select("a", [Document("<a>" + "9" * 400 + "</a>", id="d")], [read_question("/a").selection])

    lines = write_json_lines(Answer(found.rows, (), Cost(1, 1.0, 1.0), {})).splitlines()

    assert b'"number": null' in lines[1]
