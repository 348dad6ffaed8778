"""Work in steps: done at once where nobody waits, and what is let go goes piece by piece."""

from __future__ import annotations

from collections.abc import Generator
from weakref import ref

from weft.columns.steps import finished, let_go


def test_all_steps_are_done_and_the_outcome_comes_back() -> None:
    done: list[int] = []

    def steps() -> Generator[None, None, str]:
        for number in range(3):
            done.append(number)
            yield
        return "made"

    assert finished(steps()) == "made"
    assert done == [0, 1, 2]


class Piece:
    """Something that is kept."""


class Owner:
    """Keeps two pieces and a large dictionary."""

    def __init__(self) -> None:
        self.first, self.second = Piece(), Piece()
        self.numbers = dict.fromkeys(range(20_000))


def test_what_is_let_go_goes_piece_by_piece_and_large_dictionaries_in_parts() -> None:
    owner = Owner()
    first, numbers = ref(owner.first), owner.numbers
    left = [(len(numbers), first() is not None) for _ in let_go([owner, None])]

    assert not vars(owner)
    assert [size for size, _ in left][:3] == [15_904, 11_808, 7_712]
    assert left[-1][1] is False
    assert len(left) > 6
