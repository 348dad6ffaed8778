"""How much is kept of what documents bring."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Bounds:
    """How many bytes may be kept of what documents bring: label paths with all that is known of them.

    These are the states and results that each reaches, the classes of results, what is to be done at each, names, and
    where deep edges were found to begin. A batch may take more; what it brought beyond is forgotten before the next.
    Batches that are matched at the same time have each so much, and so have an index and the one that is made in its
    place.
    """

    memory: int = 256 << 20

    def share(self, parts: int, of: int = 16) -> Bounds:
        """For one of several that are to have so much together."""
        return Bounds(self.memory * parts // of)

    @property
    def states(self) -> int:
        """Of that for states that label paths lead on from: they are found again where they are needed."""
        return self.memory // 8

    @property
    def begins(self) -> int:
        """Of that for where deep edges were found to begin, likewise."""
        return self.memory // 8

    @property
    def kept(self) -> int:
        """Of that for all else."""
        return self.memory - self.states - self.begins


class Beside(Protocol):
    """What else is kept for label paths."""

    def memory(self) -> int:
        """How many bytes."""

    def cut(self, mark: int) -> None:
        """Forget what is kept for label paths from one on."""
