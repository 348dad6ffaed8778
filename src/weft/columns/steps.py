"""Work that is done in steps in, its outcome out: for whoever need not wait in between."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from typing import TypeVar

Finished = TypeVar("Finished")
_ENTRIES = 4_096  # of a dictionary that are forgotten in a step


def finished(steps: Generator[None, None, Finished]) -> Finished:
    """Do all steps at once."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            outcome: Finished = end.value
            return outcome


def let_go(owners: Iterable[object]) -> Iterator[None]:
    """Forget what nobody will ask for any more, piece by piece: to give a hundred megabytes back takes its time."""
    for owner in owners:
        pieces = {} if owner is None else vars(owner)
        while pieces:
            _, piece = pieces.popitem()
            while isinstance(piece, dict) and len(piece) > _ENTRIES:
                for _ in range(_ENTRIES):
                    piece.popitem()
                yield
            del piece
            yield
