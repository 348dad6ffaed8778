"""The numbers of the subscriptions that match a document in, their ids out when somebody asks for them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import overload

import numpy as np
from numpy.typing import NDArray

from weft.broker.subscription_ids import SubscriptionIds
from weft.columns.integers import Ints
from weft.columns.kept import kept_property


class Ids(Sequence[str]):
    """The ids of the subscriptions that match one document, in the order in which they were made.

    It is a sequence that compares like a list. Strings and their order are made when they are first asked for:
    `len` and `numbers` cost nothing of that.
    """

    __slots__ = ("__dict__", "_found", "_names")
    __hash__ = None  # type: ignore[assignment]  # it equals lists

    def __init__(self, found: Ints, names: SubscriptionIds | NDArray[np.object_]) -> None:
        """`found` are the numbers, each once, in any order; `names` the ids by number."""
        self._found, self._names = found, names

    @kept_property
    def numbers(self) -> Ints:
        """The numbers of the subscriptions, in the order in which they were made; a broker gives them one by one."""
        if (self._found[1:] < self._found[:-1]).any():
            return np.sort(self._found)
        return self._found

    def tolist(self) -> list[str]:
        """The ids as a list."""
        names: list[str] = self._names[self.numbers].tolist()
        return names

    def __len__(self) -> int:
        return len(self._found)

    def __iter__(self) -> Iterator[str]:
        return iter(self.tolist())

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> list[str]: ...
    def __getitem__(self, at: int | slice) -> str | list[str]:
        if isinstance(at, slice):
            names: list[str] = self._names[self.numbers[at]].tolist()
            return names
        return str(self._names[self.numbers[at : at + 1 or None]][0])

    def __contains__(self, id: object) -> bool:
        return bool((self._names[self._found] == id).any())

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Ids | list | tuple):
            return len(self) == len(other) and self.tolist() == list(other)
        return NotImplemented

    def __repr__(self) -> str:
        return repr(self.tolist())
