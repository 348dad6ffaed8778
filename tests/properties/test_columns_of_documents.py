"""A column of Arrow, or a buffer with ends, brings what a list of the same documents brings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from profiles import examples
from weft import Broker, Limits

PATHS = ("/a", "//b", "/a/@n", "//ä", "/a/text()")
QUERIES = (*PATHS, "/a[@n = '1']", "/a[b = 'é']", "//b[contains(., 'x')]", "/a[not(b)]", "/a[count(b) > 1]")
SOURCES = (
    b"",
    b"<",
    b"<a/>",
    b"<a n='1'><b>x</b></a>",
    b"<a>text</a>",
    b"<a><b/><b>&#233;</b></a>",
    "<a><b>é</b></a>".encode(),
    "<ä/>".encode(),
    b"<?xml version='1.0' encoding='latin-1'?><a><b>\xe9</b></a>",
    "<a><b>é</b></a>".encode("utf-16"),
    b"<!DOCTYPE a [<!ENTITY e 'x'>]><a><b>&e;</b></a>",
    # what ends too early, and what the document behind it could go on with
    b"<a",
    b"<a n='",
    b"<a><!-- ",
    b"<a>",
    b" --></a>",
    b"</a>",
    b"'/>",
    b"<a>\0</a>",
    b"<a/>\0",
    b"<a>\xff</a>",
    b"<a n='1" + b"1" * 5_000 + b"'/>",
)
TEXTS = ("<a/>", "<a><b>é</b></a>", "<?xml version='1.0' encoding='latin-1'?><ä/>", "<")
LIMITS = Limits(max_bytes=4_000)


def made(queries: tuple[str, ...]) -> Broker:
    broker = Broker(LIMITS)
    for query in queries:
        broker.subscribe(query)
    return broker


def told(broker: Broker) -> list[tuple[int, int, int, str]]:
    """What was rejected: the place in its batch, and why. The first document of a batch must be the first rejected."""
    numbers = [int(error.document.removeprefix("document-")) for error in broker.rejected]
    return [
        (number - numbers[0], error.line, error.column, error.reason)
        for number, error in zip(numbers, broker.rejected, strict=True)
    ]


def as_array(rows: list[bytes | None]) -> pa.Array:
    return pa.array(rows, pa.binary())


def as_part(rows: list[bytes | None]) -> pa.Array:
    return pa.array([b"<a/>", *rows, b"<b/>"], pa.large_binary()).slice(1, len(rows))


def in_pieces(rows: list[bytes | None]) -> pa.ChunkedArray:
    return pa.chunked_array([rows[:2], [], rows[2:3], rows[3:]], pa.binary())


@pytest.mark.parametrize("queries", [PATHS, QUERIES])
@pytest.mark.parametrize("column", [as_array, as_part, in_pieces])
@given(rows=st.lists(st.one_of(st.none(), st.sampled_from(SOURCES)), max_size=100))
@examples(25)
def test_an_arrow_column_brings_what_a_list_brings(
    queries: tuple[str, ...], column: Callable[[Any], Any], rows: list[bytes | None]
) -> None:
    by_list, by_column = made(queries), made(queries)
    for _ in range(2):  # the second time names are known, and batches are matched beside each other
        expected = by_list.matches([b"<", *(b"" if row is None else row for row in rows)])
        found = by_column.matches(column([b"<", *rows]))

        assert found == expected
    rejected = set(told(by_column))
    assert rejected <= set(told(by_list))
    assert len(by_list.rejected) - len(by_column.rejected) == 2 * rows.count(None)


@given(sources=st.lists(st.sampled_from(SOURCES), max_size=100))
@examples(25)
def test_a_buffer_with_ends_brings_what_a_list_brings(sources: list[bytes]) -> None:
    by_list, by_column = made(QUERIES), made(QUERIES)
    batch = [b"<", *sources]
    ends = np.cumsum([len(each) for each in batch])

    found = by_column.matches((b"".join(batch), ends))

    assert found == by_list.matches(batch)
    assert told(by_column) == told(by_list)


@given(
    texts=st.lists(st.sampled_from(["<a/>", "<a><b>é</b></a>", "<?xml version='1.0' encoding='latin-1'?><ä/>", "<"]))
)
@examples(25)
@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()])
def test_a_column_of_texts_is_read_as_text(kind: pa.DataType, texts: list[str]) -> None:
    by_list, by_column = made(QUERIES), made(QUERIES)

    assert by_column.matches(pa.array(["<", *texts], kind)) == by_list.matches(["<", *texts])
    assert told(by_column) == told(by_list)


def test_messages_of_a_column_are_those_of_a_list() -> None:
    by_list, by_column = made(QUERIES), made(QUERIES)

    messages = by_column.publish(pa.array([None, *SOURCES], pa.binary()))

    assert [each.nodes for each in messages] == [each.nodes for each in by_list.publish(SOURCES)]
    assert [error.reason for error in by_column.rejected] == [error.reason for error in by_list.rejected]


def test_a_column_of_anything_else_is_refused() -> None:
    broker = made(PATHS)
    with pytest.raises(TypeError, match="documents are a column of binary, string, large_binary, large_string"):
        broker.matches(pa.array([1, 2]))
    with pytest.raises(TypeError, match="the ends of documents in a buffer are integers"):
        broker.matches((b"<a/>", np.array([1.5])))
    for ends in ([5], [3, 2], [-1]):
        with pytest.raises(ValueError, match="from 0 to at most the 4 bytes"):
            broker.matches((b"<a/>", ends))


def test_text_that_is_no_utf_8_is_rejected_alone() -> None:
    broker = made(PATHS)
    wrong = pa.Array.from_buffers(pa.binary(), 2, pa.array([b"<a>\xff</a>", b"<a/>"]).buffers()).view(pa.string())

    assert broker.matches(wrong) == [[], ["1"]]
    assert len(broker.rejected) == 1


def test_a_pair_of_documents_is_a_batch_of_two() -> None:
    assert made(PATHS).matches((b"<a/>", b"<b/>")) == [["1"], ["2"]]
