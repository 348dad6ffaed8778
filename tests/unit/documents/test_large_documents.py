"""Offsets have 64 bits: what lies beyond 4 GB is found. That needs memory: WEFT_HUGE=1, as `make nightly` has it."""

from __future__ import annotations

import os

import numpy as np
import pytest

from weft import Broker, Limits
from weft.documents import Document, Fragments, read
from weft.documents.scan import scan_offsets

BEHIND = b'<b c="1">y</b>'
HUGE = 4 * 1024**3 + 1024
LIMITS = Limits(max_bytes=2 * HUGE)
IS_HUGE = pytest.mark.skipif("WEFT_HUGE" not in os.environ, reason="it takes up to 20 GB: WEFT_HUGE=1")
SIZES = [100, pytest.param(HUGE, marks=IS_HUGE)]
OFFSETS = ("start", "end", "text_start", "attribute_value_start")


def large(size: int) -> bytes:
    """One text that is so long, and an element behind it."""
    return b"".join([b"<a>", b"x" * size, BEHIND, b"</a>"])


def test_offsets_have_64_bits() -> None:
    table = read([Document("<a b='1'>x<c/></a>", "it")])
    offsets = scan_offsets([Document(b"<a><b/></a>", "it")], Limits(), attributes=True, texts=True).offsets

    assert {getattr(table, name).dtype for name in OFFSETS} == {np.dtype(np.int64)}
    assert offsets.dtype == np.int64


@pytest.mark.parametrize("size", SIZES)
def test_paths_behind_very_much_text_are_found(size: int) -> None:
    broker = Broker(LIMITS)
    for query in ("/a/b", "/a/d"):
        broker.subscribe(query)

    assert broker.matches(Document(large(size), "it")) == [["1"]]


@pytest.mark.parametrize("size", SIZES)
def test_a_document_behind_very_much_of_a_buffer_is_found(size: int) -> None:
    broker, source = Broker(Limits(max_bytes=50)), large(size)
    broker.subscribe("/b")

    # The first is too long to be read, the second begins beyond 4 GB.
    begin = len(source) - len(BEHIND) - len("</a>")
    assert broker.matches((memoryview(source), [begin, len(source) - len("</a>")])) == [[], ["1"]]
    assert len(broker.rejected) == 1


@pytest.mark.parametrize("size", SIZES)
def test_nodes_behind_very_much_text_are_found(size: int) -> None:
    table = read([Document(large(size), "it")], LIMITS)

    assert table.start.tolist() == [0, 3 + size]
    assert Fragments(table).xml(1) == BEHIND
    assert table.string_value(1) == "y"
