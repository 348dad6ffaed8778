"""Small operations on columns of integers that numpy leaves to its users."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
Flags = NDArray[np.bool_]
_MANY = 4_096  # keys, from which on a sort of wider ones is faster than a sort of places
MOST = 1 << 24  # entries at once, some hundred megabytes; what a batch and the queries make beyond comes in parts


def expand(starts: NDArray[np.integer], ends: NDArray[np.integer], most: int = MOST) -> tuple[Longs, Longs]:
    """Many ranges as one column: for each entry the range it comes from, and the number in it.

    Raises MemoryError, before any memory is spent, where there would be more than `most` entries.

    >>> [column.tolist() for column in expand(np.array([5, 0]), np.array([7, 1]))]
    [[0, 0, 1], [5, 6, 0]]
    """
    counts = (ends - starts).astype(np.int64)
    if (total := int(counts.sum())) > most:
        raise MemoryError(f"{total} combinations at once, more than {most}")
    which = np.repeat(np.arange(counts.size), counts)
    shift = starts - (np.cumsum(counts) - counts)
    inside = shift[which]
    inside += np.arange(which.size)
    return which, inside


def as_lists(starts: Longs, ends: Longs, entries: Ints) -> list[list[int]]:
    """Ranges of a column as lists."""
    flat = entries.tolist()
    return [flat[start:end] for start, end in zip(starts.tolist(), ends.tolist(), strict=True)]


def contains(sorted_keys: NDArray[np.integer], keys: NDArray[np.integer]) -> Flags:
    """Which keys are among the sorted ones."""
    if not sorted_keys.size:
        return np.zeros(keys.size, bool)
    at = np.searchsorted(sorted_keys, keys)
    return np.asarray(sorted_keys[np.minimum(at, sorted_keys.size - 1)] == keys)


def spans(sorted_keys: NDArray[np.integer], keys: NDArray[np.integer]) -> tuple[Longs, Longs]:
    """Where each key's run begins and ends among the sorted ones."""
    return np.searchsorted(sorted_keys, keys, "left"), np.searchsorted(sorted_keys, keys, "right")


def distinct(keys: Longs) -> Longs:
    """Distinct keys, sorted. Sorting and comparing neighbours beats np.unique on what we have."""
    keys = np.sort(keys)
    return keys[np.append(True, keys[1:] != keys[:-1])] if keys.size else keys


def stable_order(keys: Ints) -> Longs:
    """What puts keys, none below zero, in order; equal ones stay as they come.

    Many are sorted as one column with their places, which takes an eighth of what sorting places by keys does.
    """
    if keys.size < _MANY or (keys[1:] >= keys[:-1]).all():
        return np.argsort(keys, kind="stable")
    return np.sort(keys.astype(np.int64) << 32 | np.arange(keys.size)) & (1 << 32) - 1


def unique_pairs(left: Ints, right: Ints, width: int) -> tuple[Ints, Ints]:
    """Distinct pairs, sorted; `right` is below `width`."""
    bits = max(width - 1, 1).bit_length()
    return split_keys(distinct(join_keys(left, right, bits)), bits)


def join_keys(left: Ints, right: Ints, bits: int) -> Longs:
    """Pairs as one column that sorts as they do; `right` has at most so many bits."""
    return left.astype(np.int64) << bits | right


def split_keys(keys: Longs, bits: int) -> tuple[Ints, Ints]:
    """The pairs again. Shifts, since a division of a column costs more than its sort."""
    return (keys >> bits).astype(np.int32), (keys & ((1 << bits) - 1)).astype(np.int32)
