"""Bytes in, bounds and hashes of regions out, compiled: which children they begin with is for tests of regions."""

from __future__ import annotations

import random
from array import array

import pytest

from weft.kernel import cut


def regions(data: bytes, usual: int = 200) -> dict[bytes, int]:
    """By the content of each region its hash."""
    found = cut(data, 0, usual)
    assert found is not None
    starts, hashes, root_end, _ = found
    bounds = [*array("q", starts), root_end]
    return {data[bounds[at] : bounds[at + 1]]: each for at, each in enumerate(array("q", hashes))}


def records(number: int, seed: int = 1) -> list[str]:
    chance = random.Random(seed)
    return [f"<a>{chance.randrange(10**12):0{chance.randrange(1, 60)}}</a>" for _ in range(number)]


def test_regions_with_the_same_bytes_have_the_same_hash_wherever_they_stand() -> None:
    items = records(2_000)
    before = regions(f"<r>{''.join(items)}</r>".encode())

    after = regions(f"<r><new/>{''.join(items[:700] + items[703:])}</r>".encode())

    known = before.keys() & after.keys()
    assert all(before[each] == after[each] for each in known)
    assert len(after.keys() - known) <= 6
    assert len({*before.values(), *after.values()}) == len(before.keys() | after.keys())


def test_the_order_of_children_in_a_region_counts() -> None:
    one, other = regions(b"<r><a/><b/></r>", 100), regions(b"<r><b/><a/></r>", 100)

    assert list(one.values()) != list(other.values())


def test_regions_are_nearly_of_one_size() -> None:
    sizes = [len(each) for each in regions(f"<r>{''.join(records(20_000))}</r>".encode(), 1_000)]

    assert 800 < sum(sizes) / len(sizes) < 1_200
    assert sorted(sizes)[len(sizes) * 99 // 100] < 2_500


def test_children_that_are_all_the_same_are_cut_by_their_place() -> None:
    found = cut(b"<r>" + b"<a/>" * 10_000 + b"</r>", 0, 400)

    assert found is not None
    assert len(array("q", found[0])) == 25
    assert found[2:] == (40_003, 20_003)  # 10,001 elements, and a text before each of 10,002 tags at most


@pytest.mark.parametrize("begin", [-1, 5])
def test_a_place_outside_of_the_document_is_refused(begin: int) -> None:
    with pytest.raises(ValueError, match="expected a place in the document"):
        cut(b"<a/>", begin, 100)
