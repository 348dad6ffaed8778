"""A broker and fresh documents in, the time a document by the size of its batch out."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from statistics import mean

from bench.measure import timed
from weft import Broker

SIZES = (1, 7, 64, 1_000)


def documents_needed(number: int, rounds: int) -> int:
    """How many documents it takes, if every size gets so many in each round."""
    return number * rounds * len(SIZES)


def measure_batches(broker: Broker, documents: Iterator[bytes], number: int, rounds: int) -> dict[int, float]:
    """Microseconds a document by batch size, the mean of rounds; in each every size gets so many new documents.

    Who comes later meets fewer new label paths: the order is turned round from round to round.
    """
    seconds: dict[int, list[float]] = {size: [] for size in SIZES}
    for turn in range(rounds):
        for size in SIZES if turn % 2 else reversed(SIZES):
            seconds[size].append(_seconds(broker, list(islice(documents, number)), size))
    return {size: 1e6 * mean(times) / number for size, times in seconds.items()}


def _seconds(broker: Broker, documents: list[bytes], size: int) -> float:
    batches = [documents[start : start + size] for start in range(0, len(documents), size)]
    return sum(timed(broker.matches, batch)[0] for batch in batches)
