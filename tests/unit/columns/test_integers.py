"""Columns of integers: each operation gives what lists and loops would give."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.columns.integers import (
    Ints,
    Longs,
    as_lists,
    contains,
    distinct,
    expand,
    join_keys,
    spans,
    split_keys,
    unique_pairs,
)

few = st.lists(st.integers(0, 30), max_size=40)
ranges = st.lists(st.tuples(st.integers(0, 50), st.integers(0, 6)), max_size=20)
widths = st.sampled_from([1, 2, 3, 4, 5, 8, 9, 1 << 20, (1 << 31) - 1])


def longs(numbers: list[int]) -> Longs:
    return np.array(numbers, np.int64)


def ints(numbers: list[int]) -> Ints:
    return np.array(numbers, np.int32)


@given(ranges)
def test_ranges_are_expanded_one_after_the_other(starts_and_lengths: list[tuple[int, int]]) -> None:
    starts = longs([start for start, _ in starts_and_lengths])
    ends = longs([start + length for start, length in starts_and_lengths])

    which, numbers = expand(starts, ends)

    assert list(zip(which.tolist(), numbers.tolist(), strict=True)) == [
        (at, number) for at, (start, length) in enumerate(starts_and_lengths) for number in range(start, start + length)
    ]


def test_what_would_be_too_many_entries_is_refused_before_memory_is_spent() -> None:
    starts, ends = longs([0, 0]), longs([1 << 50, 1 << 50])

    with pytest.raises(MemoryError, match=f"{1 << 51} combinations at once, more than {1 << 24}"):
        expand(starts, ends)
    with pytest.raises(MemoryError, match="3 combinations at once, more than 2"):
        expand(longs([4, 0]), longs([6, 1]), most=2)


def test_as_many_entries_as_there_may_be_are_expanded() -> None:
    which, numbers = expand(longs([4, 0]), longs([6, 1]), most=3)

    assert (which.tolist(), numbers.tolist()) == ([0, 0, 1], [4, 5, 0])


def test_ranges_of_a_column_become_lists_and_empty_ones_empty_lists() -> None:
    assert as_lists(longs([0, 2, 2]), longs([2, 2, 5]), ints([7, 8, 9, 10, 11])) == [[7, 8], [], [9, 10, 11]]


@given(few, few)
def test_a_key_is_found_where_it_is_and_its_run_begins_and_ends_there(known: list[int], asked: list[int]) -> None:
    ordered = sorted(known)

    starts, ends = spans(longs(ordered), longs(asked))

    assert contains(longs(sorted(set(known))), longs(asked)).tolist() == [key in known for key in asked]
    assert [ordered[start:end] for start, end in zip(starts.tolist(), ends.tolist(), strict=True)] == [
        [key] * known.count(key) for key in asked
    ]


@given(few)
def test_keys_become_distinct_and_sorted(keys: list[int]) -> None:
    assert distinct(longs(keys)).tolist() == sorted(set(keys))


@given(widths, st.data())
def test_pairs_become_distinct_and_sorted_up_to_the_largest_number_there_may_be(
    width: int, data: st.DataObject
) -> None:
    largest = st.sampled_from([0, width // 2, width - 1])
    pairs = data.draw(st.lists(st.tuples(st.sampled_from([0, 1, 5, (1 << 31) - 1]), largest), max_size=12))

    left, right = unique_pairs(ints([one for one, _ in pairs]), ints([other for _, other in pairs]), width)

    assert list(zip(left.tolist(), right.tolist(), strict=True)) == sorted(set(pairs))
    assert (left.dtype.name, right.dtype.name) == ("int32", "int32")


def test_joined_keys_sort_as_their_pairs_do_and_come_apart_again() -> None:
    left, right = ints([3, 0, 3, (1 << 31) - 1]), ints([7, 5, 0, 2])

    keys = join_keys(left, right, 3)

    assert np.argsort(keys).tolist() == [1, 2, 0, 3]
    assert [column.tolist() for column in split_keys(keys, 3)] == [left.tolist(), right.tolist()]
