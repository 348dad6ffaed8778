"""Counted numbers are there until they were removed as often as they were added."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from weft.columns.flags import CountedNumbers


@given(st.lists(st.integers(0, 300)), st.lists(st.integers(0, 1_000), max_size=20))
def test_numbers_are_there_as_often_as_they_were_added(added: list[int], asked: list[int]) -> None:
    numbers, counts = CountedNumbers(), Counter[int]()
    for number in added:
        if counts[number] > 1:
            counts[number] -= 1
            assert numbers.remove(number) == (not counts[number])
        else:
            counts[number] += 1
            assert numbers.add(number) == (counts[number] == 1)

    assert numbers.has(np.array(asked, np.int32)).tolist() == [counts[number] > 0 for number in asked]
