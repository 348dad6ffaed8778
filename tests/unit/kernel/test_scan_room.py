"""What room scans keep from batch to batch: enough for usual ones, in few threads."""

from __future__ import annotations

import gc
import threading
from concurrent.futures import ThreadPoolExecutor
from unittest.mock import patch

import pytest

from weft.documents.build import read
from weft.documents.document import Document
from weft.documents.table import NodeTable
from weft.kernel import scan_columns, scan_room


def batch(elements: int) -> NodeTable:
    """Of so many elements, each with an attribute and two characters."""
    return read([Document("<r>" + "<a k='1'>éx</a>" * (elements - 1) + "</r>")])


def widened(elements: int) -> int:
    """How often a batch that comes after one of the same size has to make room."""
    with ThreadPoolExecutor(1) as fresh:
        fresh.submit(batch, elements).result()
        with patch.object(scan_columns, "wider_block", wraps=scan_room.wider_block) as wider:
            fresh.submit(batch, elements).result()
            return wider.call_count


@pytest.mark.parametrize("elements", [100, 10_000, 65_000])
def test_a_batch_finds_the_room_that_one_like_it_has_needed(elements: int) -> None:
    assert widened(elements) == 0


def test_what_only_a_very_large_batch_needs_is_not_kept() -> None:
    assert widened(70_000) > 0


def test_only_some_threads_keep_much_and_what_they_kept_goes_with_them() -> None:
    gc.collect()
    before, threads = len(scan_room._large), 3 * scan_room._MOST_LARGE
    all_scanned, told = threading.Barrier(threads + 1), threading.Barrier(threads + 1)

    def scan_and_wait() -> None:
        batch(40_000)
        all_scanned.wait()
        told.wait()

    with ThreadPoolExecutor(threads) as pool:
        for _ in range(threads):
            pool.submit(scan_and_wait)
        all_scanned.wait()
        kept = len(scan_room._large)
        told.wait()
    gc.collect()

    assert kept == scan_room._MOST_LARGE
    assert len(scan_room._large) <= before


@pytest.mark.parametrize("elements", [50, 5_000, 50_000])
def test_what_a_batch_gave_is_its_own(elements: int) -> None:
    first = batch(elements)
    before = first.name.copy(), first.start.copy(), bytes(first.characters)
    read([Document("<x>" + "<y>abc</y>" * elements + "</x>")])

    assert (first.name == before[0]).all()
    assert (first.start == before[1]).all()
    assert bytes(first.characters) == before[2] == "éx".encode() * (elements - 1)
