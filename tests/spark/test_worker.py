"""What fails for one document inside a worker is that document's own, whatever it is."""

import random
import tracemalloc
from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import BinaryType, StructType

from weft.documents import Document, Limits, NodeTable, read
from weft.errors import DocumentError
from weft.inputs.rows import read_rows
from weft.spark import compile_subscriptions, worker, worker_documents
from weft.spark.compiled import unpack
from weft.spark.transform import _ADDED, rejected_field
from weft.spark.worker import DeliverWorker, MatchWorker
from weft.spark.worker_documents import Layout, Rejection

CODECS = ["rot13", "hex", "base64", "zlib", "bz2", "uu", "quopri", "idna", "punycode", "unicode_escape", "undefined"]
ADDED = to_arrow_schema(StructType([*_ADDED, rejected_field("rejected", BinaryType())]))
GOOD = b"<a><b n='%d'/></a>"


def encoded(codec: str) -> bytes:
    return f"<?xml version='1.0' encoding='{codec}'?><a><b/></a>".encode()


def batch(documents: list[bytes | None]) -> pa.RecordBatch:
    rows = pa.array(range(len(documents)), pa.int32())
    return pa.RecordBatch.from_arrays([rows, pa.array(documents, pa.binary())], names=["row_number", "value"])


def delivered(documents: list[bytes | None], row_tag: str | None = None) -> tuple[list[int], dict[int, str]]:
    """The rows that have a message, and the reasons of those that are rejected."""
    layout = Layout("value", ("row_number",), None, None, None, row_tag)
    work = DeliverWorker(compile_subscriptions(["//b"]), layout, ADDED, "rejected")
    rows = [row for made in work(iter([batch(documents)])) for row in made.to_pylist()]
    good = [row["row_number"] for row in rows if row["message"] is not None]
    return good, {row["row_number"]: row["rejected"]["error"] for row in rows if row["rejected"] is not None}


@pytest.mark.parametrize("row_tag", [None, "b", "a"])
def test_a_document_in_what_is_no_encoding_is_rejected_alone(row_tag: str | None) -> None:
    documents: list[bytes | None] = []
    for number, codec in enumerate(CODECS):
        documents += [GOOD % number, encoded(codec)]

    good, bad = delivered(documents, row_tag)

    assert set(range(0, 2 * len(CODECS), 2)) <= set(good)
    assert sorted({*good, *bad}) == list(range(2 * len(CODECS)))
    assert len(bad) > len(CODECS) // 2


@pytest.mark.parametrize("row_tag", [None, "b"])
@pytest.mark.parametrize("seed", range(5))
def test_mutated_documents_never_disturb_those_beside_them(row_tag: str | None, seed: int) -> None:
    chance = random.Random(seed)
    documents: list[bytes | None] = []
    for number in range(100):
        data = bytearray(encoded(chance.choice([*CODECS, "utf-8", "utf-16", "latin-1"])))
        for _ in range(chance.randrange(4)):
            data[chance.randrange(len(data))] = chance.randrange(256)
        documents += [GOOD % number, bytes(data)]

    good, _ = delivered(documents, row_tag)

    assert set(range(0, 200, 2)) <= set(good)


def test_a_table_that_cannot_be_built_is_built_document_by_document(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(documents: Iterable[Document], limits: Limits) -> NodeTable:
        given = list(documents)
        if any(document.data == b"<poison/>" for document in given):
            raise MemoryError("no room")
        return read(given, limits)

    monkeypatch.setattr(worker, "read", failing)

    good, bad = delivered([GOOD % 0, b"<poison/>", GOOD % 2, b"<a>", None, GOOD % 5])

    assert good == [0, 2, 5]
    assert bad == {1: "MemoryError: no room", 3: "no element found"}


def test_a_splitting_that_fails_in_the_middle_keeps_what_came_before(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(name: str, *given: Any) -> Iterator[object]:
        rows = read_rows(name, *given)
        yield next(rows)
        if name == "1":
            raise RecursionError("too deep")
        yield from rows

    monkeypatch.setattr(worker_documents, "read_rows", failing)
    two = b"<a><b/><b/></a>"

    good, bad = delivered([two, two, two], "b")

    assert good == [0, 0, 1, 2, 2]
    assert bad == {1: "RecursionError: too deep"}


def test_matching_has_a_null_for_what_is_rejected() -> None:
    layout = Layout("value", ("row_number", "value"), None, None, None)
    added = pa.schema([("matches", pa.list_(pa.string()))])
    work = MatchWorker(compile_subscriptions(["//b"]), layout, added, "matches", None)

    (made,) = work(iter([batch([GOOD % 0, encoded("rot13"), GOOD % 2])]))

    assert made.column("matches").to_pylist() == [["1"], None, ["1"]]


def test_a_rejected_message_tells_its_subscription() -> None:
    layout = Layout("value", ("row_number",), None, None, None)
    work = DeliverWorker(compile_subscriptions(["//b", "//c"]), layout, ADDED, "rejected")
    error = DocumentError("0", 1, 1, 0, "too many messages")

    made = work._rejections(
        batch([GOOD % 0]), [Rejection(0, error, b"", 0, 1), Rejection(0, error, b"")], unpack(work.compiled)
    )

    assert made.column("subscription").to_pylist() == ["2", None]


def test_what_very_many_want_is_written_batch_by_batch() -> None:
    layout = Layout("value", ("row_number",), None, None, None)
    work = DeliverWorker(compile_subscriptions(["//b"] * 200), layout, ADDED, None)
    document = b"<a><b>" + b"x" * 1_000_000 + b"</b></a>"
    made = work(iter([batch([document])]))

    tracemalloc.start()
    try:
        first = next(made)
        peak = tracemalloc.get_traced_memory()[1]
        sizes = [len(first), *(len(each) for each in made)]
    finally:
        tracemalloc.stop()

    assert peak < 60e6  # a batch of 16 MiB, and what it is made of
    assert sum(sizes) == 200
    assert max(sizes) <= 16


def test_a_message_larger_than_a_batch_is_a_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "_BYTES", 20)
    layout = Layout("value", ("row_number",), None, None, None)
    work = DeliverWorker(
        compile_subscriptions(["//b", "//c", "//c/@n", "<m>{ for $c in //c return $c }</m>"]), layout, ADDED, None
    )

    made = list(work(iter([batch([b"<a><b>" + b"x" * 40 + b"</b><c n='1'/></a>", b"<a><c n='&quot;'>&lt;</c></a>"])])))

    rows = [row["message"] for each in made for row in each.to_pylist()]
    assert rows == [
        "<b>" + "x" * 40 + "</b>",
        "<c n='1'/>",
        'n="1"',
        "<m><c n='1'/></m>",
        "<c n='&quot;'>&lt;</c>",
        'n="&quot;"',
        "<m><c n='&quot;'>&lt;</c></m>",
    ]
    assert all(len(each) == 1 or sum(len(row["message"]) for row in each.to_pylist()) <= 20 for each in made)
