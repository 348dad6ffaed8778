"""Arrays that grow: what was in them stays, columns stay as long as each other, and unused room costs nothing."""

from __future__ import annotations

import numpy as np
import psutil
import pytest

from weft import Broker
from weft.kernel import arrays

TYPES = (np.int8, np.int32, np.int64)


def grown(size: int, kind: type[np.generic]) -> np.ndarray:
    return np.asarray(arrays.wider(np.arange(size).astype(kind)))


@pytest.mark.parametrize("size", [1, 1_000, arrays.SMALL, 3 * arrays.SMALL])
def test_what_was_there_stays_and_there_is_room_behind_it(size: int) -> None:
    for kind in TYPES:
        made = grown(size, kind)

        assert made.dtype == kind
        assert made.size >= 2 * size
        assert made[:size].tolist() == np.arange(size).astype(kind).tolist()
        assert not made[size : 2 * size].any()
        made[2 * size - 1] = 1


@pytest.mark.parametrize("size", [1_000, arrays.SMALL, 3 * arrays.SMALL])
def test_columns_of_different_types_stay_as_long_as_each_other(size: int) -> None:
    assert len({grown(size, kind).size for kind in TYPES}) == 1


def test_one_that_has_room_enough_is_not_copied() -> None:
    column = np.zeros(1_000, np.int32)

    assert arrays.wider(column, 999) is column
    assert np.asarray(arrays.wider(column, 1_000)).size > 1_000


def test_room_that_nobody_uses_takes_no_memory() -> None:
    before = psutil.Process().memory_info().rss

    made = [grown(arrays.SMALL, np.int32) for _ in range(8)]

    assert sum(each.nbytes for each in made) >= 8 * 4 * arrays.SPACE
    assert psutil.Process().memory_info().rss - before < 50 << 20


def test_where_addresses_are_counted_there_is_twice_the_room_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrays, "_IS_COUNTED", True)

    assert grown(arrays.SMALL, np.int32).size == 2 * arrays.SMALL


@pytest.mark.slow
@pytest.mark.parametrize("more", [[], ["/a[n3]/n199999[c = '1']"]], ids=["paths alone", "with predicates"])
def test_a_document_with_very_many_label_paths_is_answered(more: list[str]) -> None:
    broker, number = Broker(), 200_000
    for query in ("/a/*/c", "//n199999/c", "//n7/d", *more):
        broker.subscribe(query, id=query)
    children = "".join(f"<n{at}><c>1</c></n{at}>" for at in range(number))

    found = broker.matches([f"<a>{children}</a>".encode()] * 2)

    assert [sorted(ids) for ids in found] == [sorted(["//n199999/c", "/a/*/c", *more])] * 2
