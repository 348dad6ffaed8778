"""Documents in, lists of 64 of them out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

BATCH = 64


def batches(documents: Iterable[bytes]) -> Iterator[list[bytes]]:
    """The same documents in the same order, a batch at a time."""
    left = iter(documents)
    while batch := list(islice(left, BATCH)):
        yield batch
